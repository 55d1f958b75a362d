"""Writes `frontend-lang/std/torch/special/coefficients.ng`: the series that torch.special adds up. Needs `mpmath`.

Each is the Chebyshev series of a function on an interval, computed from its values at Chebyshev's points with 60 digits
(Clenshaw, Chebyshev Series for Mathematical Functions, 1962) and cut where a term no longer counts in float64.
"""

import pathlib
from fractions import Fraction

from mpmath import mp, mpf

mp.dps = 60
FILE = pathlib.Path(__file__).parents[2] / "frontend-lang/std/torch/special/coefficients.ng"
POINTS = 80
HEAD = '''"""Coefficients of series, written by tests/expected/generate_special_series.py; those of Chebyshev series are for t in -1 .. 1."""
'''


def chebyshev(function):
    """Coefficients of a function of t in -1 .. 1, the constant first."""
    angles = [mp.pi * (at + mpf(1) / 2) / POINTS for at in range(POINTS)]
    values = [function(mp.cos(angle)) for angle in angles]
    found = [2 * mp.fsum(v * mp.cos(k * a) for v, a in zip(values, angles)) / POINTS for k in range(60)]
    found[0] /= 2
    size = max(abs(it) for it in found)
    kept = max(at for at, it in enumerate(found) if abs(it) > size * mpf(2) ** -57)
    assert kept < 55, kept
    return found[: kept + 1]


def phases(first, second, angle):
    """P and Q of `P cos(angle) - Q sin(angle) = first` and `P sin(angle) + Q cos(angle) = second`."""
    c, s = mp.cos(angle), mp.sin(angle)
    return first * c + second * s, second * c - first * s


def waves(order, part, t):
    """P and x Q / 5 of the Bessel functions from 5 on, where t = 50 / x**2 - 1 (Hankel's expansion)."""
    x = mp.sqrt(50 / (t + 1))
    scale = mp.sqrt(mp.pi * x / 2)
    p, q = phases(scale * mp.besselj(order, x), scale * mp.bessely(order, x), x - (2 * order + 1) * mp.pi / 4)
    return q * x / 5 if part else p


def airy_waves(part, t):
    """P and z Q / 7 of Ai(-x) from x = 4.8 on, where t = 98 / z**2 - 1 and z = 2/3 x**1.5."""
    z = 7 / mp.sqrt((t + 1) / 2)
    x = (z * 3 / 2) ** (mpf(2) / 3)
    scale = mp.sqrt(mp.pi) * x ** mpf("0.25")
    p, q = phases(scale * mp.airybi(-x), scale * mp.airyai(-x), z + mp.pi / 4)
    return q * z / 7 if part else p


def zeros(order):
    return [mp.besseljzero(order, at) ** 2 for at in (1, 2)]


def j_low(order, t):
    """J0 or J1 / x up to 5 without its two zeros, where t = 2 x**2 / 25 - 1."""
    y = (t + 1) * mpf(25) / 2
    x = mp.sqrt(y)
    first, second = zeros(order)
    return mp.besselj(order, x) / (x if order else 1) / ((y - first) * (y - second))


def y_low(order, t):
    """Y0 or Y1 / x up to 5 without its part with a logarithm (and, of Y1, with 1/x)."""
    x = mp.sqrt((t + 1) * mpf(25) / 2)
    rest = mp.bessely(order, x) - 2 / mp.pi * mp.log(x) * mp.besselj(order, x)
    return (rest + 2 / (mp.pi * x)) / x if order else rest


def k_low(order, t):
    """K0 and x K1 up to 2 without their parts with a logarithm, where t = x**2 / 2 - 1."""
    x = mp.sqrt(2 * (t + 1))
    rest = mp.besselk(order, x) - (-1) ** (order + 1) * mp.log(x / 2) * mp.besseli(order, x)
    return rest * x if order else rest


def k_high(order, t):
    x = 4 / (t + 1)
    return mp.exp(x) * mp.besselk(order, x) * mp.sqrt(x)


def erfcx(t):
    """(1 + 2 x) exp(x**2) erfc(x), where t = (x - 3.75) / (x + 3.75) (Shepherd and Laframboise, 1981)."""
    x = mpf("3.75") * (1 + t) / (1 - t)
    return (1 + 2 * x) * mp.exp(x * x) * mp.erfc(x)


def airy_high(t):
    """2 sqrt(pi) x**0.25 exp(z) Ai(x) from z = 2 on, where t = 4 / z - 1."""
    z = 4 / (t + 1)
    x = (z * 3 / 2) ** (mpf(2) / 3)
    return 2 * mp.sqrt(mp.pi) * x ** mpf("0.25") * mp.exp(z) * mp.airyai(x)


def temme(count):
    """Coefficients of `eta / mu` in powers of eta, where `eta**2 / 2 = mu - log(1 + mu)` (Gil, Segura and Temme, 2012)."""
    # mu = sum a[n] eta**n and mu mu' = eta (1 + mu).
    a = [Fraction(0), Fraction(1)]
    for n in range(2, count + 2):
        known = sum(a[k] * (n + 1 - k) * a[n + 1 - k] for k in range(2, n))
        a.append((a[n - 1] - known) / (n + 1))
    # The inverse of sum a[n + 1] eta**n.
    inverse = [Fraction(1)]
    for n in range(1, count):
        inverse.append(-sum(a[k + 1] * inverse[n - k] for k in range(1, n + 1)))
    return [mpf(it.numerator) / it.denominator for it in inverse]


TABLES = {
    "K0_LOW": ("K0(x) + log(x / 2) I0(x), t = x**2 / 2 - 1", lambda: chebyshev(lambda t: k_low(0, t))),
    "K0_HIGH": ("exp(x) K0(x) sqrt(x), t = 4 / x - 1", lambda: chebyshev(lambda t: k_high(0, t))),
    "K1_LOW": ("x (K1(x) - log(x / 2) I1(x)), t = x**2 / 2 - 1", lambda: chebyshev(lambda t: k_low(1, t))),
    "K1_HIGH": ("exp(x) K1(x) sqrt(x), t = 4 / x - 1", lambda: chebyshev(lambda t: k_high(1, t))),
    "J0_ZEROS": ("squares of the first zeros of J0", lambda: zeros(0)),
    "J0_LOW": ("J0(x) / ((x**2 - zero) (x**2 - zero)), t = 2 x**2 / 25 - 1", lambda: chebyshev(lambda t: j_low(0, t))),
    "J1_ZEROS": ("squares of the first zeros of J1", lambda: zeros(1)),
    "J1_LOW": ("J1(x) / x / ((x**2 - zero) (x**2 - zero)), t = 2 x**2 / 25 - 1", lambda: chebyshev(lambda t: j_low(1, t))),
    "Y0_LOW": ("Y0(x) - 2 / pi log(x) J0(x), t = 2 x**2 / 25 - 1", lambda: chebyshev(lambda t: y_low(0, t))),
    "Y1_LOW": ("(Y1(x) - 2 / pi (log(x) J1(x) - 1 / x)) / x, t = 2 x**2 / 25 - 1", lambda: chebyshev(lambda t: y_low(1, t))),
    "P0": ("the part of J0(x) sqrt(pi x / 2) with cos(x - pi / 4), t = 50 / x**2 - 1", lambda: chebyshev(lambda t: waves(0, 0, t))),
    "Q0": ("minus that with sin(x - pi / 4), by x / 5", lambda: chebyshev(lambda t: waves(0, 1, t))),
    "P1": ("the part of J1(x) sqrt(pi x / 2) with cos(x - 3 pi / 4)", lambda: chebyshev(lambda t: waves(1, 0, t))),
    "Q1": ("minus that with sin(x - 3 pi / 4), by x / 5", lambda: chebyshev(lambda t: waves(1, 1, t))),
    "AIRY_MIDDLE": ("Ai(3.45 t - 1.35)", lambda: chebyshev(lambda t: mp.airyai(mpf("3.45") * t - mpf("1.35")))),
    "AIRY_HIGH": ("2 sqrt(pi) x**0.25 exp(z) Ai(x), z = 2 / 3 x**1.5, t = 4 / z - 1", lambda: chebyshev(airy_high)),
    "AIRY_P": ("the part of Ai(-x) sqrt(pi) x**0.25 with sin(z + pi / 4), t = 98 / z**2 - 1", lambda: chebyshev(lambda t: airy_waves(0, t))),
    "AIRY_Q": ("that with cos(z + pi / 4), by z / 7", lambda: chebyshev(lambda t: airy_waves(1, t))),
    "ERFCX": ("(1 + 2 x) exp(x**2) erfc(x), t = (x - 3.75) / (x + 3.75)", lambda: chebyshev(erfcx)),
    "LGAM1P": ("log(gamma(1 + a)) / a, t = a - 1", lambda: chebyshev(lambda t: mp.loggamma(2 + t) / (1 + t))),
    "TEMME": ("eta / mu in powers of eta, where eta**2 / 2 = mu - log(1 + mu)", lambda: temme(26)),
}


def main():
    parts = [HEAD]
    for name, (meaning, table) in TABLES.items():
        numbers = [float(it) for it in table()]
        print(name, len(numbers))
        lines = ["    " + ", ".join(map(repr, numbers[at : at + 5])) + ",\n" for at in range(0, len(numbers), 5)]
        parts.append(f"# {meaning}.\n{name} = (\n" + "".join(lines) + ")\n")
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_text("\n".join(parts))


main()

"""Writes `engine/src/math/series.rs`: the polynomials of functions that the engine computes by vector code. Needs `mpmath`.

Each is the Chebyshev series of a function on an interval, computed from its values at Chebyshev's points with 60 digits
(Clenshaw, Chebyshev Series for Mathematical Functions, 1962), cut, and written in powers of t, which is in -1 .. 1.
"""

import pathlib
import struct

from mpmath import mp, mpf

mp.dps = 60
FILE = pathlib.Path(__file__).parents[2] / "engine/src/math/series.rs"
POINTS = 80
HEAD = """//! Polynomials of functions, the highest power first, written by `tests/expected/generate_function_series.py`; t is in -1 .. 1.
#![expect(clippy::approx_constant, reason = "it is a coefficient")]
"""
TURN = mpf("0.82") ** 2
ROOT = mp.findroot(mp.digamma, mpf("1.4616321449683623"))


def chebyshev(function):
    """Coefficients of a function of t in -1 .. 1, the constant first."""
    angles = [mp.pi * (at + mpf(1) / 2) / POINTS for at in range(POINTS)]
    values = [function(mp.cos(angle)) for angle in angles]
    found = [2 * mp.fsum(v * mp.cos(k * a) for v, a in zip(values, angles)) / POINTS for k in range(60)]
    found[0] /= 2
    return found


def powers(series):
    """The same polynomial in powers of t, the highest first."""
    before, here = [mpf(1)], [mpf(0), mpf(1)]
    total = [mpf(0)] * len(series)
    for at, factor in enumerate(series):
        polynomial = before if at == 0 else here
        if at > 1:
            before, here = here, [2 * up - down for up, down in zip([0, *here], [*before, 0, 0])]
            polynomial = here
        for power, coefficient in enumerate(polynomial):
            total[power] += factor * coefficient
    return total[::-1]


def fitted(function, kept=None):
    """So many terms, or those that count in float64."""
    series = chebyshev(function)
    size = max(abs(it) for it in series)
    if kept is None:
        kept = 1 + max(at for at, it in enumerate(series) if abs(it) > size * mpf(2) ** -55)
    assert kept < 55, kept
    return powers(series[:kept])


def direct(function, low, high, kept):
    """So many terms on an interval, in powers of the argument itself."""
    middle, half = (low + high) / mpf(2), (high - low) / mpf(2)
    total = [mpf(0)]
    for coefficient in fitted(lambda t: function(middle + half * t), kept):
        # Horner's scheme with t = (x - middle) / half.
        shifted = [(up - middle * it) / half for up, it in zip([0, *total], [*total, 0])]
        shifted[0] += coefficient
        total = shifted
    return total[kept - 1 :: -1]


def taylor(first, count):
    """Coefficients of sin(pi x) / x or cos(pi x) in powers of x**2, the highest first."""
    return [(-1) ** k * mp.pi ** (2 * k + first) / mp.factorial(2 * k + first) for k in range(count)][::-1]


def near(low, high, function):
    return fitted(lambda t: function((low + high) / mpf(2) + (high - low) / mpf(2) * t))


def far(function):
    """From 4 on, where t = 32 / x**2 - 1; what is asked for at infinity is asked for far out."""
    return fitted(lambda t: function(mp.sqrt(32 / (t + 1))))


def stirling(x):
    return (mp.loggamma(x) - (x - mpf(1) / 2) * mp.log(x) + x - mp.log(2 * mp.pi) / 2) * x


def erfc(t):
    """The exponent of erfc of float32: log(erfc(x) / s) + x**2, where s = 2 / (2 + x) = 0.58 + 0.42 t."""
    s = mpf("0.58") + mpf("0.42") * t
    x = 2 / s - 2
    return mp.log(mp.erfc(x) / s) + x * x


def power(x):
    return (mpf(2) ** x - 1) / x


def scaled(order, x):
    return mp.exp(-x) * mp.besseli(order, x)


TABLES = {
    "LGAMMA_NEAR": ("lgamma(x) / (x - 2), t = (x - 2.75) / 1.25", lambda: near(1.5, 4, lambda x: mp.loggamma(x) / (x - 2))),
    "LGAMMA_FAR": ("x times what lgamma(x) is beyond (x - 1/2) log(x) - x + log(2 pi) / 2, t = 32 / x^2 - 1", lambda: far(stirling)),
    "DIGAMMA_NEAR": ("digamma(x) / (x - root), t = (x - 2.5) / 1.5", lambda: near(1, 4, lambda x: mp.digamma(x) / (x - ROOT))),
    "DIGAMMA_FAR": ("x^2 (log(x) - 1 / (2 x) - digamma(x)), t = 32 / x^2 - 1", lambda: far(lambda x: (mp.log(x) - 1 / (2 * x) - mp.digamma(x)) * x * x)),
    "DIGAMMA_ROOT": ("the root of digamma, in two parts", lambda: [mpf(float(ROOT)), ROOT - mpf(float(ROOT))]),
    "TRIGAMMA_NEAR": ("trigamma(x), t = (x - 2.5) / 1.5", lambda: near(1, 4, lambda x: mp.psi(1, x))),
    "TRIGAMMA_FAR": ("x^3 (trigamma(x) - 1 / x - 1 / (2 x^2)), t = 32 / x^2 - 1", lambda: far(lambda x: (mp.psi(1, x) - 1 / x - 1 / (2 * x * x)) * x**3)),
    "SIN_PI": ("sin(pi x) / x in powers of x^2, up to 1/2", lambda: taylor(1, 12)),
    "COS_PI": ("cos(pi x) in powers of x^2, up to 1/2", lambda: taylor(0, 12)),
    "I0_NEAR": ("exp(-x) I0(x), t = x / 4 - 1", lambda: near(0, 8, lambda x: scaled(0, x))),
    "I0_FAR": ("exp(-x) I0(x) sqrt(x), t = 16 / x - 1", lambda: fitted(lambda t: scaled(0, 16 / (t + 1)) * mp.sqrt(16 / (t + 1)))),
    "I1_NEAR": ("exp(-x) I1(x) / x, t = x / 4 - 1", lambda: near(0, 8, lambda x: scaled(1, x) / x)),
    "I1_FAR": ("exp(-x) I1(x) sqrt(x), t = 16 / x - 1", lambda: fitted(lambda t: scaled(1, 16 / (t + 1)) * mp.sqrt(16 / (t + 1)))),
    "ERFC32": ("log(erfc(x) / s) + x^2 for s = 2 / (2 + x) and t = (s - 0.58) / 0.42, for numbers of 32 bits", lambda: fitted(erfc, 14)),
    "EXP2_24": ("(2^x - 1) / x in powers of x, up to 1/2, for numbers of 32 bits", lambda: narrow(direct(power, mpf(-1) / 2, mpf(1) / 2, 6))),
    "EXP2_21": ("2^x in powers of x, up to 1/2, to three bits less", lambda: narrow(direct(lambda x: mpf(2) ** x, mpf(-1) / 2, mpf(1) / 2, 6))),
    "SIN_24": ("(sin(x) - x) / x^3 in powers of x^2, up to 0.82, for numbers of 32 bits", lambda: narrow(direct(lambda z: (mp.sin(mp.sqrt(z)) - mp.sqrt(z)) / mp.sqrt(z) ** 3, 0, TURN, 3))),
    "COS_24": ("(cos(x) - 1 + x^2 / 2) / x^4 in powers of x^2, up to 0.82, for numbers of 32 bits", lambda: narrow(direct(lambda z: (mp.cos(mp.sqrt(z)) - 1 + z / 2) / z**2, 0, TURN, 3))),
    "EXP": ("exp(x) in powers of x, up to log(2) / 2", lambda: [1 / mp.factorial(k) for k in range(14)][::-1]),
}


class Narrow(float):
    """A number of 32 bits."""


def narrow(numbers):
    return [Narrow(it) for it in numbers]


def shortest(number):
    """As few digits as name the nearest number of 32 bits."""
    bits = struct.pack("f", number)
    (number,) = struct.unpack("f", bits)
    texts = (f"{number:.{count}g}" for count in range(1, 10))
    return next(it for it in texts if struct.pack("f", float(it)) == bits)


def digits(number):
    """As Rust writes it, with its digits in groups of three."""
    text = shortest(number) if isinstance(number, Narrow) else repr(float(number))
    mantissa, _, exponent = text.partition("e")
    whole, _, fraction = mantissa.partition(".")
    fraction = "_".join(fraction[at : at + 3] for at in range(0, len(fraction), 3)) or "0"
    sign, whole = whole[: whole.startswith("-")], whole.lstrip("-")
    groups = [whole[max(0, at - 3) : at] for at in range(len(whole), 0, -3)][::-1]
    return f"{sign}{'_'.join(groups)}.{fraction}" + (f"e{int(exponent)}" if exponent else "")


def main():
    parts = [HEAD]
    for name, (meaning, table) in TABLES.items():
        numbers = table()
        lines = "".join(f"    {digits(it)},\n" for it in numbers)
        array = f"[\n{lines}]" if len(numbers) > 2 else f"[{', '.join(map(digits, numbers))}]"
        dtype = "f32" if isinstance(numbers[0], Narrow) else "f64"
        parts.append(f"/// {meaning[0].upper()}{meaning[1:]}.\npub(super) const {name}: [{dtype}; {len(numbers)}] = {array};\n")
        print(name, len(numbers))
    FILE.write_text("\n".join(parts))


if __name__ == "__main__":
    main()

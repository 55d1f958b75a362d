import cmath, math, random
from cmath import inf, nan

def t(f, *a, **k):
    try: return repr(f(*a, **k))
    except Exception as e: return f"{type(e).__name__}: {e}"

names = "acos acosh asin asinh atan atanh cos cosh exp log log10 sin sinh sqrt tan tanh phase polar isnan isinf isfinite".split()
# Ends of the line, cuts, signs of zeros.
ends = [-inf, -1.5, -1.0, -0.0, 0.0, 1.0, 1.5, inf, nan]
for name in names:
    for x in ends:
        print(name, x, *[t(getattr(cmath, name), complex(x, y)) for y in ends])
for r in ends:
    print("rect", r, *[t(cmath.rect, r, phi) for phi in ends])
# What is large, small, or near where a function has no value.
odd = [1e-310, 1e-160, 1e-17, 0.7, 1 + 1e-12, 709.5, 1e155, 1.7e308]
for name in names[:-5]:
    for x in odd:
        print(name, x, *[t(getattr(cmath, name), complex(x, -y)) for y in odd], t(getattr(cmath, name), complex(-x, 0)))
random.seed(3)
for _ in range(20):
    z = complex(random.uniform(-3, 3), random.uniform(-3, 3))
    print(z, *[t(getattr(cmath, name), z) for name in names], t(cmath.rect, z.real, z.imag), t(cmath.log, z, 3 - 1j))
for a in [(2, 1), (8, 2), (8, 0), (0, 2), (-1, -1), (2j, 1j), (nan, 2), (2,), (0,)]: print(a, t(cmath.log, *a))
for a in [(1, 1 + 1e-10), (1j, 1.1j), (inf, inf), (inf, complex(inf, 1)), (nan, nan), (1e-12, 0), (1 + 1j, 1 + 1j)]: print(a, t(cmath.isclose, *a), t(cmath.isclose, *a, abs_tol=1e-9), t(cmath.isclose, *a, rel_tol=0.2))
print(t(cmath.isclose, 1, 2, rel_tol=-1), t(cmath.polar, complex(1.7e308, 1.7e308)), cmath.polar(3 + 4j), cmath.rect(2, cmath.pi / 2), cmath.rect(-0.0, 0), cmath.phase(-1), cmath.phase(complex(-1, -0.0)))
print(cmath.pi == math.pi, cmath.e, cmath.tau, cmath.inf, cmath.nan, cmath.infj, cmath.nanj, cmath.exp(1j * cmath.pi), cmath.sqrt(-4), cmath.sqrt(2), cmath.sqrt(True), cmath.sin(1))
class C:
    def __complex__(self): return 1 + 2j
class F:
    def __float__(self): return 0.5
class I:
    def __index__(self): return 3
print(cmath.exp(C()), cmath.exp(F()), cmath.exp(I()), complex(I()), cmath.rect(I(), F()))
for bad in ["a", None, [1], "1j"]: print(t(cmath.exp, bad), t(cmath.rect, bad, 1), t(cmath.rect, 1, 1j), t(cmath.isclose, 1, bad))

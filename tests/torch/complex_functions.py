# Inverse trigonometric and hyperbolic functions of complex numbers, expm1, log1p, logaddexp and running products.
z = torch.tensor([1 + 2j, 0.3 - 0.1j, -0.5j, -3.5 - 1.25j, 0.01 - 0.02j, 5 + 4j])
# On the cuts, from both sides.
cuts = torch.tensor([2 + 0j, complex(2, -0.0), -2 + 0j, complex(-2, -0.0), 2j, complex(-0.0, 2), -2j, complex(-0.0, -2), 0.5 + 0.5j, -0.5j], dtype=torch.complex128)
NAMES = ["expm1", "log1p", "asin", "acos", "atan", "asinh", "acosh", "atanh"]
for name in NAMES:
    f = getattr(torch, name)
    print(name, f(z), f(cuts), getattr(z, name)(), getattr(torch, "arc" + name[1:] if name[0] == "a" else name)(z.cdouble()))
    x = z.clone()
    print(getattr(x, name + "_")() is x, x)
# Near 0, far away and where there is no value.
print(torch.expm1(torch.tensor([1e-10 + 1e-12j, -1e-20j], dtype=torch.complex128)).imag, torch.log1p(torch.tensor([1e-10 + 1e-12j, -0.3 + 0.1j], dtype=torch.complex128)))
far = torch.tensor([1e20 + 1e19j, -3e20j, -1e25 + 1j])
for f in [torch.asin, torch.acos, torch.atan, torch.asinh, torch.acosh, torch.atanh, torch.log1p]:
    print(f(far), f(torch.zeros(2, dtype=torch.complex64)))

w = z.flip(0)
print(torch.logaddexp(z, w), torch.logaddexp(z, z.real * 1j), torch.logaddexp(torch.tensor([1000 + 1j, -1000 + 1j]), torch.tensor([1000 + 0.5j, -1000 + 2j])))
print(torch.logaddexp(torch.tensor([complex(float("-inf"), 0), 1j]), torch.tensor([complex(float("-inf"), 0), complex(float("-inf"), 0)])))

m = torch.arange(12).reshape(3, 4) * (0.5 - 0.25j) + 1j
t = z * (0.9 + 0.1j)
print(t.cdouble().cumprod(0), m.cumprod(0), m.cumprod(1), m.cumprod(-1).dtype, torch.tensor(2j).cumprod(0), torch.zeros(0, dtype=torch.complex64).cumprod(0))
print(torch.tensor([1, 2, 3]).cumprod(0, dtype=torch.complex64), t.cumprod(0, dtype=torch.complex128), t.cumsum(0, dtype=torch.complex128), t.prod(dtype=torch.complex128), torch.cumprod(t[:3], 0))

print(torch.logsumexp(m, 0), torch.logsumexp(m, (0, 1), keepdim=True), z.logsumexp(0), torch.logsumexp(torch.tensor([complex(float("-inf"), 1), complex(float("-inf"), 0)]), 0).real, torch.logsumexp(torch.tensor([1000 + 1j, 1000j]), 0))


# Gradients of first and second order.
def rounded(x):
    numbers = torch.view_as_real(x.resolve_conj()) if x.is_complex() else x
    return x.dtype, x.shape, (numbers * 1e6).round() / 1e6 + 0


# Not on the cuts beyond 1 and -1, where PyTorch's derivative of asin is that of the other side.
a = torch.tensor([1 + 2j, 3 - 1j, -0.5 + 0.25j, 2 + 0.5j, -3 - 0.1j, 0.5 + 0j, 0.001j, 0j], dtype=torch.complex128)
b = torch.tensor([0.5 - 0.25j, -2 + 1j, 1.5 + 0.5j, 1j, -0.75, 2 - 2j, 1.25, 0.5j], dtype=torch.complex128)
FUNCTIONS = [getattr(torch, name) for name in NAMES]
FUNCTIONS += [lambda x: torch.logaddexp(x, b), lambda x: torch.logaddexp(b, x), lambda x: x.cumprod(0), lambda x: x.reshape(2, 4).cumprod(1), lambda x: torch.logsumexp(x.reshape(2, 4), 1), torch.sqrt]
for f in FUNCTIONS:
    at = a if f is not torch.sqrt else a[:-1]
    for loss in [lambda y: (y * (0.5 - 1j)).real.sum(), lambda y: (y * y).abs().sum()]:
        x = at.clone().requires_grad_()
        g = torch.autograd.grad(loss(f(x)), x, create_graph=True)[0]
        print(rounded(g.detach()))
    g = torch.autograd.grad((f(x) * (0.5 - 1j)).real.sum(), x, create_graph=True)[0]
    print(rounded(torch.autograd.grad((g * (1 + 0.5j)).real.sum(), x)[0]))

# What has no order or no complex meaning.
for f in [torch.erf, torch.hypot]:
    try:
        f(z, z) if f is not torch.erf else f(z)
        print("computed")
    except (RuntimeError, TypeError, NotImplementedError):
        print("refused")

# What casts tell: once.
import warnings

with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    print(z.bool(), z.cdouble().dtype, z.real.int(), torch.zeros(0, dtype=torch.complex64).float())
    print(len(told), z.float(), z.int(), z.sum(dtype=torch.float64))
    print([(it.category.__name__, str(it.message).split(" (")[0]) for it in told])

# Drawing more than there are weights: what has none comes last, in an order that is nobody's business.
for weights, count, n_positive in [([1.0, 0.0], 2, 2), ([0.0, 0.0, 1.0, 0.0], 4, 1), ([0.0, 2.0, 0.0], 2, 1), ([[0.0, 1.0], [1.0, 0.0]], 2, 2)]:
    drawn = torch.multinomial(torch.tensor(weights), count)
    print(drawn[..., :n_positive], len(set(drawn.flatten().tolist())), drawn.shape)
for weights, count, again in [([0.0, 0.0], 1, False), ([1.0, -1.0], 1, False), ([1.0, 2.0], 3, False), ([1.0, 2.0], 0, True), ([1.0, float("inf")], 1, False), ([float("nan"), 1.0], 1, False), ([0.0, 0.0], 2, True)]:
    try:
        torch.multinomial(torch.tensor(weights), count, again)
        print("drawn")
    except (RuntimeError, ValueError):
        print("refused")

# Where numbers are 0, or infinite. Zeros have no sign here.
inf = float("inf")
ends = torch.tensor([0j, 1 + 0j, -1 + 0j, complex(inf, 0), complex(-inf, 0), complex(inf, 1), complex(1, -2)], dtype=torch.complex128)
for f in [torch.log2, torch.log10, torch.exp, torch.exp2, torch.sin, torch.sinh, torch.sqrt, torch.reciprocal, torch.rsqrt, lambda x: torch.ones_like(x) / x, lambda x: torch.full_like(x, 2 - 1j) / x]:
    print(torch.view_as_real(f(ends)) + 0)
high = torch.tensor([complex(0, inf), complex(2, -inf), complex(-1, inf)], dtype=torch.complex128)
print(torch.view_as_real(torch.sqrt(high)), torch.view_as_real(torch.log10(high)), torch.view_as_real(torch.reciprocal(high)) + 0)
both = torch.tensor([complex(-inf, inf), complex(inf, inf), complex(-inf, 1)], dtype=torch.complex128)
print(torch.view_as_real(torch.reciprocal(both)) + 0, torch.view_as_real(torch.exp(both)).abs()[2])
for divisor in [0j, complex(inf, 0), complex(0, -inf), 2 - 1j]:
    print(torch.view_as_real(torch.tensor([1 + 2j, 0j, -3 + 0j, 0.5j], dtype=torch.complex128) / divisor) + 0)

# One number of a tensor.
for number in [1 + 2j, 3 + 0j, 2j, 0j]:
    t = torch.tensor(number)
    print(bool(t), complex(t), torch.full_like(t, number * 2), "then" if t else "else")
    for kind in [float, int]:
        try:
            print(kind(t))
        except RuntimeError as error:
            print(str(error).split("\n")[0])

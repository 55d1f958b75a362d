# Complex tensors: what they hold and how they print.
z = torch.tensor([1 + 2j, 3 - 1j, -0.5j])
w = torch.tensor([0.5 - 0.25j, -2 + 1j, 1.5 + 0j])
print(z, z.dtype, z.is_complex(), torch.is_complex(z), z.is_floating_point(), z.element_size(), z.type())
print(torch.tensor(1j), torch.tensor([1.5, 2j]), torch.tensor([[1j, 2], [3, 4 - 4j]]), torch.tensor([1, True, 2j]))
print(torch.tensor([1 + 2j], dtype=torch.complex128), torch.tensor([1.5, 2], dtype=torch.cfloat), torch.tensor(2, dtype=torch.cdouble))
print(torch.zeros(2, dtype=torch.complex64), torch.ones(2, 2, dtype=torch.cfloat), torch.full((2,), 1 - 2j), torch.full((2,), 3, dtype=torch.complex128))
print(torch.tensor([], dtype=torch.complex64), torch.zeros(0, 2, dtype=torch.complex64), torch.empty(2, dtype=torch.complex64).shape)
print(torch.tensor([1.5 + 2j, 1e-5 - 3e6j]), torch.tensor([float("nan") + 1j, complex(float("inf"), -1)]), torch.tensor([complex(0.0, -0.0), -1.25]))
print(torch.arange(6).reshape(2, 3) * (1 + 0.5j), torch.eye(2, dtype=torch.complex64))
print(z.tolist(), z[0].item(), complex(z[1]), [complex(it) for it in z], z.shape, z.numel(), z.nbytes)
print(torch.arange(1200).to(torch.complex64))
print(torch.linspace(0, 1, 12) * 1j)

# Parts.
print(z.real, z.imag, z.conj(), torch.real(z), torch.imag(z), torch.conj(z), z.abs(), z.angle(), torch.real(torch.tensor([1.5])))
print(torch.view_as_real(z), torch.view_as_complex(torch.tensor([[1.0, 2.0], [3.0, 4.0]])), torch.complex(torch.tensor([1.0]), torch.tensor([2.0])))
print(torch.complex(torch.tensor([1.0], dtype=torch.float64), torch.tensor([2.0], dtype=torch.float64)).dtype)
print(torch.polar(torch.tensor([1.0, 2.0]), torch.tensor([0.5, 3.0])), torch.angle(torch.tensor([1.0, -2.0, 0.0])), torch.angle(torch.tensor([1, -2])))
print(torch.sgn(z), torch.sgn(torch.tensor([0j, 3 + 4j])), torch.isreal(torch.tensor([1 + 0j, 1j])), z.mH if z.dim() > 1 else z.reshape(1, 3).mH)
print(z.isnan(), torch.isfinite(torch.tensor([1j, complex(float("inf"), 0)])), torch.isinf(torch.tensor([1j, complex(0, float("inf"))])))
x = z.clone()
x.real[0] = 10
x.imag[1:] = 7
torch.view_as_real(x)[2, 0] = -4
print(x)
pairs = torch.zeros(2, 2)
torch.view_as_complex(pairs)[1] = 5 - 6j
print(pairs)

# Which dtype comes of two.
ALL = [torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float32, torch.float64, torch.complex64, torch.complex128]
for a in ALL:
    for b in [torch.complex64, torch.complex128]:
        print(a, b, torch.promote_types(a, b), (torch.ones(2, dtype=a) + torch.ones((), dtype=b)).dtype, (torch.ones((), dtype=a) * torch.ones(2, dtype=b)).dtype, torch.can_cast(a, b), torch.can_cast(b, a))
for a in ALL:
    print(a, (torch.ones(2, dtype=a) * 1j).dtype, (1j + torch.ones((), dtype=a)).dtype, torch.result_type(torch.ones(2, dtype=a), 1j))

# Arithmetic.
for a, b in [(z, w), (z.to(torch.complex128), w), (z, torch.tensor([2.0, -1.0, 0.5])), (torch.tensor([1, 2, 3]), w), (z, 2), (3.5, w), (z, 1 - 1j), (1j, w)]:
    print(a + b, a - b, a * b, a / b, a == b, a != b)
print(-z, +z, z**2, z**3, z**-1, z**0.5, z**1.5, 2**z, z**w, (1 + 1j) ** z, z**0)
print(z.square(), z.reciprocal(), z.sqrt(), z.rsqrt(), z.neg(), torch.add(z, w, alpha=2), torch.sub(z, w, alpha=1j), torch.addcmul(z, w, w, value=0.5))
for f in [torch.exp, torch.log, torch.log2, torch.log10, torch.sqrt, torch.sin, torch.cos, torch.tan, torch.sinh, torch.cosh, torch.tanh, torch.sigmoid]:
    print(f.__name__, f(z), f(w.to(torch.complex128)))
print(torch.sqrt(torch.tensor([-4 + 0j, complex(-4, -0.0), 0j, -1 + 1e-3j, 1e-3j])), torch.tanh(torch.tensor([50 + 1j, -60 + 2j, 0j])))
big = torch.tensor([3e20 + 4e20j])
print(big.abs(), big / big, torch.tensor([1 + 1j]) / big)
x = z.clone()
x += 1j
x *= 2
x -= w
x /= 1 + 1j
print(x, x.mul_(1j), x.add_(1), x.zero_(), x.fill_(2 - 1j))
print(torch.where(torch.tensor([True, False, True]), z, w), torch.where(z.real > 0, z, 0), z.masked_fill(torch.tensor([True, False, False]), 1j), z.allclose(z + 1e-9), torch.isclose(z, w), torch.equal(z, z.clone()))
print(z.logical_not(), z.bool(), bool(z[0]), torch.tensor([0j, 1j]).bool(), z.eq(1 + 2j), z.ne(w))

# Casts.
print(z.to(torch.complex128), z.cdouble().dtype, torch.tensor([1, 2]).cfloat(), torch.tensor([True, False]).to(torch.complex64), torch.tensor([1.5], dtype=torch.float64).to(torch.cfloat))
print(z.real.to(torch.int64), torch.zeros(2, dtype=complex).dtype, torch.zeros_like(z), torch.ones_like(z.real, dtype=torch.complex64), z.type_as(w.cdouble()).dtype)

# Moving.
m = torch.arange(12).reshape(3, 4) * (1 - 0.5j) + 1j
print(m.T, m[1], m[:, 1], m[1:, ::2], m[m.real > 5], m[[0, 2]], m.reshape(2, 6), m.flip(1), m.permute(1, 0).contiguous(), m.flatten()[::5])
print(torch.cat([z, w]), torch.cat([z, torch.tensor([1.0])]), torch.stack([z, w], 1), z.repeat(2), z.expand(2, 3), z.roll(1), torch.nn.functional.pad(z, (1, 1)), m.diagonal(), m.tril(), m.split(2, 1)[1], z.unsqueeze(0).squeeze(0))
print(m.gather(1, torch.tensor([[0, 3], [1, 1], [2, 0]])), m.index_select(1, torch.tensor([2, 0])), z.index_add(0, torch.tensor([0, 0]), w[:2]), torch.zeros(3, dtype=torch.complex64).scatter_add(0, torch.tensor([2, 2, 0]), z), m.nonzero().shape)
x = m.clone()
x[0] = 1j
x[1, 1:3] = torch.tensor([5 + 5j, 6.0])
x[x.imag < -2] = 0
x[2] *= 2
print(x)

# Sums and products.
print(z.sum(), m.sum(0), m.sum(1, keepdim=True), m.mean(), m.mean(0), z.prod(), m.prod(0), (m / 8).cdouble().prod(), z.cumsum(0), m.cumsum(1), z.sum(dtype=torch.complex128), torch.ones(3).sum(dtype=torch.complex64))
print(z.norm(), torch.linalg.norm(z), torch.linalg.vector_norm(m, dim=1), z.var(), z.std(), m.var(0), z.any(), z.all(), z.count_nonzero(), m.trace() if m.shape[0] == m.shape[1] else m[:, :3].trace())
n = torch.tensor([[1j, 2.0], [0.5 - 1j, -1.0], [3.0, 1 + 1j], [0, -2j]])
v = torch.tensor([1j, 2.0, 1 - 1j, 0.5])
print(m @ n, m @ v, v @ n, torch.dot(v, v), torch.vdot(v, v), torch.mm(m, n), torch.mv(m, v), torch.bmm(m.expand(2, 3, 4), n.expand(2, 4, 2)), torch.outer(z, w), F.linear(v, m), F.linear(v, m, z))
print(torch.addmm(torch.ones(3, 2, dtype=torch.complex64), m, n), torch.einsum("ij,jk->ik", m, n), torch.matmul(m.cdouble(), n.cdouble()), (m.mH @ m).real.diagonal(), m.H.shape, m.adjoint().shape, torch.kron(n, n)[0])

# Gradients: that of a real loss, by the real part plus j times that by the imaginary part.
def rounded(x):
    numbers = torch.view_as_real(x.resolve_conj()) if x.is_complex() else x
    return x.dtype, x.shape, (numbers * 1e6).round() / 1e6 + 0


def gradients(f, *inputs):
    leaves = [it.clone().requires_grad_() for it in inputs]
    f(*leaves).backward()
    for leaf in leaves:
        print(rounded(leaf.grad))


a = torch.tensor([1 + 2j, 3 - 1j, -0.5 + 0.25j], dtype=torch.complex128)
b = torch.tensor([0.5 - 0.25j, -2 + 1j, 1.5 + 0.5j], dtype=torch.complex128)
r = torch.tensor([0.5, -1.5, 2.0], dtype=torch.float64)
for f in [lambda x, y: (x * y).abs().sum(), lambda x, y: (x / y).real.sum(), lambda x, y: (x - y).imag.sum() + (x + 2 * y).abs().pow(2).sum(), lambda x, y: (x**y).real.sum(), lambda x, y: (x @ y).abs(), lambda x, y: torch.outer(x, y.conj()).sum().abs(), lambda x, y: torch.stack([x, y]).prod(0).angle().sum(), lambda x, y: torch.where(x.real > 0, x, y).abs().sum()]:
    gradients(f, a, b)
    gradients(f, a, r.to(torch.complex128))
gradients(lambda x, y: (x * y).abs().sum(), r, b)
gradients(lambda x, y: (x + y * 1j).abs().sum(), r, r.flip(0))
for f in [torch.exp, torch.log, torch.sqrt, torch.sin, torch.cos, torch.tan, torch.sinh, torch.cosh, torch.tanh, torch.sigmoid, torch.square, torch.reciprocal, torch.conj, torch.sgn, lambda x: x**3, lambda x: x.cumsum(0), lambda x: x[[0, 0, 2]], lambda x: x.reshape(3, 1) @ x.reshape(1, 3), lambda x: torch.view_as_complex(torch.view_as_real(x) * 2), lambda x: torch.cat([x, x[:1]]), lambda x: x.flip(0) * x, lambda x: x.mean() * x]:
    gradients(lambda x: (f(x) * (0.5 - 1j)).real.sum(), a)
    gradients(lambda x: f(x).abs().sum(), a)
gradients(lambda x: x.abs().sum(), torch.tensor([0j, 3 + 4j]))
gradients(lambda x, y: torch.polar(x, y).real.sum(), r.abs(), r + 1)
x = a.clone().requires_grad_()
y = (x * x).sum()
y.backward(torch.tensor(1j, dtype=torch.complex128))
print(x.grad, x.is_leaf, y.requires_grad, rounded(torch.autograd.grad((x**2).abs().sum(), x)[0]))
g = torch.autograd.grad((x.abs() ** 3).sum(), x, create_graph=True)[0]
print(rounded(torch.autograd.grad(g.abs().sum(), x)[0]))

# A step downhill on complex parameters.
p = torch.tensor([1 + 1j, -2 + 0.5j], requires_grad=True)
optimizer = torch.optim.SGD([p], lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    loss = (p - torch.tensor([2 - 1j, 0.5j])).abs().pow(2).sum()
    loss.backward()
    optimizer.step()
print(p, loss)

# What is refused.
def refused(f):
    try:
        f()
        print("not refused")
    except (RuntimeError, TypeError, NotImplementedError, ValueError) as error:
        print("refused")


for f in [lambda: z < w, lambda: z >= 1, lambda: z.max(), lambda: z.sort(), lambda: z.argmax(), lambda: z.floor(), lambda: z // 2, lambda: z % 2, lambda: torch.maximum(z, w), lambda: z.clamp(0, 1), lambda: torch.erf(z), lambda: z & 1, lambda: (z * 2).requires_grad_().sum().backward(), lambda: torch.tensor([1.0]).imag, lambda: torch.tensor([1j], dtype=torch.float32), lambda: z.topk(1), lambda: z.median(), lambda: torch.full((2,), 1j, dtype=torch.float32), lambda: F.gelu(z), lambda: torch.atan2(z, w), lambda: z.cummax(0)]:
    refused(f)
x = torch.zeros(2)
refused(lambda: x.add_(1j))
refused(lambda: x.mul_(torch.tensor([1j, 1j])))
try:
    z.clone().requires_grad_().sum().backward()
except RuntimeError as error:
    print(str(error)[:80])

# Random numbers.
torch.manual_seed(3)
print(torch.randn(3, dtype=torch.complex64), torch.randn(2, 2, dtype=torch.complex128), torch.rand(2, dtype=torch.complex64), torch.randn_like(z))

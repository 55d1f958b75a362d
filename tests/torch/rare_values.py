"""Values at the edges: NaN, infinite norms, ties, targets and dtypes that few programs have."""

T = torch.tensor
inf, nan = math.inf, math.nan
pairs = values(3, 4), values(3, 4, seed=2)
for target in (T([0.0, 1.0, -1.0]), T([0, 2, -1])):
    show("cosine_embedding_loss", F.cosine_embedding_loss(*pairs, target, reduction="none"))
show("heaviside", torch.heaviside(T([nan, -0.0, 1.0, -2.0, inf]), T([0.5, 2.0, 3.0, 4.0, 5.0])))
show("heaviside of whole numbers", torch.heaviside(T([-1, 0, 2]), T([7])))

signal = values(2, 2, 6)
for p in (inf, -inf):
    graded(f"lp_pool1d {p}", lambda x: F.lp_pool1d(x, p, 2), signal)
    graded(f"lp_pool1d {p}, steps", lambda x: F.lp_pool1d(x, p, 3, 2, True), signal)
    graded(f"lp_pool2d {p}", lambda x: F.lp_pool2d(x, p, (2, 3), 1), values(1, 2, 4, 5))
    graded(f"lp_pool3d {p}", lambda x: F.lp_pool3d(x, p, 2), values(1, 1, 2, 4, 4))
graded("lp_pool1d of equal ones", lambda x: F.lp_pool1d(x, inf, 2), T([[[3.0, 3.0, 1.0, -1.0]]], dtype=torch.float64))
show("LPPool2d", nn.LPPool2d(inf, 2)(values(1, 1, 4, 4)))

ties = T([[0.0, 0.0, 2.0], [1.0, -1.0, 2.0], [3.0, 3.0, 3.0], [3.0, 3.0, 3.0]], dtype=torch.float64)
graded("pdist inf", lambda x: F.pdist(x, inf), ties)
graded("cdist inf", lambda x, y: torch.cdist(x, y, inf), ties, ties[:2] + 1)
graded("cdist inf, batch", lambda x, y: torch.cdist(x, y, inf), values(2, 3, 2), values(2, 2, 2, seed=3))

small = T([[1e-9, 2e-9], [3.0, 4.0], [0.0, 0.0]], dtype=torch.float64)
graded("cosine_similarity, clamped", lambda x, y: F.cosine_similarity(x, y), small, values(3, 2))
graded("cosine_similarity, eps", lambda x, y: F.cosine_similarity(x, y, 0, 2.0), values(3, 2), values(3, 2, seed=4))

for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.int32):
    one = T([1, 3], dtype=dtype)
    show("ldexp", [torch.ldexp(one, T([1, -3])), torch.ldexp(one, T(4)), torch.ldexp(one, T([1.0])), torch.ldexp(one[0], T([20]))])
show("ldexp from small to large", torch.ldexp(T([2.0**-14], dtype=torch.float16), T([20])))

yes = T([True, False])
square = torch.zeros(2, 2, dtype=torch.bool)
show("addr of bools", [torch.addr(square, yes, yes)])

cube = torch.arange(27).reshape(1, 1, 3, 3, 3) - 13
for ceil in (False, True):
    for counts in (False, True):
        show("avg_pool3d of whole numbers", F.avg_pool3d(cube, 2, 2, 1, ceil, counts))
        show("avg_pool3d of whole numbers, steps", F.avg_pool3d(cube[0], (2, 3, 1), (1, 2, 1), (1, 1, 0), ceil, counts))
show("avg_pool3d of whole numbers, by a number", F.avg_pool3d(cube, 2, divisor_override=3))

for uplo in "LU":
    A = T([[2.0, 1.0 + 1j], [5.0, 3.0]], dtype=torch.complex128).requires_grad_()
    found = torch.linalg.eigvalsh(A, UPLO=uplo)
    (found * T([1.0, 2.0])).sum().backward()
    show("eigvalsh of complex", [found, torch.view_as_real(A.grad)])

zero = T([0j, 0j + 1, complex(inf, 1), 3 - 4j])
for number in (1, 2.5, 1j):
    show(f"{number} / complex", torch.view_as_real(number / zero))
show("complex / complex", torch.view_as_real(T([1 + 0j, 1j]) / T([0j, 0j])))
w = T([1 + 2j, -3j], dtype=torch.complex128).requires_grad_()
(2 / w).abs().sum().backward()
show("gradient of number / complex", torch.view_as_real(w.grad))

for count in (1, 3, 7, 8, 16, 20):
    for dtype in (torch.complex64, torch.complex128):
        torch.manual_seed(7)
        print("randn of complex", torch.view_as_real(torch.randn(count, dtype=dtype)).flatten().tolist()[:6])
        print("randn_like of complex", torch.view_as_real(torch.randn_like(torch.ones(count, dtype=dtype))).flatten().tolist()[-3:], torch.rand(1).item())

meta = torch.zeros(2).type_as(torch.zeros(1, device="meta", dtype=torch.int8))
print("type_as", meta.device, meta.dtype, meta.shape)

for base in (T([True, False]), T(True)):
    show("bool ** bool", [base**True, base**False, torch.pow(base, True), base**2, base**1.5])
x = T([True, False])
show("bool ** bool in place", x.pow_(False))
refused("bool ** bools", lambda: T([True]) ** T([True]))
refused("True ** bools", lambda: True ** T([True]))

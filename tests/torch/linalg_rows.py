"""Rows of factors as torch.linalg shows them: batches, shapes, empty and singular matrices, eigenvalues that are not real, gradients to the second order."""

L = torch.linalg
eye = lambda n: torch.eye(n, dtype=torch.float64)
a, b = values(4, 4) + 2 * eye(4), values(2, 3, 3) + 2 * eye(3)
wide, tall = values(3, 5), values(2, 5, 3)
spd = lambda m: m @ m.mT + eye(m.shape[-1])

for name, x in (("square", a), ("batch", b), ("wide", wide), ("tall", tall)):
    graded(f"lu {name}", lambda x: tuple(L.lu(x)), x)
    graded(f"lu_factor {name}", lambda x: L.lu_factor(x)[0], x)
    show(f"pivots {name}", L.lu_factor(x).pivots)
    show(f"info {name}", L.lu_factor_ex(x).info)
    show(f"unpacked {name}", tuple(torch.lu_unpack(*L.lu_factor(x))))
    graded(f"svdvals {name}", L.svdvals, x)
    graded(f"qr {name}", lambda x: L.qr(x).R, x)
    graded(f"pinv {name}", L.pinv, x)
    graded(f"lstsq {name}", lambda x: L.lstsq(x, values(*x.shape[:-1], 2)).solution, x)
    show(f"rank {name}", L.matrix_rank(x))
for adjoint in (False, True):
    for left in (True, False):
        sides = values(2, 3, 2) if left else values(2, 2, 3)
        graded(f"lu_solve {adjoint} {left}", lambda x, y: L.lu_solve(*L.lu_factor(x), y, left=left, adjoint=adjoint), b, sides)
graded("torch.lu_solve", lambda x, y: torch.lu_solve(y, *L.lu_factor(x)), a, values(4, 2))
graded("lu_solve of many", lambda x, y: L.lu_solve(*L.lu_factor(x), y), a, values(3, 4, 2))
for upper in (False, True):
    for left in (True, False):
        for unit in (False, True):
            sides = values(2, 3, 2) if left else values(2, 2, 3)
            graded(f"triangle {upper} {left} {unit}", lambda x, y: L.solve_triangular(x, y, upper=upper, left=left, unitriangular=unit), b, sides)
graded("triangle of many", lambda x, y: L.solve_triangular(x, y, upper=True), a, values(2, 1, 4, 2))
graded("cholesky_inverse", lambda x: torch.cholesky_inverse(L.cholesky(spd(x))), b)
graded("cholesky_inverse upper", lambda x: torch.cholesky_inverse(L.cholesky(spd(x), upper=True), upper=True), b)
show("upper triangle", L.cholesky(torch.triu(spd(a)) + 9 * torch.ones(4, 4, dtype=torch.float64).tril(-1), upper=True))
show("lower triangle", L.cholesky(torch.tril(spd(a)) + 9 * torch.ones(4, 4, dtype=torch.float64).triu(1)))
show("not definite", L.cholesky_ex(torch.stack([eye(3), eye(3) - 2 * torch.diag(torch.tensor([0.0, 1.0, 0.0]).double())])).info)
graded("solve_ex", lambda x, y: L.solve_ex(x, y).result, b, values(2, 3))
show("solve_ex info", L.solve_ex(torch.stack([eye(2), torch.zeros(2, 2).double()]), torch.ones(2, 2, 1).double()).info)
graded("eigvalsh", L.eigvalsh, spd(b))
graded("eigh", lambda x: L.eigh(x).eigenvectors.abs(), spd(b))
graded("eigh upper", lambda x: (L.eigvalsh(x, "U"), L.eigh(x, UPLO="U").eigenvectors.abs()), spd(b))
graded("det of a singular one", lambda x: L.det(x).detach(), torch.ones(3, 3, dtype=torch.float64))

# Eigenvalues in an order of their own.
turning = torch.tensor([[0.0, -2.0, 0.5], [2.0, 0.5, 0.0], [0.0, 1.0, 3.0]], dtype=torch.float64)
def ordered(x):
    found = L.eigvals(x)
    return [torch.sort(found.real).values, torch.sort(found.imag).values]
graded("eigvals", ordered, turning)
graded("eigvals of a batch", ordered, b)
show("eig", ordered(turning) + [L.eig(turning).eigenvalues.dtype == torch.complex128])
def whole(x):
    values, vectors = L.eig(x)
    return [(x.to(vectors.dtype) @ vectors - vectors * values.unsqueeze(-2)).abs() < 1e-12, (vectors.abs() ** 2).sum(-2)]
show("eig of each", whole(turning) + whole(b))
graded("length of eigenvectors", lambda x: (L.eig(x).eigenvectors.abs() ** 2 * torch.arange(1.0, 4.0).double()).sum(), turning)
graded("norm of an eigenvalue", lambda x: L.eigvals(x).abs().amax(), turning)

# Of no elements.
for shape in [(0, 0), (0, 3), (3, 0), (2, 0, 0), (0, 3, 3), (2, 0, 3)]:
    x = torch.zeros(*shape, dtype=torch.float64)
    for full in (True, False):
        show(f"svd {shape} {full}", tuple(L.svd(x, full)))
    show(f"qr {shape}", tuple(L.qr(x)) + tuple(L.qr(x, "complete")))
    show(f"lu {shape}", tuple(L.lu(x)))
    show(f"pinv {shape}", [L.pinv(x), L.svdvals(x), L.matrix_rank(x)])
    if shape[-1] == shape[-2]:
        show(f"eigh {shape}", tuple(L.eigh(x)))
        show(f"others {shape}", [L.det(x), L.inv(x), L.cholesky(x), L.eigvalsh(x), L.solve(x, x)] + list(L.slogdet(x)))
        show(f"eigvals {shape}", list(L.eigvals(x).shape))

# Sizes at which blocks are taken apart, in single precision.
for size in (1, 2, 17, 65, 130):
    x = (values(size, size) + size * eye(size)).float()
    near = lambda x, y: bool((x - y).abs().max() <= 1e-4 * (1 + y.abs().max()))
    U, S, Vh = L.svd(x)
    Q, R = L.qr(x)
    P, lower, upper = L.lu(x)
    both = x + x.mT
    found, V = L.eigh(both)
    print(size, near(U * S @ Vh, x), near(Q @ R, x), near(P @ lower @ upper, x), near(V * found @ V.mT, both), near(L.inv(x) @ x, eye(size).float()),
          near(L.cholesky(x @ x.mT) @ L.cholesky(x @ x.mT).mT, x @ x.mT), near(S, L.svdvals(x)), near(found, L.eigvalsh(both)), x.dtype == S.dtype)

for at, function in enumerate([
    lambda: L.lu_factor(torch.zeros(2, 2)), lambda: L.lu(torch.zeros(3)), lambda: L.lu_factor(eye(2).long()), lambda: L.solve(torch.zeros(2, 2, 2), torch.zeros(2, 2, 1)),
    lambda: L.solve_triangular(eye(2), torch.zeros(3, 1).double(), upper=True), lambda: L.eig(torch.zeros(2, 3)),
    lambda: L.eig(torch.full((2, 2), math.nan)), lambda: L.eigh(eye(2), "X"), lambda: L.svd(torch.full((2, 2), math.nan)), lambda: L.qr(eye(2), "all"),
    lambda: L.lu_factor(eye(2)), lambda: L.lu_factor_ex(torch.zeros(2, 2)), lambda: L.lu(eye(2)), lambda: L.eig(eye(2)), lambda: type(L.solve_ex(eye(2), eye(2))),
    lambda: L.lu_solve(*L.lu_factor(eye(2)), torch.zeros(3, 1).double()), lambda: L.cholesky(torch.full((2, 2), math.nan)),
]):
    attempt(at, function)

# Second derivatives go through the same formulas.
for name, function, x in (
    ("solve", lambda x: L.solve(x, values(4, 2)), a), ("det", L.det, a), ("det of a batch", L.det, b), ("slogdet", lambda x: L.slogdet(x).logabsdet, a), ("lu", lambda x: L.lu_factor(x)[0], a),
    ("lu wide", lambda x: L.lu_factor(x)[0], wide), ("lu tall", lambda x: L.lu_factor(x)[0], tall), ("cholesky", L.cholesky, spd(b)), ("pinv", L.pinv, tall),
    ("lu_solve", lambda x: L.lu_solve(*L.lu_factor(x), values(4, 2), adjoint=True), a), ("triangle", lambda x: L.solve_triangular(x, values(4, 2), upper=True), a),
    ("svdvals", L.svdvals, tall), ("eigvals", lambda x: L.eigvals(x).real.square().sum(), turning), ("qr wide", lambda x: L.qr(x).R, wide), ("svd", lambda x: L.svd(x, False).U.abs(), wide[:, :3].T),
    ("eigh", lambda x: L.eigh(x + x.mT).eigenvectors.abs(), a),
):
    x = x.clone().requires_grad_()
    (first,) = torch.autograd.grad(weigh(function(x)), x, create_graph=True)
    weigh(first).backward()
    show(f"{name}, second derivative", x.grad)

# Pivots that are none.
for pivots in (torch.tensor([5, 9], dtype=torch.int32), torch.tensor([0, 1], dtype=torch.int32), torch.tensor([1, 2])):
    for name, run in [("lu_solve", lambda: torch.linalg.lu_solve(torch.ones(2, 2), pivots, torch.ones(2, 1))), ("lu_unpack", lambda: torch.lu_unpack(torch.ones(2, 2), pivots))]:
        try:
            run()
        except RuntimeError as error:
            print(name, str(error).split("\n")[0].split("inclusive")[0])

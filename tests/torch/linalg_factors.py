"""Factors of matrices, systems, determinants, spectra and what is made of them, with gradients."""

a = values(4,4) + 2*torch.eye(4, dtype=torch.float64)
b = values(2,3,3) + 2*torch.eye(3, dtype=torch.float64)
bb = values(2,2,3,3) + 2*torch.eye(3, dtype=torch.float64)
L = torch.linalg
spd = lambda m: m @ m.mT + torch.eye(m.shape[-1], dtype=torch.float64)
graded("qr", lambda x: tuple(L.qr(x)), values(5,3))
graded("qr wide", lambda x: L.qr(x.detach()).R, values(3,5))
graded("qr wideg", lambda x: L.qr(x).R, values(3,5))
graded("qr complete", lambda x: tuple(L.qr(x.detach(), mode="complete")), values(5,3))
graded("qr batch", lambda x: tuple(L.qr(x)), b)
graded("chol", lambda x: L.cholesky(spd(x)), a)
graded("chol direct", lambda x: L.cholesky(x), spd(a))
graded("chol b", lambda x: L.cholesky(spd(x)), b)
graded("chol upper", lambda x: L.cholesky(spd(x), upper=True), a)
graded("cholesky_ex", lambda x: L.cholesky_ex(spd(x)).L, a)
graded("cholesky_solve", lambda x, y: torch.cholesky_solve(y, L.cholesky(spd(x))), a, values(4,2))
graded("cholesky_inverse", lambda x: torch.cholesky_inverse(L.cholesky(spd(x))), a)
graded("inv", L.inv, a)
graded("inv b", L.inv, b)
graded("inv bb", L.inv, bb)
graded("inverse", torch.inverse, b)
graded("x.inverse", lambda x: x.inverse(), b)
graded("solve", L.solve, a, values(4))
graded("solve2", L.solve, a, values(4,2))
graded("solve b", L.solve, b, values(2,3,2))
graded("solve b vec", L.solve, b, values(2,3))
graded("solve bcast", L.solve, b, values(3,2))
graded("solve bcast2", L.solve, values(3,3)+2*torch.eye(3,dtype=torch.float64), values(2,3,2))
graded("solve left", lambda x,y: L.solve(x,y,left=False), a, values(2,4))
graded("solve_triangular", lambda x,y: L.solve_triangular(x.tril(),y,upper=False), a, values(4,2))
graded("solve_triangularU", lambda x,y: L.solve_triangular(x.triu(),y,upper=True), a, values(4,2))
graded("triangular_solve", lambda x,y: torch.triangular_solve(y, x.triu()).solution, a, values(4,2))
graded("det", L.det, a)
graded("det b", L.det, b)
graded("det bb", torch.det, bb)
graded("x.det", lambda x: x.det(), b)
graded("slogdet", lambda x: tuple(L.slogdet(x)), a)
graded("slogdet b", lambda x: tuple(torch.slogdet(x)), b)
graded("logdet", torch.logdet, spd(a))
graded("logdet m", lambda x: x.logdet(), spd(a))
graded("lstsq", lambda x,y: L.lstsq(x,y).solution, values(5,3), values(5,2))
graded("svdvals", L.svdvals, values(4,3))
graded("svd", lambda x: (lambda r: (r.U @ torch.diag(r.S) @ r.Vh, r.S))(L.svd(x, full_matrices=False)), values(4,3))
graded("svd shapes", lambda x: [list(t.shape) for t in L.svd(x.detach())], values(4,3))
graded("torch.svd", lambda x: torch.svd(x)[1], values(4,3))
graded("eigvalsh", lambda x: L.eigvalsh(x + x.mT), a)
graded("eigh", lambda x: (lambda r: (r.eigenvalues, r.eigenvectors.abs()))(L.eigh(x + x.mT)), a)
graded("eigh b", lambda x: (lambda r: (r.eigenvalues, r.eigenvectors.abs()))(L.eigh(x + x.mT)), b)
graded("pinv", L.pinv, values(4,3))
graded("matrix_rank", lambda x: L.matrix_rank(x.detach()), values(4,3))
graded("matrix_power", lambda x: L.matrix_power(x, 3), a)
graded("matrix_power-", lambda x: torch.matrix_power(x, -2), a)
graded("matrix_exp", lambda x: torch.matrix_exp(x*0.1), a)
graded("cond", L.cond, a)
graded("norm2", lambda x: L.matrix_norm(x, 2), a)
graded("norm nuc", lambda x: L.matrix_norm(x, 'nuc'), a)
graded("diagonal", L.diagonal, b)
graded("vecdot", L.vecdot, values(2,3), values(2,3,seed=2))
graded("vander", lambda x: L.vander(x), values(3))

square, eye = torch.zeros(2, 2), torch.eye(2)
for at, function in enumerate([
    lambda: L.inv(square), lambda: L.inv(torch.zeros(2, 3)), lambda: L.inv(torch.zeros(3)), lambda: L.inv(square.long()),
    lambda: L.solve(square, torch.zeros(2)), lambda: L.solve(eye, torch.zeros(3)), lambda: L.solve(eye, torch.zeros(2).double()),
    lambda: L.cholesky(-eye), lambda: L.cholesky(torch.stack([eye, -eye])), lambda: L.det(torch.zeros(2, 3)),
    lambda: L.inv(torch.stack([eye, square])), lambda: L.qr(torch.zeros(3)), lambda: L.qr(square.long()), lambda: L.det(eye.long()),
    lambda: L.svd(torch.zeros(2)), lambda: L.eigh(torch.zeros(2, 3)), lambda: L.lstsq(torch.zeros(2, 3), torch.zeros(3)),
    lambda: L.det(square), lambda: L.inv(torch.zeros(0, 0)), lambda: L.det(torch.zeros(0, 0)), lambda: L.inv(torch.zeros(0, 2, 2)),
    lambda: L.solve(torch.zeros(0, 2, 2), torch.zeros(0, 2, 1)), lambda: L.cholesky(torch.zeros(0, 0)), lambda: L.det(torch.zeros(0, 2, 2)),
    lambda: L.eigh(eye), lambda: L.svd(eye), lambda: L.slogdet(eye), lambda: L.inv_ex(eye), lambda: L.solve(2 * eye, eye), lambda: type(L.qr(eye)),
]):
    attempt(at, function)
# Second derivatives go through the same formulas.
for name, function in (("inv", L.inv), ("cholesky", lambda x: L.cholesky(spd(x))), ("qr", lambda x: L.qr(x).R), ("eigvalsh", lambda x: L.eigvalsh(x + x.mT))):
    x = a.clone().requires_grad_()
    (first,) = torch.autograd.grad(weigh(function(x)), x, create_graph=True)
    weigh(first).backward()
    show(f"{name}, second derivative", x.grad)
# Large, small and singular values far apart.
hilbert = 1 / (torch.arange(6.0).double().unsqueeze(1) + torch.arange(6.0).double() + 1)
show("hilbert", [L.svdvals(hilbert), L.eigvalsh(hilbert), L.matrix_rank(hilbert), L.cond(hilbert).log(), L.svdvals(hilbert * 1e200)])
U, S, Vh = L.svd(values(3, 2) @ values(2, 4))
show("of rank 2", [U @ torch.diag_embed(S) @ Vh[:3], U.mT @ U, Vh @ Vh.mT, S])

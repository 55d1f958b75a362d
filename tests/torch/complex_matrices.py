"""Linear algebra of complex matrices, as far as it is there; of Hermitian ones by `hermitian=True`; and singular values alone."""

L = torch.linalg


def shown(name, value):
    """Parts of complex numbers beside each other."""
    if isinstance(value, (tuple, list)):
        for at, item in enumerate(value):
            shown(f"{name}[{at}]", item)
    else:
        show(name, torch.view_as_real(value.detach().resolve_conj()) if value.is_complex() else value)


def parted(name, function, *matrices):
    """What a function gives, and the gradients of its operands."""
    matrices = [it.clone().requires_grad_() for it in matrices]
    found = function(*matrices)
    shown(name, found)
    plain = torch.view_as_real(found.resolve_conj()) if found.is_complex() else found
    (plain * values(*plain.shape, seed=5)).sum().backward()
    shown(f"{name}, gradient", [it.grad for it in matrices])


whole = torch.complex(values(4, 4), values(4, 4, seed=2)) + 2 * torch.eye(4)
batch = torch.complex(values(2, 3, 3), values(2, 3, 3, seed=3)) + 2 * torch.eye(3)
tall = torch.complex(values(5, 3, seed=4), values(5, 3, seed=6))
sides = torch.complex(values(4, 2, seed=7), values(4, 2, seed=8))
parted("inv", L.inv, whole)
parted("inverses", torch.inverse, batch)
parted("solve", L.solve, whole, sides)
parted("solve a vector", L.solve, whole, sides[:, 0])
parted("solve from the right", lambda A, B: L.solve(A, B, left=False), whole, sides.T.contiguous())
parted("svdvals", L.svdvals, tall)
parted("eigvalsh", lambda A: L.eigvalsh(A + A.mH), whole)
parted("matrix_exp", L.matrix_exp, batch / 2)
parted("matrix_power", lambda A: L.matrix_power(A, 3), batch)
parted("matrix_power below 0", lambda A: L.matrix_power(A, -2), whole)
parted("cond", L.cond, whole)
parted("norms", lambda A: L.matrix_norm(A, "nuc") + L.matrix_norm(A, 2) + L.matrix_norm(A), batch)
shown("one triangle", [L.eigvalsh(whole), L.eigvalsh(whole, UPLO="U")])
shown("pinv", [L.pinv(tall), L.pinv(tall.mH, rtol=0.5), L.pinv(whole + whole.mH, hermitian=True)])
low = tall @ tall.mH
shown("ranks", [L.matrix_rank(low), L.matrix_rank(low, hermitian=True), L.matrix_rank(batch, rtol=0.3), L.matrix_rank(tall, tol=1.5)])
shown("single precision", L.inv(whole.to(torch.complex64)).to(torch.complex128).abs() * 0 + 1)
print(L.inv(whole.to(torch.complex64)).dtype, L.svdvals(whole.to(torch.complex64)).dtype)
shown("told", L.inv_ex(whole).info)
refused("singular", lambda: L.inv(torch.zeros(3, 3, dtype=torch.complex128)))
refused("no square", lambda: L.inv(tall))
refused("one complex", lambda: L.solve(whole, sides.real))

# Hermitian real matrices: eigenvalues of one triangle.
even = values(4, 4) + values(4, 4).T
graded("pinv", lambda A: L.pinv(A + A.T, hermitian=True), values(4, 4))
show("of one triangle", [L.pinv(even.tril(), hermitian=True), L.matrix_rank(even.tril(), hermitian=True)])
flat = torch.outer(values(4), values(4))
show("ranks", [L.matrix_rank(flat, hermitian=True), L.matrix_rank(even, hermitian=True, atol=1.0), L.matrix_rank(even, tol=1.0)])
show("by a tensor", [L.matrix_rank(torch.stack([even, flat]), rtol=torch.tensor([0.5, 0.1])), L.pinv(even, atol=torch.tensor(1.0))])
show("bounded", [L.pinv(even, rtol=0.4, hermitian=True), L.pinv(even, atol=1.0, hermitian=True), L.pinv(even, rcond=0.4)])
refused("no square", lambda: L.pinv(values(2, 3), hermitian=True))
refused("no square either", lambda: L.matrix_rank(values(2, 3), hermitian=True))

# Singular values alone.
U, S, V = torch.svd(values(2, 3), compute_uv=False)
show("alone", [U, S, V])
graded("their gradient", lambda A: torch.svd(A, compute_uv=False)[1], values(2, 3))
show("of a batch", [it.abs().sum() for it in torch.svd(values(2, 3, 4), some=False, compute_uv=False)])

print("# triangular systems, least squares, and what is made of factors")
square, wide = values(3, 3, seed=11) + 1j * values(3, 3, seed=12), values(4, 3, seed=13) + 1j * values(4, 3, seed=14)
sides = values(3, 2, seed=15) + 1j * values(3, 2, seed=16)
positive = square @ square.mH + torch.eye(3)
for upper in (False, True):
    for unit in (False, True):
        show("solve_triangular", torch.view_as_real(torch.linalg.solve_triangular(square, sides, upper=upper, unitriangular=unit)))
    show("from the right", torch.view_as_real(torch.linalg.solve_triangular(square, sides.mT, upper=upper, left=False)))
    factor = torch.linalg.cholesky(positive, upper=upper)
    show("cholesky_solve", torch.view_as_real(torch.cholesky_solve(sides, factor, upper=upper)))
    show("cholesky_inverse", torch.view_as_real(torch.cholesky_inverse(factor, upper=upper)).round(decimals=9).abs())
show("triangular_solve", torch.view_as_real(torch.triangular_solve(sides, square)[0]))
show("logdet", torch.view_as_real(torch.logdet(square)))
for driver in (None, "gelsd"):
    found = torch.linalg.lstsq(wide, values(4, 2, seed=17) + 0j, driver=driver)
    show("lstsq", [torch.view_as_real(found.solution), found.residuals])
show("lstsq of a vector", torch.view_as_real(torch.linalg.lstsq(wide[:3], sides[:, 0]).solution))
show("residuals of real ones", [torch.linalg.lstsq(wide.real, values(4, 2, seed=17), driver=it).residuals for it in (None, "gelsy", "gelsd", "gelss", "gels")])

"""Functions on the device meta, which has shapes and dtypes alone: linear algebra, whole numbers, special functions, draws and views."""

L, S = torch.linalg, torch.special


def meta(*shape, dtype=torch.float32):
    return torch.ones(*shape, dtype=dtype, device="meta")


def told(value):
    if isinstance(value, (tuple, list)):
        return [told(item) for item in value]
    return (list(value.shape), str(value.dtype), str(value.device)) if isinstance(value, torch.Tensor) else value


a, v, numbers = meta(3, 3), meta(3), meta(4, dtype=torch.int64)
pivots, wide = meta(3, dtype=torch.int32), meta(2, 5, 3)
functions = {
    "inv": lambda: L.inv(a),
    "inverse": lambda: torch.inverse(wide[:, :3]),
    "det": lambda: L.det(a),
    "slogdet": lambda: L.slogdet(a),
    "solve": lambda: L.solve(a, v),
    "solve many": lambda: L.solve(meta(2, 3, 3), meta(3, 4)),
    "cholesky": lambda: L.cholesky(a),
    "cholesky_inverse": lambda: torch.cholesky_inverse(a),
    "qr": lambda: L.qr(wide, mode="complete"),
    "svd": lambda: L.svd(wide, full_matrices=False),
    "svdvals": lambda: L.svdvals(wide),
    "svd alone": lambda: torch.svd(a, compute_uv=False),
    "eigh": lambda: L.eigh(a),
    "eigvalsh": lambda: L.eigvalsh(a),
    "eig": lambda: L.eig(a),
    "eigvals": lambda: L.eigvals(a),
    "pinv": lambda: L.pinv(wide),
    "pinv by eigenvalues": lambda: L.pinv(a, hermitian=True),
    "matrix_rank": lambda: L.matrix_rank(a),
    "matrix_rank by eigenvalues": lambda: L.matrix_rank(a, hermitian=True),
    "cond": lambda: (L.cond(a), L.cond(a, 1)),
    "norms": lambda: (L.norm(a), L.matrix_norm(a, "nuc"), L.matrix_norm(a, 2)),
    "lu": lambda: L.lu(a),
    "lu_factor": lambda: L.lu_factor(wide),
    "lu_solve": lambda: L.lu_solve(a, pivots, a),
    "lu_unpack": lambda: torch.lu_unpack(a, pivots),
    "solve_triangular": lambda: L.solve_triangular(a, a, upper=True),
    "matrix_power": lambda: L.matrix_power(a, -2),
    "matrix_exp": lambda: torch.matrix_exp(a),
    "gcd": lambda: torch.gcd(numbers, meta(2, 4, dtype=torch.int32)),
    "lcm": lambda: torch.lcm(numbers, numbers),
    "polygamma": lambda: torch.polygamma(2, a),
    "zeta": lambda: S.zeta(a, v),
    "polynomials": lambda: [S.chebyshev_polynomial_t(a, v), S.hermite_polynomial_h(a, v), S.laguerre_polynomial_l(a, v), S.legendre_polynomial_p(a, v)],
    "repeat_interleave": lambda: torch.repeat_interleave(a, numbers[:3], 0, output_size=7),
    "segment_reduce": lambda: torch.segment_reduce(v, "sum", lengths=numbers[:2]),
    "masked_scatter": lambda: torch.masked_scatter(a, a > 0, a),
    "poisson": lambda: torch.poisson(a),
    "normal": lambda: torch.normal(a, v),
    "rrelu": lambda: F.rrelu(a, training=True),
    "as_strided": lambda: torch.as_strided(a, (2, 2), (1, 3), 1),
    "view": lambda: (a.view(torch.int32), meta(2, 4).view(torch.float64)),
    "resize_": lambda: meta(4).resize_(2, 4),
    "histc": lambda: (torch.histc(v, 4), v.histc(3, 0.0, 1.0)),
    "max_unpool2d": lambda: F.max_unpool2d(meta(1, 1, 2, 2), meta(1, 1, 2, 2, dtype=torch.int64), 2),
}
for name, function in functions.items():
    attempt(name, lambda: told(function()))
for name in ("bincount", "unique", "nonzero", "argwhere"):
    refused(name, lambda: getattr(torch, name)(numbers))
refused("as often as they say", lambda: torch.repeat_interleave(a, numbers[:3], 0))
refused("item", lambda: v[0].item())

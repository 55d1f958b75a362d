# torch.special: values, edges, dtypes and gradients.
special = torch.special

inf, nan = math.inf, math.nan
x = torch.cat([values(30) * 4, values(10, seed=2) * 40, torch.tensor([0.0, 1.0, -1.0, 8.0, 2.0, 1e-9, 800.0, -800.0, inf, -inf, nan], dtype=torch.float64)])
EVERYWHERE = "entr erfcx i0 i0e i1 i1e log_ndtr ndtr spherical_bessel_j0 digamma erf erfc exp2 expit expm1 log1p psi round sinc"
BESSEL = "bessel_j0 bessel_j1 bessel_y0 bessel_y1 modified_bessel_i0 modified_bessel_i1 modified_bessel_k0 modified_bessel_k1 scaled_modified_bessel_k0 scaled_modified_bessel_k1"
for name in (EVERYWHERE + " " + BESSEL).split():
    at = x[x.abs() < 100] if name in "digamma psi sinc".split() else x
    show(name, getattr(special, name)(at))
show("airy_ai", special.airy_ai(torch.tensor([-40.5, -10.2, -1.9, -1.0, 0.0, 0.5, 1.0, 2.0, 2.5, 7.0, 30.0, 200.0, inf, -inf, nan], dtype=torch.float64)))
near = values(20) * 4
for name in EVERYWHERE.split() + ["modified_bessel_i0"]:
    if name not in "digamma psi entr log1p".split():
        show(name, getattr(special, name)(near.float()).double())
p = (values(30) + 1) / 2
for name in "ndtri erfinv logit".split():
    show(name, getattr(special, name)(torch.cat([p, torch.tensor([0.0, 1.0, 0.5, -2.0, 2.0, nan], dtype=torch.float64)])))
show("ndtri", special.ndtri(torch.tensor([1e-10, 1e-100, 1e-300], dtype=torch.float64)))
show("logit", special.logit(p, 0.2))
show("round", special.round(values(6) * 100, decimals=-1))
show("gammaln", special.gammaln(x[:40]))
for n in range(5):
    show(f"polygamma {n}", special.polygamma(n, torch.cat([values(20) * 6, torch.tensor([1.0, 20.0, 1e6, nan], dtype=torch.float64)])))
for n in (1, 2, 5):
    show(f"multigammaln {n}", special.multigammaln(values(10) + 4, n))

# Two operands.
a = torch.tensor([1e-3, 0.3, 1.0, 1.7, 2.0, 5.0, 12.0, 19.0, 50.0, 300.0, 1e4], dtype=torch.float64).unsqueeze(1)
b = a * torch.tensor([0.01, 0.3, 0.75, 0.99, 1.0, 1.01, 1.25, 1.4, 3.0, 8.0], dtype=torch.float64)
show("gammainc", special.gammainc(a, b))
show("gammaincc", special.gammaincc(a, b))
edges = torch.tensor([0.0, -1.0, 1.0, 30.0, inf, nan], dtype=torch.float64)
show("gammainc", special.gammainc(edges.unsqueeze(1), edges))
show("gammaincc", special.gammaincc(edges.unsqueeze(1), edges))
s = torch.tensor([1.0, 0.5, 1.1, 2.0, 3.0, 5.5, 30.0, inf, -inf, nan], dtype=torch.float64).unsqueeze(1)
q = torch.tensor([0.3, 1.0, 2.5, 100.0, 1e6, 0.0, -0.5, -1.0, -20.7, nan], dtype=torch.float64)
show("zeta", special.zeta(s, q))
show("zeta", special.zeta(2.0, q))
show("zeta", special.zeta(s, 3))
show("xlog1py", special.xlog1py(edges.unsqueeze(1), edges))
show("xlogy", special.xlogy(edges.unsqueeze(1), edges))
show("xlog1py", special.xlog1py(2, edges))
show("softmax", special.softmax(values(2, 3), 1))
show("softmax", special.softmax(values(2, 3), 0, dtype=torch.float32))
show("log_softmax", special.log_softmax(values(2, 3), 1))
show("logsumexp", special.logsumexp(values(2, 3), 1, keepdim=True))

# Orthogonal polynomials.
t = torch.tensor([-1.5, -1.0, -0.9, -0.2, 0.0, 0.1, 0.5, 0.8, 1.0, 1.1, 3.0], dtype=torch.float64).unsqueeze(1)
for name in "chebyshev_polynomial_{} shifted_chebyshev_polynomial_{}".split():
    for kind in "tuvw":
        run = getattr(special, name.format(kind))
        show(name.format(kind), run(t, torch.tensor([-1, 0, 1, 2, 5, 6, 7, 9, 12])))
        show(name.format(kind), run(t, 3))
        show(name.format(kind), run(torch.tensor(0.3, dtype=torch.float64), torch.arange(12)))
for name in "hermite_polynomial_h hermite_polynomial_he laguerre_polynomial_l legendre_polynomial_p".split():
    run = getattr(special, name)
    show(name, run(t, torch.tensor([-1, 0, 1, 2, 5, 6, 7, 9, 12])))
    show(name, run(t, 3))
    show(name, run(torch.tensor(0.3, dtype=torch.float64), torch.arange(12)))
print(special.hermite_polynomial_h(torch.ones(1), 129), special.hermite_polynomial_he(torch.ones(1, dtype=torch.float64), 513))

# Dtypes.
for name in "i0 i0e ndtr erfcx entr bessel_j0 expit digamma".split():
    print(name, getattr(special, name)(torch.tensor([1, 2, 3])), getattr(special, name)(torch.tensor(True)))
for dtype in (torch.float16, torch.bfloat16):
    print(special.i0(torch.tensor([0.5, 1.0, 3.0], dtype=dtype)))
print(special.zeta(torch.tensor([2, 3]), 1), special.xlog1py(torch.tensor([2, 3]), torch.tensor([1, 2])))
taken = torch.zeros(2)
print(special.i0(torch.tensor([1.0, 2.0]), out=taken) is taken, taken, special.i0(torch.ones(0, 2)).shape)

# Gradients.
inside = values(8) * 3
for name in "i0 i0e i1 i1e erfcx ndtr log_ndtr erf expit expm1 sinc".split():
    graded(name, getattr(special, name), inside)
for name in "entr digamma gammaln log1p".split():
    graded(name, getattr(special, name), inside.abs() + 0.1)
graded("entr", special.entr, torch.tensor([0.0, -1.0, 2.0], dtype=torch.float64))
graded("i1", special.i1, torch.tensor([0.0, -1.0, 2.0], dtype=torch.float64))
graded("i1e", special.i1e, torch.tensor([0.0, -1.0, 2.0], dtype=torch.float64))
graded("ndtri", special.ndtri, p[:8])
graded("polygamma", lambda x: special.polygamma(1, x), inside.abs() + 0.2)
graded("multigammaln", lambda x: special.multigammaln(x, 3), inside.abs() + 2)
graded("zeta", lambda q: special.zeta(torch.full_like(q, 2.5), q), inside.abs() + 0.2)
graded("gammainc", lambda x: special.gammainc(torch.full_like(x, 2.5), x), inside.abs() + 0.2)
graded("gammaincc", lambda x: special.gammaincc(torch.full_like(x, 2.5), x), inside.abs() + 0.2)
graded("xlog1py", special.xlog1py, values(6), values(6, seed=3) * 0.9)
graded("xlog1py", special.xlog1py, torch.tensor([0.0, 0.0], dtype=torch.float64), torch.tensor([1.0, 2.0], dtype=torch.float64))
y = torch.tensor([0.3, 1.5], dtype=torch.float64, requires_grad=True)
for name in "i0 i1e erfcx log_ndtr".split():
    [g] = torch.autograd.grad(getattr(special, name)(y).sum(), y, create_graph=True)
    show(f"{name}, second derivative", torch.autograd.grad(g.sum(), y)[0])

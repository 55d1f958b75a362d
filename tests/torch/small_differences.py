# Halves as the default dtype, joining under autocast, complex eigenvalues and factors, and how wrong calls end.


def kind(name, function):
    """The class of what a function raises; that of ours may be a kind of PyTorch's."""
    try:
        print(name, "gives", function())
    except (ValueError, TypeError, IndexError, NotImplementedError) as error:
        known = [it for it in (ValueError, TypeError, IndexError, NotImplementedError) if isinstance(error, it)]
        print(name, known[0].__name__)
    except RuntimeError:
        print(name, "RuntimeError")


def fails(name, function):
    """Ours is a kind of RuntimeError."""
    try:
        print(name, "gives", function())
    except RuntimeError:
        print(name, "RuntimeError")


# The default dtype.
torch.set_default_dtype(torch.bfloat16)
whole = torch.tensor([1, 2])
show("turned", torch.view_as_real(whole * 1j))
print(torch.result_type(whole, 1j), torch.result_type(torch.tensor([True]), 1j), (torch.tensor([True]) + 1j).dtype)
WINDOWS = (torch.hann_window, torch.hamming_window, torch.blackman_window, torch.bartlett_window)
for default in (torch.bfloat16, torch.float16, torch.float64, torch.float32):
    torch.set_default_dtype(default)
    for window in WINDOWS:
        for size in (0, 1, 2, 5, 8):
            show(window.__name__, window(size))
        show(window.__name__, window(7, periodic=False))
for window in WINDOWS:
    for chosen in (torch.float16, torch.bfloat16, torch.float64):
        show(window.__name__, window(12, dtype=chosen))
print(torch.blackman_window(5).tolist()[0], torch.blackman_window(5, dtype=torch.float64).tolist()[0])
for chosen in (torch.float16, torch.bfloat16, torch.int64, torch.complex64):
    x = torch.tensor([1, 2, 3]).to(chosen)
    kind(f"quantile of {chosen}", lambda: x.quantile(0.5))
    kind(f"nanquantile of {chosen}", lambda: torch.nanquantile(x, 0.5))
kind("a share of another dtype", lambda: torch.quantile(torch.ones(3), torch.tensor([0.5], dtype=torch.float64)))
with torch.autocast("cpu", dtype=torch.bfloat16):
    show("quantile that is lifted", torch.quantile(torch.tensor([1.0, 2.0], dtype=torch.bfloat16), 0.5))
x = torch.tensor([1.0, 2.0], requires_grad=True)
kind("no inputs", lambda: torch.autograd.grad((x * 2).sum(), []))
kind("no inputs, none used", lambda: torch.autograd.grad((x * 2).sum(), (), allow_unused=True))

# Joined under autocast.
for half in (torch.bfloat16, torch.float16):
    for first in (torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.int64):
        for second in (torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.int64):
            parts = [torch.ones(2).to(first), torch.ones(2).to(second)]
            with torch.autocast("cpu", dtype=half):
                for join in (torch.cat, torch.stack, torch.hstack):
                    kind(f"{half}: {first} and {second}", lambda: join(parts).dtype)

# How wrong calls end.
x = torch.arange(6.0).reshape(2, 3)
kind("nothing to join", lambda: torch.cat([]))
kind("nothing to stack", lambda: torch.stack([]))
kind("one value in each group", lambda: F.group_norm(torch.ones(1, 2), 2))
kind("one value in each group, of a layer", lambda: nn.GroupNorm(2, 2)(torch.ones(1, 2, 1)))
kind("two samples", lambda: F.group_norm(torch.ones(2, 2), 2).tolist())
kind("pool of a matrix", lambda: F.avg_pool2d(x, 2))
kind("pool of a vector", lambda: F.avg_pool1d(x[0], 2))
kind("bins of floats", lambda: torch.bincount(torch.tensor([1.0, 2.0])))
kind("bins of bools", lambda: torch.bincount(torch.tensor([True])))
kind("bins of a matrix", lambda: torch.bincount(torch.tensor([[1, 2]])))
kind("fewer than no bins", lambda: torch.bincount(torch.tensor([1, 2]), minlength=-1))
kind("unknown pads", lambda: F.pad(x, (1, 1), mode="foo"))
kind("unknown type", lambda: x.type("foo"))
kind("parts of real numbers", lambda: torch.view_as_real(x))
kind("imaginary part", lambda: torch.imag(x))
kind("imaginary part, attribute", lambda: x.imag)
pair, wide = torch.zeros(2, dtype=torch.complex64), torch.ones(2, dtype=torch.complex128)
fails("wide added at places", lambda: pair.scatter_add(0, torch.tensor([0, 1]), wide))
fails("wide added at places, in place", lambda: pair.clone().scatter_add_(0, torch.tensor([0, 1]), wide))
fails("wide at places", lambda: pair.scatter(0, torch.tensor([0, 1]), wide))
for name, take in (
    ("row and column", lambda: x[0, 7]),
    ("behind a row", lambda: torch.ones(2, 3, 4)[0, 1, 9]),
    ("behind a slice", lambda: torch.ones(2, 3, 4)[0, :, 5]),
):
    try:
        take()
    except IndexError as error:
        print(name, "dimension" in str(error) and str(error).split("dimension ")[1][0])

# Complex matrices.
A = torch.tensor([[1 + 1j, 2, 0.5], [0.3j, -1, 2 - 1j], [1, 1j, 3]], dtype=torch.complex128)
W = torch.tensor([[1, 2j, 0.3], [0.7, 1 + 1j, 2], [1j, -1, 0.1]], dtype=torch.complex128)


def parts(name, value):
    show(name, torch.view_as_real(value.detach().resolve_conj()))


def in_order(values):
    return values[torch.argsort(values.real)]


def squared(name, function, matrix):
    matrix = matrix.clone().requires_grad_(True)
    output = function(matrix)
    (output * output.conj()).real.sum().backward()
    parts(name, matrix.grad)


for name, matrix in (("square", A), ("shifted", A - 5 * torch.eye(3)), ("twice", A[:2, :2] * 1e-3), ("one", A[:1, :1]), ("triangle", A.triu())):
    values, vectors = torch.linalg.eig(matrix)
    parts(name, in_order(values))
    parts(name, in_order(torch.linalg.eigvals(matrix)))
    parts(name, vectors[:, torch.argsort(values.real)])
values, vectors = torch.linalg.eig(torch.stack([A, A.mH, A @ A]))
show("batch", [(torch.stack([A, A.mH, A @ A]) @ vectors - vectors * values.unsqueeze(-2)).abs().max().item() < 1e-12, list(vectors.shape)])
zeros = torch.zeros(2, 2, dtype=torch.complex64)
parts("zeros", torch.linalg.eigvals(zeros))
show("none", list(torch.linalg.eigvals(torch.zeros(0, 3, 3, dtype=torch.complex64)).shape))
kind("infinite", lambda: torch.linalg.eig(A / 0))
squared("eigenvalues", torch.linalg.eigvals, A)
squared("eigenvalues of eig", lambda it: torch.linalg.eig(it)[0], A)
squared("projections", lambda it: torch.linalg.eig(it)[1].abs() ** 2 * torch.tensor([[1.0], [2.0], [4.0]]), A)
H = A @ A.mH + torch.eye(3)
for upper in (False, True):
    squared(f"cholesky {upper}", lambda it: torch.linalg.cholesky(it, upper=upper) * W, H)
squared("lower", lambda it: torch.linalg.lu(it)[1] * W, A)
squared("upper", lambda it: torch.linalg.lu(it)[2] * W, A)
squared("wide", lambda it: torch.linalg.lu(it)[2] * W[:2] + torch.linalg.lu(it)[1].sum(), A[:2])
squared("tall", lambda it: torch.linalg.lu(it)[1] * W[:, :2] + torch.linalg.lu(it)[2].sum(), A[:, :2])
squared("both in one", lambda it: torch.linalg.lu_factor(it)[0] * W, A)
squared("both in one, batch", lambda it: torch.linalg.lu_factor_ex(it)[0] * W, torch.stack([A, A.mH]))
squared("solved by factors", lambda it: torch.linalg.lu_solve(*torch.linalg.lu_factor(it), W), A)

# Weights, areas and bins.
parameter = nn.Parameter(torch.ones(2))
parameter.grad = torch.ones(2)
kind("one number to clip", lambda: nn.utils.clip_grad_norm_(1, 1.0))
kind("clipped to a word", lambda: nn.utils.clip_grad_norm_(parameter, "a"))
kind("a norm that is a word", lambda: nn.utils.clip_grad_norm_(parameter, 1.0, norm_type="a"))
show("largest", nn.utils.clip_grad_norm_(parameter, 1.0, norm_type="inf"))
one, three = torch.ones(2, 2, dtype=torch.int64), torch.ones(3, 2, 2, dtype=torch.int64)
for name, weigh_of in (
    ("addbmm", lambda **rest: torch.addbmm(one, three, three, **rest)),
    ("addmm", lambda **rest: torch.addmm(one, one, one, **rest)),
    ("baddbmm", lambda **rest: torch.baddbmm(three, three, three, **rest)),
    ("addmv", lambda **rest: torch.addmv(one[0], one, one[0], **rest)),
    ("addr", lambda **rest: torch.addr(one, one[0], one[0], **rest)),
):
    for rest in ({"beta": 0.5}, {"alpha": 0.5}, {"beta": 2.0}, {"beta": 2, "alpha": 3}, {"beta": -1.5, "alpha": 1.5}):
        kind(f"{name} {rest}", lambda: weigh_of(**rest).tolist())
parts("complex, weighed", torch.addmm(A, A, W, beta=0.5, alpha=1.5))
for chosen in (torch.int8, torch.uint8, torch.int64, torch.bool, torch.float16):
    y, at = torch.tensor([1, 100, 127]).to(chosen), torch.tensor([1, 2, 4]).to(chosen)
    for area in (torch.trapezoid, torch.cumulative_trapezoid):
        for name, rest in (("", {}), (" wide", {"dx": 2.5}), (" at places", {"x": at}), (" at floats", {"x": torch.tensor([1.0, 2.0, 4.0])})):
            kind(f"{area.__name__} of {chosen}{name}", lambda: area(y, **rest).tolist())
show("areas of rows", torch.trapezoid(torch.arange(6.0).reshape(2, 3), torch.tensor([1.0, 3.0]), dim=0))
inf, nan = math.inf, math.nan
for numbers in ([1.0, inf], [1.0, -inf], [inf, inf], [nan, 1.0]):
    kind(f"bins of {numbers}", lambda: torch.histogram(torch.tensor(numbers), 4).hist.tolist())
    kind(f"bins of {numbers} in a range", lambda: torch.histogram(torch.tensor(numbers), 4, range=(0.0, 3.0)).hist.tolist())
kind("an infinite range", lambda: torch.histogram(torch.tensor([1.0, 2.0]), 4, range=(0.0, inf)).hist.tolist())
kind("a range backwards", lambda: torch.histogram(torch.tensor([1.0, 2.0]), 4, range=(3.0, 1.0)).hist.tolist())
kind("no bins", lambda: torch.histogram(torch.tensor([1.0, 2.0]), 0).hist.tolist())
a, b = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True), torch.tensor([2.0, 1.0], requires_grad=True)
following = torch.nextafter(a, b)
show("next", [following, following.requires_grad])
show("next, gradients", list(torch.autograd.grad((following * a).sum(), [a, b])))
(grad,) = torch.autograd.grad((torch.nextafter(b, a.detach()) * torch.tensor([3.0, 4.0])).sum(), [b])
show("next, broadcast", grad)

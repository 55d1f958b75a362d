"""Functions that count, sort, measure and scatter, with their gradients."""


def attempt(function):
    try:
        show("value", function())
    except Exception as error:
        print(type(error).__name__)


def both(name, function, *inputs):
    """The values, and the gradients of all inputs of float64."""
    inputs = [value.clone().requires_grad_() if isinstance(value, torch.Tensor) and value.dtype == torch.float64 else value for value in inputs]
    outputs = function(*inputs)
    show(name, outputs)
    weigh(outputs).backward()
    show("grad", [value.grad for value in inputs if isinstance(value, torch.Tensor) and value.requires_grad])


a, b, v, w = values(3, 4), values(3, 4, seed=2), values(6), values(6, seed=2)
whole = torch.tensor([[3, 1, 2, 3], [2, 2, 1, 1]])

print("# pairs")
both("kthvalue", lambda a: a.kthvalue(2).values, a)
show("kthvalue", [torch.kthvalue(a, 3, 0).indices, torch.kthvalue(v, 1).values, a.kthvalue(1, 1, True).values])
both("mode", lambda a: torch.mode(a, 1).values, a)
show("mode", [torch.mode(whole, 1), whole.mode(0, True), torch.tensor([1.0, 2.0, 2.0, 1.0]).mode()])
show("cummax", [a.cummax(1).values, a.cummin(0).indices])
print(torch.tensor([1.0, 3.0, 2.0]).kthvalue(2))
print(torch.tensor([1, 1, 2]).mode())
print(torch.tensor([1.0, 3.0, 2.0]).cummax(0))

print("# counting")
edges = torch.tensor([1.0, 3.0, 5.0])
show("bucketize", [torch.bucketize(torch.tensor([[0.0, 1.0], [3.5, 9.0]]), edges), torch.bucketize(torch.tensor([1.0, 3.0]), edges, right=True), torch.bucketize(torch.tensor(2.0), edges, out_int32=True)])
rows = torch.tensor([[1.0, 3.0, 5.0], [2.0, 4.0, 6.0]])
show("searchsorted", [torch.searchsorted(rows, torch.tensor([[3.0], [3.0]])), torch.searchsorted(edges, 3.0), torch.searchsorted(edges, torch.tensor([3.0]), side="right"), torch.searchsorted(rows, torch.tensor([[1.0, 6.0], [2.0, 7.0]]), right=True)])
show("searchsorted by name", [torch.searchsorted(edges, input=torch.tensor([3.0]), right=True), torch.searchsorted(sorted_sequence=rows, input=torch.tensor([[1], [9]]))])
show("searchsorted in rows", [torch.searchsorted(rows, torch.tensor([[3.0, 9.0], [6.0, 0.0]]), side="right"), torch.searchsorted(rows.reshape(2, 1, 3), torch.zeros(2, 1, 4)), torch.searchsorted(torch.zeros(2, 0), torch.zeros(2, 3)), torch.searchsorted(torch.tensor([0.1]), 0.1, right=True)])
show("searchsorted in rows of other order", [torch.searchsorted(torch.tensor([[5.0, 1.0, 3.0], [2.0, 6.0, 4.0]]), torch.tensor([[3.0], [6.0]]), sorter=torch.tensor([[1, 2, 0], [0, 2, 1]]))])
show("unique_consecutive", list(torch.unique_consecutive(torch.tensor([1, 1, 2, 2, 3, 1, 1]), return_inverse=True, return_counts=True)) + [torch.tensor([[1, 1], [1, 1], [2, 3]]).unique_consecutive(dim=0), torch.tensor([2.0, 2.0]).unique_consecutive()])
show("histogram", list(torch.histogram(v, 4)) + list(torch.histogram(v, bins=3, range=(-1.0, 1.0), weight=w.abs())) + list(torch.histogram(v, torch.tensor([-1.0, 0.0, 0.2, 1.0], dtype=torch.float64), density=True)))
print(torch.histogram(torch.tensor([1.0, 2.0, 1.0]), bins=2, range=(0.0, 3.0)).hist)
show("histc", torch.histc(torch.tensor([1.0, 2.0, 1.0]), bins=4, min=0, max=3))

print("# measures")
both("cov", lambda a: torch.cov(a), a)
both("corrcoef", lambda a: torch.corrcoef(a), a)
counts, weights = torch.tensor([1, 2, 1, 3]), torch.tensor([0.5, 1.0, 2.0, 0.25], dtype=torch.float64)
show("cov", [torch.cov(v), torch.cov(a, correction=0), torch.cov(a, fweights=counts), torch.cov(a, aweights=weights), torch.cov(a, fweights=counts, aweights=weights, correction=0), torch.corrcoef(v), torch.cov(a[:1])])
both("trapezoid", lambda v, w: (torch.trapezoid(v, w), torch.trapz(v, dx=0.5), torch.cumulative_trapezoid(v)), v, w)
show("trapezoid", [torch.trapezoid(a, dim=0), torch.trapezoid(a, torch.tensor([0.0, 1.0, 3.0]), dim=0)])
both("diff", lambda v: (torch.diff(v, prepend=torch.zeros(1, dtype=torch.float64)), v.diff(n=2), v.diff(append=v[:2])), v)
both("renorm", lambda a: torch.renorm(a, 2, 0, 1.0), a)
show("renorm", a.renorm(1, 1, 0.5))

print("# shapes")
print(torch.broadcast_shapes((2, 1), (3,), (1, 1, 1)), torch.broadcast_shapes((2,), 1), [tuple(t.shape) for t in torch.broadcast_tensors(a, a[0])])
attempt(lambda: torch.broadcast_shapes((2,), (3,)))
both("block_diag", lambda a, v: torch.block_diag(a, v, torch.ones(2, 1, dtype=torch.float64)), a, v)
both("combinations", lambda v: torch.combinations(v[:4]), v)
show("combinations", [torch.combinations(torch.arange(3), 2, True), torch.combinations(torch.arange(4), r=3), torch.cartesian_prod(torch.arange(2), torch.arange(2), torch.arange(2))])

print("# writing")
mask = a > 0
both("masked_scatter", lambda a, b: a.masked_scatter(mask, b), a, b)
c = a.clone()
c.masked_scatter_(mask, torch.arange(12, dtype=torch.float64))
show("in place", c)
attempt(lambda: a.masked_scatter(mask, b[0, :2]))
places = (torch.tensor([0, 1, 0]), torch.tensor([1, 2, 1]))
both("index_put", lambda a, v: torch.index_put(a, places, v[:3], accumulate=True), a, v)
show("index_put by name", torch.index_put(input=torch.zeros(3), indices=(torch.tensor([1]),), values=torch.tensor([5.0])))
both("index_put of rows", lambda a, v: a.index_put((torch.tensor([2, 0]),), v[:4]), a, v)
c.index_put_(places, torch.tensor(5.0, dtype=torch.float64), accumulate=True)
show("in place", c)
show("by truth", c.index_put((mask,), torch.tensor(0.0, dtype=torch.float64)))
index = torch.tensor([[0, 0, 1, 2], [2, 1, 1, 2], [0, 1, 1, 0]])
for reduce in ("sum", "prod", "mean", "amax", "amin"):
    for include_self in (True, False):
        both(f"scatter_reduce {reduce} {include_self}", lambda a, b: a.scatter_reduce(0, index, b, reduce, include_self=include_self), a, b)
show("scatter_reduce", [torch.zeros(3).scatter_reduce(0, torch.tensor([0, 2, 0]), torch.tensor([4.0, 1.0, 6.0]), "mean", include_self=False), torch.zeros(2, dtype=torch.int64).scatter_reduce(0, torch.tensor([0, 0, 1]), torch.tensor([4, 7, 5]), reduce="amax")])
ties = torch.tensor([2.0, 2.0, 2.0, 1.0], dtype=torch.float64)
both("ties", lambda ties: torch.zeros(2, dtype=torch.float64).scatter_reduce(0, torch.tensor([0, 0, 0, 1]), ties, "amax"), ties)
both("select_scatter", lambda a, v: a.select_scatter(v[:4], 0, 1), a, v)
both("take_along_dim", lambda a: torch.take_along_dim(a, a.detach().argsort(1), 1), a)

print("# elements")
x = torch.tensor([0.1, 0.5, 1.0, 2.5, 7.0, -0.5, -2.3], dtype=torch.float64)
both("lgamma", lambda x: torch.lgamma(x), x)
both("digamma", lambda x: torch.digamma(x), x)
both("erfc", lambda x: torch.erfc(x), x)
both("sinc", lambda x: torch.sinc(x), torch.tensor([0.0, 0.5, 1.5], dtype=torch.float64))
both("clamps", lambda x: (x.clamp_min(0.2), torch.clamp_max(x, 1.5)), x)
both("logaddexp2", lambda v, w: torch.logaddexp2(v, w), v, w)
nan = float("nan")
show("fmax", [torch.fmax(torch.tensor([1.0, nan, 3.0]), torch.tensor([2.0, 2.0, nan])), torch.fmin(torch.tensor([1.0, nan, 3.0]), torch.tensor([2.0, 2.0, nan]))])
show("signs", [torch.copysign(torch.tensor([1.0, -2.0]), torch.tensor([-0.0, 3.0])), torch.signbit(torch.tensor([-0.0, 0.0, -1.0])), torch.isposinf(torch.tensor([math.inf, -math.inf])), torch.isneginf(torch.tensor([math.inf, -math.inf]))])
show("float_power", torch.float_power(torch.tensor([2, 3]), 2))
print(torch.normal(torch.zeros(3), torch.ones(3)).shape, torch.normal(torch.tensor([5.0, 6.0]), 0.0), torch.normal(1.0, torch.zeros(2)))

print("# collate")
from torch.utils.data import default_collate

print(default_collate([("a", 1), ("b", 2)]), default_collate([(("a", 1.0), "b"), (("c", 2.0), "d")]), default_collate(["a", "b"]), default_collate([{"x": "a"}, {"x": "b"}]))

print("# mistakes")
for wrong in (lambda: torch.optim.lr_scheduler.StepLR(nn.Linear(2, 2), 3), lambda: torch.optim.Adam(nn.Linear(2, 2)), lambda: torch.linspace(0, 1)):
    try:
        wrong()
    except TypeError as error:
        print("TypeError")

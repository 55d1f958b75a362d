"""Functions and methods of tensors that are made of ops."""

a, b, m, n, t = values(3, 4), values(3, 4, seed=2), values(2, 3), values(3, 5, seed=3), values(2, 3, 4)
v, w = values(3), values(3, seed=2)
show("einsum", [
    torch.einsum("ij,jk->ik", m, n),
    torch.einsum("ij->ji", m),
    torch.einsum("ij->", m),
    torch.einsum("ii->i", values(3, 3)),
    torch.einsum("ii", values(3, 3)),
    torch.einsum("i,j->ij", v, w),
    torch.einsum("i,i", v, w),
    torch.einsum("bij,bjk->bik", t, values(2, 4, 2)),
    torch.einsum("...ij,...j->...i", t, values(4)),
    torch.einsum("bhqd,bhkd->bhqk", values(2, 2, 3, 4), values(2, 2, 5, 4)),
    torch.einsum("ij,jk,kl->il", m, n, values(5, 2)),
    torch.einsum("ij,kj", m, m),
    torch.einsum("bn,anm,bm->ba", values(2, 3), values(4, 3, 5), values(2, 5)),
    torch.einsum("i...,i->...", t, values(2)),
])
x = values(2, 3).requires_grad_()
(torch.einsum("ij,kj->ik", x, m) ** 2).sum().backward()
show("einsum grad", x.grad)
show("tensordot", [torch.tensordot(t, values(3, 4, 2), 2), torch.tensordot(t, values(4, 2), dims=([2], [0]))])
show("products", [torch.outer(v, w), torch.mv(m, v), torch.vdot(v, w), torch.kron(m, values(2, 2)), torch.cross(v, w, dim=0), torch.trace(values(3, 3))])
show("baddbmm", torch.baddbmm(values(2, 3, 2), t, values(2, 4, 2), beta=0.5, alpha=2))
show("addcmul", [torch.addcmul(a, a, b, value=0.5), torch.addcdiv(a, a, b + 2, value=0.5)])
show("distances", [torch.cdist(a, b), torch.cdist(a, b, p=1.0), torch.dist(a, b)])
show("meshgrid", list(torch.meshgrid(torch.arange(2), torch.arange(3), indexing="ij")) + list(torch.meshgrid(torch.arange(2), torch.arange(3), indexing="xy")))
show("diag", [torch.diag(v), torch.diag(values(3, 3), 1), torch.diag(v, -1), torch.diag_embed(m)])
show("triangles", [torch.tril_indices(3, 3), torch.triu_indices(3, 4, 1)])
show("stacks", [torch.hstack([v, w]), torch.vstack([v, w]), torch.column_stack([v, w]), torch.hstack([m, m]), torch.dstack([m, m])])
show("splits", list(torch.tensor_split(torch.arange(7), 3)) + list(torch.tensor_split(torch.arange(7), [2, 5])))
show("diff", [torch.diff(v), torch.diff(a, dim=0), torch.trapezoid(v)])
show("quantiles", [torch.quantile(v, 0.3), torch.quantile(a, torch.tensor([0.25, 0.5], dtype=torch.float64), dim=1), torch.quantile(a, 0.5, dim=0, keepdim=True)])
show("histc", torch.histc(values(20), bins=4, min=-1, max=1))
show("nan", [torch.nansum(torch.tensor([1.0, float("nan"), 2.0])), torch.nan_to_num(torch.tensor([float("nan"), 1.0]), nan=7.0)])
show("moments", list(torch.std_mean(a)) + list(torch.var_mean(a, dim=1)) + list(torch.aminmax(a)))
show("rot90", torch.rot90(m))
show("misc", [torch.heaviside(v, torch.tensor(0.5, dtype=torch.float64)), torch.logit(v.sigmoid()), torch.rad2deg(v), torch.erfinv(v * 0.9), torch.true_divide(v, 2), torch.sgn(v)])
show("kron", torch.cartesian_prod(torch.tensor([1, 2]), torch.tensor([4, 5])))
print(torch.equal(a, a.clone()), torch.equal(a, b), torch.equal(a, v), torch.allclose(a, a + 1e-9), torch.allclose(a, b))
print(torch.allclose(torch.tensor([float("nan")]), torch.tensor([float("nan")]), equal_nan=True), torch.is_floating_point(a), torch.is_tensor(3))
print(torch.numel(a), torch.finfo(torch.float32).eps, torch.iinfo(torch.int64).max, torch.iinfo(torch.uint8).min, torch.get_default_dtype())
print(torch.empty(2, 3).shape == (2, 3), torch.empty((2,), dtype=torch.int64).dtype, torch.empty_like(a).dtype, torch.full_like(v, 3.0).tolist())
print(torch.cuda.is_available(), torch.backends.mps.is_available())

print("# methods")
show("masked_fill", [a.masked_fill(a > 0, 0.0), v.masked_fill(torch.tensor([True, False, True]), -1e9)])
c = a.clone()
show("in place", c.masked_fill_(c < 0, 9.0))
show("in place", [c, c.clamp_(max=5.0), c.add_(1, alpha=2), c.sub_(b, alpha=0.5), c.addcmul_(a, b, value=2), c.mul_(2).div_(3), c.zero_()])
show("alpha", [torch.add(v, w, alpha=3), v.sub(w, alpha=2)])
show("new", [a.new_zeros(2), a.new_ones((2, 2)), a.new_full((2,), 3.5), a.new_tensor([1, 2])])
show("views", [a.view_as(values(4, 3)), v.expand_as(values(2, 3)), a.unfold(1, 2, 2), values(7).unfold(0, 3, 2)])
show("std", [a.std(unbiased=False), a.var(1, unbiased=False), a.std(dim=1, keepdim=True)])
result = a.max(dim=1)
show("max", [result.values, result.indices, result[0]])
top, where = a.topk(2)
show("topk", [top, where, a.topk(2, dim=0).values, a.sort(descending=True).indices, a.min(0).values, v.median()])
print(torch.tensor([1.0, 3.0, 2.0]).max(dim=0))
print(torch.tensor([[1.0, 3.0], [2.0, 0.0]]).sort())
show("out", [torch.add(v, w, out=torch.empty(3, dtype=torch.float64)), torch.matmul(m, n, out=torch.empty(2, 5, dtype=torch.float64))])
target = torch.empty(3, dtype=torch.float64)
torch.mul(v, w, out=target)
show("out", target)
show("index", [a.index_fill(1, torch.tensor([0, 2]), 7.0), torch.zeros(3, 2).index_copy(0, torch.tensor([2, 0]), torch.ones(2, 2)), torch.take(a, torch.tensor([0, 5]))])
print(a.is_cuda, a.is_complex(), a.is_signed(), a.diag().shape == (3,), a.numpy().shape == (3, 4))
d = torch.zeros(3, 3).fill_diagonal_(5.0)
show("diagonal", d)
print(torch.zeros(100).random_(3, 5).unique().tolist(), torch.zeros(50).bernoulli_(1.0).sum().item(), (torch.zeros(50).exponential_() >= 0).all().item())
g = torch.Generator().manual_seed(7)
first = torch.randn(3, generator=g)
second = torch.randn(3, generator=g)
again = torch.randn(3, generator=torch.Generator().manual_seed(7))
print(torch.equal(first, again), torch.equal(first, second), g.initial_seed())
torch.manual_seed(3)
first = torch.rand(2)
torch.manual_seed(3)
print(torch.equal(first, torch.rand(2)))

print("# losses as functions")
show("F", [F.relu(v), F.softplus(v, beta=2), F.glu(values(4)), F.normalize(a), F.one_hot(torch.tensor([0, 2]), 3), F.pairwise_distance(a, b), F.cosine_similarity(a, b), F.gelu(v, approximate="tanh"), F.prelu(v, torch.tensor([0.2], dtype=torch.float64))])
show("functional losses", [F.mse_loss(a, b, reduction="sum"), F.smooth_l1_loss(a, b), F.kl_div(F.log_softmax(a, 1), F.softmax(b, 1), reduction="batchmean"), F.nll_loss(F.log_softmax(a, 1), torch.tensor([0, 1, 3])), F.hinge_embedding_loss(v, torch.tensor([1.0, -1.0, 1.0], dtype=torch.float64))])
mean, variance = torch.zeros(4, dtype=torch.float64), torch.ones(4, dtype=torch.float64)
show("batch norm", [F.batch_norm(a, mean, variance, training=True, momentum=0.5), mean, variance, F.batch_norm(a, mean, variance)])
show("gumbel", F.gumbel_softmax(a, hard=True).sum(1))

print("# files")

path = "/tmp/values_of_a_test.pt"
net = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))
torch.save(net.state_dict(), path)
other = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))
print(other.load_state_dict(torch.load(path)))
print(torch.equal(other[0].weight, net[0].weight))
torch.save({"epoch": 3, "loss": 0.5, "name": "x", "parts": [a, (m, None, True)], "nested": {1: v}}, path)
loaded = torch.load(path)
print(loaded["epoch"], loaded["loss"], loaded["name"], loaded["parts"][1][1:], list(loaded["nested"]))
show("loaded", loaded["parts"])
try:
    torch.load("no/such/file.pt")
except FileNotFoundError:
    print("not found")

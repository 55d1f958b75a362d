"""Arguments that change what is computed are never passed over."""

print("# inplace=")
for name, function in (
    ("dropout", lambda x: F.dropout(x, 0.5, True, True)),
    ("dropout1d", lambda x: F.dropout1d(x, 0.5, True, True)),
    ("dropout2d", lambda x: F.dropout2d(x[None], 0.5, True, inplace=True)),
    ("dropout3d", lambda x: F.dropout3d(x[None, None], 0.5, True, inplace=True)),
    ("alpha_dropout", lambda x: F.alpha_dropout(x, 0.5, True, True)),
    ("rrelu", lambda x: F.rrelu(x, 0.1, 0.3, False, True)),
    ("rrelu_", lambda x: F.rrelu_(x)),
    ("relu", lambda x: F.relu(x, True)),
    ("leaky_relu", lambda x: F.leaky_relu(x, 0.1, True)),
    ("elu", lambda x: F.elu(x, 1.0, True)),
    ("hardtanh", lambda x: F.hardtanh(x, -0.5, 0.5, True)),
    ("threshold", lambda x: F.threshold(x, 0.1, 2.0, True)),
    ("nn.Dropout", lambda x: nn.Dropout(0.5, True)(x)),
    ("nn.Dropout1d", lambda x: nn.Dropout1d(0.5, True)(x)),
    ("nn.Dropout2d", lambda x: nn.Dropout2d(0.5, True)(x[None])),
    ("nn.Dropout3d", lambda x: nn.Dropout3d(0.5, True)(x[None, None])),
    ("nn.AlphaDropout", lambda x: nn.AlphaDropout(0.5, True)(x)),
    ("nn.RReLU", lambda x: nn.RReLU(0.1, 0.3, True)(x)),
    ("nn.Threshold", lambda x: nn.Threshold(0.1, 2.0, True)(x)),
):
    torch.manual_seed(0)
    x = values(2, 3, 4).float()
    result = function(x)
    print(name, torch.equal(result.reshape(-1), x.reshape(-1)), torch.equal(x, values(2, 3, 4).float()))

print("# functions in place")
for function in (
    F.relu_, F.leaky_relu_, F.elu_, F.hardtanh_, F.selu_, F.celu_, torch.relu_, torch.sigmoid_, torch.tanh_, torch.exp_, torch.sqrt_, torch.abs_,
    torch.neg_, torch.floor_, torch.ceil_, torch.round_, torch.trunc_, torch.zero_, torch.sin_, torch.cos_, torch.square_, torch.reciprocal_,
    torch.log1p_, torch.erf_, torch.rsqrt_, torch.selu_, torch.celu_, torch.frac_,
):
    x = values(3).abs()
    result = function(x)
    show(function.__name__, x)
    print(result is x)
x = values(3)
show("clamp_", torch.clamp_(x, -0.5, 0.5))
show("threshold_", F.threshold_(x, 0.1, 2.0))
show("fill_", torch.fill_(x, 2.0))

print("# integers in place")
i, two = torch.tensor([3, 5]), torch.tensor([1.5, 2.0])
refused("sinc_", lambda: i.sinc_())
refused("deg2rad_", lambda: i.deg2rad_())
refused("rad2deg_", lambda: i.rad2deg_())
refused("logit_", lambda: i.logit_())
refused("digamma_", lambda: i.digamma_())
refused("copysign_", lambda: i.copysign_(two))
refused("ldexp_", lambda: i.ldexp_(i))
refused("float_power_", lambda: i.float_power_(2))
refused("float_power_ of float32", lambda: torch.ones(2).float_power_(2))
refused("float_power_ of float64", lambda: values(2).float_power_(2))
refused("put_", lambda: i.put_(torch.tensor([0]), torch.tensor([1.5])))
refused("put", lambda: i.put(torch.tensor([0]), torch.tensor([1.5])))
refused("index_put_", lambda: i.index_put_((torch.tensor([0]),), torch.tensor([1.5])))
show("what is left", i)

print("# gradients by frequency")
index = torch.tensor([[0, 1, 1], [2, 1, 0]])
table = values(4, 2)
graded("embedding", lambda w: F.embedding(index, w, scale_grad_by_freq=True), table)
graded("embedding with padding", lambda w: F.embedding(index, w, padding_idx=1, scale_grad_by_freq=True), table)
for mode in ("sum", "mean"):
    graded(f"embedding_bag {mode}", lambda w: F.embedding_bag(index, w, mode=mode, scale_grad_by_freq=True), table)
refused("embedding_bag max", lambda: F.embedding_bag(index, table, mode="max", scale_grad_by_freq=True))
refused("embedding_bag max, sparse", lambda: F.embedding_bag(index, table, mode="max", sparse=True))
layer = nn.Embedding(4, 2, scale_grad_by_freq=True, _weight=table.clone())
layer(index).sum().backward()
show("nn.Embedding", layer.weight.grad)
layer = nn.EmbeddingBag(4, 2, scale_grad_by_freq=True, mode="sum", _weight=table.clone())
layer(index).sum().backward()
show("nn.EmbeddingBag", layer.weight.grad)

print("# asarray")
x = values(3)
same, own = torch.asarray(x), torch.asarray(x, copy=True)
x[0] = 9
show("shared", same)
show("copied", own)
print(torch.asarray(x, requires_grad=True).requires_grad, torch.asarray([1.0], requires_grad=True).requires_grad)
refused("a list as it is", lambda: torch.asarray([1, 2], copy=False))
refused("another dtype as it is", lambda: torch.asarray(x, dtype=torch.int32, copy=False))
refused("a tensor as it is", lambda: torch.asarray(x, copy=False))
print(torch.scalar_tensor(2, requires_grad=True).requires_grad, torch.scalar_tensor(2).dtype)

print("# scatter, index_add, div_, unique")
index, source = torch.tensor([[0, 0, 2], [1, 0, 1]]), values(2, 3)
for how in ("add", "multiply"):
    show(f"scatter {how}", torch.scatter(values(3, 3), 0, index, source, reduce=how))
    show(f"scatter_ {how}", values(3, 3).scatter_(0, index, source, reduce=how))
    show(f"scatter_ {how} of a number", values(3, 3).scatter_(0, index, 2.0, reduce=how))
show("scatter of a value", values(3, 3).scatter(0, index, value=2.0))
refused("scatter mean", lambda: values(3, 3).scatter_(0, index, source, reduce="mean"))
where = torch.tensor([0, 2, 0])
graded("index_add", lambda x, y: x.index_add(0, where, y, alpha=2), values(3, 3), values(3, 3, seed=2))
x = values(3, 3)
x.index_add_(0, where, values(3, 3, seed=2), alpha=-0.5)
show("index_add_", x)
show("index_add of ints", torch.index_add(torch.zeros(3, dtype=torch.int64), 0, where, torch.tensor([1, 2, 3]), alpha=3))
x = values(4) * 10
show("div_ floor", x.clone().div_(3, rounding_mode="floor"))
show("div_ trunc", x.clone().div_(3, rounding_mode="trunc"))
show("div_ of ints", torch.tensor([7, -7]).div_(2, rounding_mode="floor"))
table = torch.tensor([[1, 2, 1], [0, 5, 0], [1, 2, 1], [0, 4, 0]])
show("unique rows", torch.unique(table, dim=0, return_inverse=True, return_counts=True))
show("unique columns", table.unique(dim=1, return_inverse=True, return_counts=True))
show("unique rows alone", torch.unique(table.double(), dim=0))
show("unique of a vector", torch.unique(torch.tensor([3, 1, 3]), dim=0, return_counts=True))
show("softmin", F.softmin(values(3).float(), 0, dtype=torch.float64))

print("# methods")
x, y = values(2, 3), values(2, 3, seed=2)
show("where", x.where(x > 0, y))
show("where of a number", x.where(x > 0, 0.0))
show("flipud", x.flipud())
show("fliplr", x.fliplr())
show("diagflat", values(2).diagflat(1))
show("msort", x.msort())
show("narrow_copy", x.narrow_copy(1, 1, 2))
show("hsplit", x.hsplit(3))
show("vsplit", x.vsplit([1]))
show("dsplit", values(1, 2, 2).dsplit(2))
show("rsub", torch.rsub(x, 2.0))
refused("hsplit of a number", lambda: torch.tensor(1.0).hsplit(1))
refused("hsplit by 2", lambda: x.hsplit(2))

print("# orders of elements")
image = values(1, 2, 3, 3)
for format in (torch.contiguous_format, torch.preserve_format):
    print(image.contiguous(memory_format=format).stride() if format is torch.contiguous_format else "", image.clone(memory_format=format).stride())
    print(image.to(torch.float32, memory_format=format).dtype, torch.zeros_like(image, memory_format=format).stride())
print(image.is_contiguous(memory_format=torch.contiguous_format), torch.empty(2, 3, memory_format=torch.contiguous_format).stride())

print("# random numbers")
refused("vmap", lambda: torch.vmap(lambda x: x + torch.rand(1))(torch.zeros(3)))
refused("vmap of another word", lambda: torch.vmap(lambda x: x, randomness="other")(torch.zeros(3)))
found = torch.vmap(lambda x: x + torch.rand(()), randomness="same")(torch.zeros(3))
print(found[0].item() == found[1].item() == found[2].item())
found = torch.vmap(lambda x: x + torch.rand(()), randomness="different")(torch.zeros(3))
print(found[0].item() == found[1].item())
torch.manual_seed(3)
with torch.random.fork_rng():
    torch.rand(5)
show("after fork_rng", torch.rand(2))
print(torch.Generator().device, torch.Generator(device="cpu").device)


print("# steps of one's own")


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x.mul_(2)
        ctx.mark_dirty(x)
        return x

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


leaf = values(3).requires_grad_()
x = leaf * 1
y = Doubled.apply(x)
print(y is x, torch.equal(x, y))
x.sum().backward()
show("gradient", leaf.grad)

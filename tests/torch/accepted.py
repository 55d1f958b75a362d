"""Arguments in forms that are seldom written: words for orders and paddings, tuples of one, inputs without a batch, empty tensors."""


def double(*numbers):
    return torch.tensor(numbers, dtype=torch.float64)


x = values(2, 3)
print("# orders in words")
graded("norm fro", lambda x: torch.norm(x, p="fro"), x)
graded("norm fro 1", lambda x: torch.norm(x, p="fro", dim=1), x)
graded("norm nuc", lambda x: torch.norm(x, p="nuc"), x)
graded("x.norm fro", lambda x: x.norm("fro", 0, True), x)
graded("norm of dims", lambda x: torch.norm(x, "fro", dim=(0, 1)), x)
graded("norm of three", lambda x: torch.norm(x), values(2, 3, 2))
graded("norm of dtype", lambda x: torch.norm(x, 1, dtype=torch.float64), x.float())
graded("norm of none", lambda x: torch.norm(x, None), x)
graded("linalg.norm fro", lambda x: torch.linalg.norm(x, "fro", dim=(0, 1)), values(2, 3, 2))

print("# convolutions")
line, sheet, cube = values(1, 2, 7), values(1, 2, 5, 6), values(1, 2, 4, 5, 4)
kernels = values(4, 2, 3, seed=2), values(4, 2, 3, 2, seed=2), values(4, 2, 3, 2, 1, seed=2)
for dims, image, kernel in ((1, line, kernels[0]), (2, sheet, kernels[1]), (3, cube, kernels[2])):
    conv = getattr(F, f"conv{dims}d")
    for options in ({"stride": (2,)}, {"padding": (1,)}, {"dilation": (2,)}, {"stride": (1,), "padding": (1,), "dilation": (1,)}, {"stride": (2,) * dims}, {"padding": [1] * dims}):
        if dims == 3 and "dilation" in options and options["dilation"] == (2,):
            continue
        graded(f"conv{dims}d {options}", lambda x, w: conv(x, w, **options), image, kernel)
    for padding in ("same", "valid"):
        graded(f"conv{dims}d {padding}", lambda x, w: conv(x, w, padding=padding), image, kernel)
        graded(f"conv{dims}d {padding}, one image", lambda x, w: conv(x, w, padding=padding), image[0], kernel)
        graded(f"conv{dims}d {padding}, dilation", lambda x, w: conv(x, w, padding=padding, dilation=1 if padding == "valid" else 2), image, kernel)
        module = getattr(nn, f"Conv{dims}d")(2, 4, 3, padding=padding, dtype=torch.float64)
        print(f"Conv{dims}d {padding}", module(image).shape, module(image[0]).shape, module)
        module = getattr(nn, f"Conv{dims}d")(2, 4, 3, padding=padding, padding_mode="circular", dtype=torch.float64)
        print(f"Conv{dims}d {padding} circular", module(image).shape, module)
    print(f"groups", conv(image, kernel[:, :1], groups=2).shape, conv(image, kernel, values(4), padding=1).shape)
    transposed, kernel = getattr(F, f"conv_transpose{dims}d"), values(2, 3, *kernel.shape[2:], seed=3)
    for options in ({}, {"stride": 2}, {"stride": (2,)}, {"padding": (1,) * dims, "stride": 2, "output_padding": 1}, {"dilation": (2,)}, {"output_padding": (1,), "stride": (3,)}):
        graded(f"conv_transpose{dims}d {options}", lambda x, w: transposed(x, w, **options), image, kernel)
        graded(f"conv_transpose{dims}d {options}, one image", lambda x, w: transposed(x, w, **options), image[0], kernel)
    module = getattr(nn, f"ConvTranspose{dims}d")(2, 3, 3, dtype=torch.float64)
    print(f"ConvTranspose{dims}d", module(image).shape, module(image[0]).shape)
    for name in "max_pool avg_pool lp_pool adaptive_avg_pool adaptive_max_pool".split():
        pool = getattr(F, f"{name}{dims}d", None)
        if pool is None:
            continue
        graded(f"{name}{dims}d, a tuple of one", lambda x: pool(x, 2, 2) if name == "lp_pool" else pool(x, 2) if "adaptive" in name else pool(x, (2,), (1,)), image)
        if name != "lp_pool":
            graded(f"{name}{dims}d, one image", lambda x: pool(x, 2), image[0])
for dims, image in ((2, sheet), (3, cube)):
    pool = getattr(F, f"avg_pool{dims}d")
    for divisor in (1, 3, 7):
        graded(f"avg_pool{dims}d divided by {divisor}", lambda x: pool(x, 2, divisor_override=divisor), image)
        graded(f"avg_pool{dims}d padded, divided by {divisor}", lambda x: pool(x, 2, 1, 1, divisor_override=divisor, ceil_mode=True), image)
        show(f"AvgPool{dims}d", getattr(nn, f"AvgPool{dims}d")(2, divisor_override=divisor)(image))
    graded(f"avg_pool{dims}d, positions", lambda x: pool(x, 2, 2, 1, True, False, 5), image)
    graded(f"avg_pool{dims}d, not counted", lambda x: pool(x, 2, 2, 1, True, False), image)

print("# embedding_bag")
table, places = values(5, 3), torch.tensor([1, 2, 4, 1, 0, 3])
shares = values(6, seed=4)
graded("per_sample_weights", lambda table, shares: F.embedding_bag(places, table, torch.tensor([0, 2, 2]), mode="sum", per_sample_weights=shares), table, shares)
graded("per_sample_weights of a matrix", lambda table, shares: F.embedding_bag(places.reshape(2, 3), table, mode="sum", per_sample_weights=shares.reshape(2, 3)), table, shares)
for mode in ("sum", "mean", "max"):
    graded(f"last offset {mode}", lambda table: F.embedding_bag(places, table, torch.tensor([0, 2, 6]), mode=mode, include_last_offset=True), table)
    graded(f"padding {mode}", lambda table: F.embedding_bag(places.reshape(2, 3), table, mode=mode, padding_idx=1), table)
    graded(f"offsets {mode}", lambda table: F.embedding_bag(places, table, torch.tensor([0, 3, 3]), mode=mode), table)
bag = nn.EmbeddingBag(5, 3, mode="sum", include_last_offset=True, padding_idx=1, dtype=torch.float64)
with torch.no_grad():
    bag.weight.copy_(table)
show("EmbeddingBag", bag(places, torch.tensor([0, 2, 6]), per_sample_weights=shares))

print("# quantiles")
for interpolation in ("linear", "lower", "higher", "nearest", "midpoint"):
    graded(f"quantile {interpolation}", lambda x: torch.quantile(x, 0.3, interpolation=interpolation), x)
    graded(f"quantile of several, {interpolation}", lambda x: x.quantile(double(0.1, 0.5, 1.0), dim=1, keepdim=True, interpolation=interpolation), x)
    graded(f"nanquantile {interpolation}", lambda x: torch.nanquantile(x, 0.3, dim=0, interpolation=interpolation), double(1.0, math.nan, 2.0, 5.0))

print("# empty tensors")
none, rows = torch.zeros(0, dtype=torch.float64), torch.zeros(0, 3, dtype=torch.float64)
for name, function in {
    "sum": torch.sum, "mean": torch.mean, "prod": torch.prod, "std": torch.std, "var": torch.var, "norm": torch.norm, "logsumexp": lambda x: torch.logsumexp(x, -1) if x.ndim > 1 else torch.logsumexp(x, 0),
    "softmax": lambda x: torch.softmax(x, -1), "log_softmax": lambda x: F.log_softmax(x, -1), "cumsum": lambda x: x.cumsum(0), "cumprod": lambda x: x.cumprod(0), "relu": torch.relu,
    "sort": lambda x: x.sort(0)[0], "cat": lambda x: torch.cat([x, x]), "stack": lambda x: torch.stack([x, x]), "flip": lambda x: x.flip(0), "mse_loss": lambda x: F.mse_loss(x, x.detach()),
    "exp": torch.exp, "times": lambda x: x * 2, "mean 0": lambda x: x.mean(0), "sum 0": lambda x: x.sum(0), "prod 0": lambda x: x.prod(0), "var 0": lambda x: x.var(0), "norm 0": lambda x: x.norm(dim=0),
    "all": lambda x: x.all(), "pad": lambda x: F.pad(x, (1, 1)), "clamp": lambda x: x.clamp(0, 1), "where": lambda x: torch.where(x > 0, x, -x), "abs": torch.abs, "nonzero": torch.nonzero,
    "l1_loss": lambda x: F.l1_loss(x, x.detach() + 1), "bce": lambda x: F.binary_cross_entropy_with_logits(x, x.detach()), "dropout": F.dropout, "repeat": lambda x: x.repeat(2, 1) if x.ndim == 2 else x.repeat(2),
    "tril": lambda x: x.tril() if x.ndim == 2 else x, "reshape": lambda x: x.reshape(-1, 3), "index": lambda x: x[torch.zeros(0, dtype=torch.int64)], "cummax": lambda x: x.cummax(0)[0], "roll": lambda x: x.roll(1, 0),
    "square root": torch.sqrt, "pow": lambda x: x ** 2, "linalg.norm": torch.linalg.norm, "diff": torch.diff, "gather": lambda x: x.gather(0, x.long()), "logcumsumexp": lambda x: x.logcumsumexp(0),
}.items():
    graded(f"{name} of none", function, none)
    graded(f"{name} of no rows", function, rows)
graded("linear", lambda x, w: F.linear(x, w), rows, values(2, 3))
graded("linear, bias", lambda x, w, b: F.linear(x, w, b), rows, values(2, 3), values(2))
graded("no inner size", lambda a, b: a @ b, torch.zeros(2, 0, dtype=torch.float64), torch.zeros(0, 3, dtype=torch.float64))
graded("addmm of nothing", lambda x, a, b: torch.addmm(x, a, b), values(2, 3), torch.zeros(2, 0, dtype=torch.float64), torch.zeros(0, 3, dtype=torch.float64))
graded("bmm of nothing", torch.bmm, torch.zeros(0, 2, 3, dtype=torch.float64), torch.zeros(0, 3, 2, dtype=torch.float64))
graded("matmul of no rows", lambda a, b: a @ b, rows, values(3, 2))
graded("dot of none", torch.dot, none, none)
graded("mv of no rows", torch.mv, rows, values(3))
graded("embedding of none", lambda w: F.embedding(torch.zeros(0, dtype=torch.int64), w), values(4, 2))
graded("conv2d of none", lambda x, w: F.conv2d(x, w), torch.zeros(0, 2, 5, 5, dtype=torch.float64), values(3, 2, 3, 3))
graded("conv1d of none", lambda x, w, b: F.conv1d(x, w, b), torch.zeros(0, 2, 5, dtype=torch.float64), values(3, 2, 3), values(3))
graded("conv_transpose2d of none", lambda x, w: F.conv_transpose2d(x, w), torch.zeros(0, 2, 5, 5, dtype=torch.float64), values(2, 3, 3, 3))
graded("max_pool2d of none", lambda x: F.max_pool2d(x, 2), torch.zeros(0, 2, 4, 4, dtype=torch.float64))
graded("avg_pool2d of none", lambda x: F.avg_pool2d(x, 2), torch.zeros(0, 2, 4, 4, dtype=torch.float64))
graded("adaptive_avg_pool2d of none", lambda x: F.adaptive_avg_pool2d(x, 2), torch.zeros(0, 2, 4, 4, dtype=torch.float64))
graded("layer_norm of none", lambda x, w: F.layer_norm(x, (3,), w), rows, values(3))
graded("group_norm of none", lambda x, w: F.group_norm(x, 2, w), torch.zeros(0, 4, 3, dtype=torch.float64), values(4))
graded("batch_norm of none", lambda x: F.batch_norm(x, torch.zeros(3, dtype=torch.float64), torch.ones(3, dtype=torch.float64)), rows)
graded("cross_entropy of none", lambda x: F.cross_entropy(x, torch.zeros(0, dtype=torch.int64)), rows)
graded("cross_entropy of none, summed", lambda x: F.cross_entropy(x, torch.zeros(0, dtype=torch.int64), reduction="sum"), rows)
graded("nll_loss of none", lambda x: F.nll_loss(x, torch.zeros(0, dtype=torch.int64), reduction="none"), rows)
graded("cdist of none", torch.cdist, rows, values(2, 3))
graded("interpolate of none", lambda x: F.interpolate(x, scale_factor=2), torch.zeros(0, 2, 3, 3, dtype=torch.float64))
graded("lstm-like", lambda x, w: torch.tanh(x @ w).sum(), rows, values(3, 3))
graded("einsum of none", lambda a, b: torch.einsum("ij,jk->ik", a, b), rows, values(3, 2))

print("# gradients of gradients")
flat = values(1, 2, 4, 4)
for name, function in {
    "relu": torch.relu, "leaky_relu": F.leaky_relu, "hardtanh": F.hardtanh, "relu6": F.relu6, "max_pool1d": lambda x: F.max_pool1d(x[0], 2), "max_pool2d": lambda x: F.max_pool2d(x, 2),
    "hardshrink": F.hardshrink, "softshrink": F.softshrink, "threshold": lambda x: F.threshold(x, 0.1, 0.2), "smooth_l1": lambda x: F.smooth_l1_loss(x, torch.zeros_like(x), beta=0.1),
}.items():
    x = flat.clone().requires_grad_()
    (first,) = torch.autograd.grad(weigh(function(x)), x, create_graph=True)
    show(f"{name} first", first)
    first.sum().backward()
    show(f"{name} second", x.grad)
for name, function in {
    "relu": torch.relu, "abs": torch.abs, "leaky_relu": F.leaky_relu, "clamp": lambda x: x.clamp(-0.5, 0.5), "hardtanh": F.hardtanh, "relu6": F.relu6, "max_pool2d": lambda x: F.max_pool2d(x, 2), "amax": lambda x: x.amax(-1),
    "max": lambda x: x.max(-1)[0], "max of all": torch.max, "min": torch.min, "sort": lambda x: x.sort(-1)[0], "topk": lambda x: x.topk(2)[0], "median": lambda x: x.median(-1)[0], "cummax": lambda x: x.cummax(-1)[0],
    "avg_pool2d": lambda x: F.avg_pool2d(x, 2), "adaptive_avg_pool2d": lambda x: F.adaptive_avg_pool2d(x, 2), "adaptive_max_pool2d": lambda x: F.adaptive_max_pool2d(x, 2), "interpolate": lambda x: F.interpolate(x, scale_factor=2, mode="bilinear"),
    "hardshrink": F.hardshrink, "softshrink": F.softshrink, "threshold": lambda x: F.threshold(x, 0.1, 0.2), "maximum": lambda x: torch.maximum(x, -x), "pad": lambda x: F.pad(x[0], (1, 1), "reflect"), "l1_loss": lambda x: F.l1_loss(x, torch.zeros_like(x)),
    "where": lambda x: torch.where(x > 0, x, 2 * x), "cumsum": lambda x: x.cumsum(-1), "prelu": lambda x: F.prelu(x, double(0.2)), "max_pool1d": lambda x: F.max_pool1d(x[0], 2), "round": torch.round, "sign": torch.sign, "flip": lambda x: x.flip(0),
    "floor": torch.floor, "remainder": lambda x: x.remainder(0.3), "kthvalue": lambda x: x.kthvalue(2)[0], "quantile": lambda x: x.quantile(0.3), "norm inf": lambda x: x.norm(math.inf), "norm 1": lambda x: x.norm(1), "smooth_l1": lambda x: F.smooth_l1_loss(x, torch.zeros_like(x), beta=0.1),
    "gather": lambda x: x.gather(0, torch.zeros(1, 2, 4, 4, dtype=torch.int64)), "embedding": lambda x: F.embedding(torch.tensor([0, 1]), x.reshape(8, 4)), "index_select": lambda x: x.index_select(2, torch.tensor([1, 1])),
}.items():
    y = flat.clone().requires_grad_()
    (first,) = torch.autograd.grad(weigh(function(y * y)), y, create_graph=True)
    (first * values(1, 2, 4, 4, seed=9)).sum().backward()
    show(f"{name} of squares, second", y.grad)

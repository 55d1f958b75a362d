"""Halves are rounded once, gradients of gradients are zeros where PyTorch's are, and autocast's lists."""

HALVES = (torch.float16, torch.bfloat16)

print("# rounded once")
for dtype in HALVES:
    x = values(64).to(dtype)
    print(torch.equal(torch.sinc(x), torch.sinc(x.float()).to(dtype)), torch.sinc(x).dtype)
    print(torch.sinc(torch.tensor([1.0, 2.0, 0.0, 0.5, 1.25], dtype=dtype)).tolist())
    rows = x.reshape(8, 8)
    print(torch.equal(F.rms_norm(rows, (8,), eps=1e-5), F.rms_norm(rows.float(), (8,), eps=1e-5).to(dtype)))
    print(torch.equal(F.glu(rows), F.glu(rows.float()).to(dtype)))
    volume, kernels, bias = x.reshape(1, 1, 4, 4, 4), values(1, 2, 3, 3, 3, seed=2).to(dtype), values(2, seed=3).to(dtype)
    spread = F.conv_transpose3d(volume, kernels, bias, stride=2, padding=1)
    print(torch.equal(spread, F.conv_transpose3d(volume.double(), kernels.double(), bias.double(), stride=2, padding=1).to(dtype)))
    image = x.reshape(1, 1, 8, 8)
    for mode in ("bilinear",):
        found = F.interpolate(image, scale_factor=1.5, mode=mode)
        print(mode, found.dtype, torch.equal(found, F.interpolate(image.float(), scale_factor=1.5, mode=mode).to(dtype)))

print("# gradients of gradients")


def twice(make, *parameters):
    v = torch.tensor([[-1.0, 2.0, 1.5], [0.5, -3.0, 1.0]], requires_grad=True)
    make(v).sum().backward(create_graph=True)
    g, v.grad = v.grad, None
    for parameter in parameters:
        parameter.grad = None
    g.sum().backward()
    print(g.tolist(), v.grad.tolist(), [parameter.grad.tolist() for parameter in parameters])


weight = torch.tensor([0.25], requires_grad=True)
twice(lambda v: F.prelu(v, weight), weight)
twice(lambda v: F.prelu(v, torch.tensor([0.1, 0.2, 0.3])))
layer = nn.PReLU()
twice(layer, layer.weight)
twice(lambda v: F.adaptive_max_pool2d(v[None], 1))
twice(lambda v: F.adaptive_max_pool1d(v[None], 2))

print("# autocast")


def cast(name, function):
    x = values(4, 4).abs() + 0.1
    with torch.autocast("cpu", dtype=torch.bfloat16):
        print(name, function(x).dtype, function(x.bfloat16()).dtype)


signs = torch.ones(4)
cast("prelu", lambda x: F.prelu(x, torch.tensor([0.1], dtype=x.dtype)))
cast("poisson_nll_loss", lambda x: F.poisson_nll_loss(x, x))
cast("cosine_embedding_loss", lambda x: F.cosine_embedding_loss(x, x, signs))
cast("hinge_embedding_loss", lambda x: F.hinge_embedding_loss(x, torch.ones(4, 4)))
cast("margin_ranking_loss", lambda x: F.margin_ranking_loss(x[0], x[1], signs))
cast("triplet_margin_loss", lambda x: F.triplet_margin_loss(x, x, x))
cast("multi_margin_loss", lambda x: F.multi_margin_loss(x, torch.tensor([0, 1, 2, 3])))
texts = torch.tensor([[1, 2]])
cast("ctc_loss", lambda x: F.ctc_loss(x.reshape(4, 1, 4).log_softmax(-1).to(x.dtype), texts, (4,), (2,)))
cast("avg_pool3d", lambda x: F.avg_pool3d(x.reshape(1, 1, 2, 2, 4), 2))
cast("avg_pool2d", lambda x: F.avg_pool2d(x.reshape(1, 4, 4), 2))
cast("adaptive_avg_pool3d", lambda x: F.adaptive_avg_pool3d(x.reshape(1, 1, 2, 2, 4), 2))
cast("adaptive_max_pool3d", lambda x: F.adaptive_max_pool3d(x.reshape(1, 1, 2, 2, 4), 2))
cast("quantile", lambda x: torch.quantile(x, 0.5))
cast("nanquantile", lambda x: torch.nanquantile(x, 0.5))
cast("trace", torch.trace)
cast("grid_sample", lambda x: F.grid_sample(x.reshape(1, 1, 4, 4), torch.zeros(1, 2, 2, 2, dtype=x.dtype)))
cast("bilinear", lambda x: F.interpolate(x.reshape(1, 1, 4, 4), scale_factor=2, mode="bilinear"))

"""Second derivatives of layers that are linear in their input, or nearly: zeros where PyTorch has a second step, else refused."""


def attempt(name, function, x, power):
    """The gradient of the weighed sum of powers, and the gradient of the sum of its squares (or of itself, where it is constant)."""
    x = x.clone().requires_grad_()
    (first,) = torch.autograd.grad(weigh(function(x) ** power), x, create_graph=True)
    show(f"{name}, first", first)
    print(name, first.requires_grad)
    if first.requires_grad:
        (second,) = torch.autograd.grad(weigh(first**power), x)
        show(f"{name}, second", second)


image, line, volume = values(1, 2, 4, 5), values(2, 3, 6, seed=2), values(1, 1, 4, 4, 4, seed=3)
slope = values(2, seed=4)
grid = values(1, 3, 2, 2, seed=5) * 1.2

POOLS = {
    "avg_pool1d": (lambda x: F.avg_pool1d(x, 2), line),
    "avg_pool2d": (lambda x: F.avg_pool2d(x, 2), image),
    "avg_pool2d of overlapping windows": (lambda x: F.avg_pool2d(x, 3, 1, 1, count_include_pad=False), image),
    "avg_pool2d with a divisor": (lambda x: F.avg_pool2d(x, 2, ceil_mode=True, divisor_override=3), image),
    "avg_pool3d": (lambda x: F.avg_pool3d(x, 2), volume),
    "adaptive_avg_pool1d": (lambda x: F.adaptive_avg_pool1d(x, 4), line),
    "adaptive_avg_pool2d": (lambda x: F.adaptive_avg_pool2d(x, (3, 2)), image),
    "adaptive_avg_pool2d of one image": (lambda x: F.adaptive_avg_pool2d(x, (3, None)), image[0]),
    "adaptive_avg_pool2d to one number": (lambda x: F.adaptive_avg_pool2d(x, 1), image),
    "adaptive_avg_pool3d": (lambda x: F.adaptive_avg_pool3d(x, (3, 2, None)), volume),
    "interpolate by area": (lambda x: F.interpolate(x, (3, 3), mode="area"), image),
    "max_pool1d": (lambda x: F.max_pool1d(x, 2), line),
    "max_pool2d": (lambda x: F.max_pool2d(x, 2, 1), image),
    "max_pool3d": (lambda x: F.max_pool3d(x, 2), volume),
}
PADS = {
    f"{mode} pad of {x.ndim - 2}": (lambda x, mode=mode, pads=pads: F.pad(x, pads, mode=mode), x)
    for mode in ("constant", "reflect", "replicate", "circular")
    for x, pads in ((line, (1, 2)), (image, (2, 0, 1, 3)), (volume, (1, 1, 0, 2, 2, 1)))
}
OTHERS = {
    "prelu": (lambda x: F.prelu(x, slope), image),
    "prelu of the slope": (lambda x: F.prelu(image, x), slope),
    "nll_loss": (lambda x: F.nll_loss(x, torch.tensor([1, 0, 2]), reduction="none"), line[0, :, :3]),
    "nll_loss of images": (lambda x: F.nll_loss(x, torch.ones(1, 4, 5, dtype=torch.long)), image),
    "unfold": (lambda x: F.unfold(x, 2), image),
    "pixel_shuffle": (lambda x: F.pixel_shuffle(x, 2), image.reshape(1, 8, 5, 1)),
}
OTHERS |= {
    f"grid_sample of the {what}, {mode}, {padding}": (
        lambda x, at=at, mode=mode, padding=padding: F.grid_sample(
            x if at == 0 else image, x if at == 1 else grid, mode=mode, padding_mode=padding, align_corners=False
        ),
        (image, grid)[at],
    )
    for at, what in enumerate(("image", "grid"))
    for mode in ("bilinear",)
    for padding in ("zeros", "border", "reflection")
}

for name, (function, x) in (POOLS | PADS | OTHERS).items():
    attempt(name, function, x, 2)
for name, (function, x) in (POOLS | PADS | OTHERS).items():
    # What PyTorch calls a step that leads nowhere is no step here.
    if not name.startswith("grid_sample"):
        attempt(f"{name}, alone", function, x, 1)

print("# one walk on")
x = image.clone().requires_grad_()
pooled = F.pad(F.avg_pool2d(x, 2), (1, 1, 1, 0), mode="reflect")
(first,) = torch.autograd.grad(pooled.sum(), x, create_graph=True)
(first.square().sum() + x.sum()).backward()
show("backward through both", x.grad)

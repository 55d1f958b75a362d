"""What PyTorch does with whole numbers: powers, sums of exponentials, convolutions and pools."""

WHOLE = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool)


def told(name, function):
    try:
        result = function()
        print(name, result.dtype, list(result.shape), result.flatten().tolist())
    except Exception:
        print(name, "is refused")


def counted(*shape, dtype, most=5):
    return (torch.arange(math.prod(shape)) % most).reshape(shape).to(dtype)


print("# negative powers")
bases = torch.tensor([2, -1, 1, 0, 3, -2])
for dtype in WHOLE:
    for exponent in (torch.tensor(-3), torch.tensor([-3]), torch.tensor([-3, -2, -1, -5, -1, 0]), torch.tensor(2), -1, 2):
        told(f"{dtype} ** {exponent}", lambda: bases.to(dtype) ** exponent)
    told(f"{dtype} pow_", lambda: bases.clone().to(dtype).clone().pow_(torch.tensor([-4])) if dtype != torch.bool else bases)
told("2 ** x", lambda: 2 ** torch.tensor([3, 0, -1]))

print("# sums of exponentials")
for dtype in WHOLE:
    told(f"logsumexp {dtype}", lambda: torch.logsumexp(counted(2, 3, dtype=dtype), 1))
    told(f"x.logsumexp {dtype}", lambda: counted(2, 3, dtype=dtype).logsumexp((0, 1), keepdim=True))
    told(f"special.logsumexp {dtype}", lambda: torch.special.logsumexp(counted(2, 3, dtype=dtype), 0))

print("# convolutions")
SIZES = {"conv1d": ((2, 4, 7), (6, 2, 3)), "conv2d": ((2, 4, 5, 6), (6, 2, 2, 3)), "conv3d": ((1, 4, 3, 4, 3), (2, 2, 2, 2, 1))}
for dtype in WHOLE:
    for name, (images, kernels) in SIZES.items():
        x, w, conv = counted(*images, dtype=dtype), counted(*kernels, dtype=dtype, most=3), getattr(F, name)
        bias = counted(kernels[0], dtype=dtype)
        told(f"{name} {dtype}", lambda: conv(x, w, groups=2))
        told(f"{name} {dtype}, bias", lambda: conv(x, w, bias, stride=2, padding=1, groups=2))
        if dtype == torch.int64:
            told(f"{name} {dtype}, dilation", lambda: conv(x, w, bias, padding=2, dilation=2, groups=2))
        told(f"{name} {dtype}, one", lambda: conv(x[0], w, groups=2))
        told(f"{name} {dtype}, same", lambda: conv(x, w, padding="same", groups=2))
        told(f"{name} {dtype}, too large", lambda: conv(x[..., :1, :1], w, groups=2))
told("of two dtypes", lambda: F.conv1d(torch.ones(1, 1, 3), torch.ones(1, 1, 1, dtype=torch.int64)))
told("wraps around", lambda: F.conv1d(torch.full((1, 1, 3), 100, dtype=torch.int8), torch.full((1, 1, 2), 3, dtype=torch.int8)))

print("# pools")
for dtype in (torch.int64, torch.int32, torch.int8, torch.uint8, torch.bool):
    x = counted(2, 4, 6, dtype=dtype)
    x = x - 3 if dtype in (torch.int64, torch.int32, torch.int8) else x
    told(f"max_pool2d {dtype}", lambda: F.max_pool2d(x, 2))
    told(f"max_pool2d {dtype}, padded", lambda: F.max_pool2d(x, 3, 2, 1))
    told(f"avg_pool2d {dtype}", lambda: F.avg_pool2d(x, 2))
    told(f"avg_pool2d {dtype}, padded", lambda: F.avg_pool2d(x, 3, 2, 1))
    told(f"adaptive_avg_pool2d {dtype}", lambda: F.adaptive_avg_pool2d(x, 2))
    told(f"lp_pool2d {dtype}", lambda: F.lp_pool2d(x, 2, 2))

print("# functions")
for dtype in (*WHOLE, torch.float32):
    told(f"logit {dtype}", lambda: torch.logit(counted(4, dtype=dtype)))
    if dtype != torch.bool:
        told(f"softsign {dtype}", lambda: F.softsign(counted(4, dtype=dtype)))
    told(f"nanmean {dtype}", lambda: torch.nanmean(counted(4, dtype=dtype)))
    found = torch.aminmax(counted(2, 4, dtype=dtype), dim=1)
    print(found.min.tolist(), found.max.tolist(), torch.aminmax(counted(4, dtype=dtype)).max.item())

print("# bools in place")
for name, change in {
    "add_": lambda it: it.add_(1),
    "mul_": lambda it: it.mul_(2),
    "pow_": lambda it: it.pow_(torch.tensor([2, 1])),
    "bitwise_or_": lambda it: it.bitwise_or_(True),
    "bitwise_and_ of ints": lambda it: it.bitwise_and_(1),
    "logical_not_": lambda it: it.logical_not_(),
    "copy_": lambda it: it.copy_(torch.tensor([2, 0])),
    "fill_": lambda it: it.fill_(2),
    "masked_fill_": lambda it: it.masked_fill_(it, False),
    "x[0] = 3": lambda it: it.__setitem__(0, 3) or it,
    "eq_": lambda it: it.eq_(1),
    "add(out=)": lambda it: torch.add(torch.tensor([1, 2]), 1, out=it),
}.items():
    told(name, lambda: change(torch.tensor([True, False])))

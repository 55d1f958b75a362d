"""What autocast leaves alone, and what it lifts: functions that are made of products, pads by reflection and repetition, factors of matrices."""

for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16):
    print("#", dtype)
    x = torch.arange(16.0).reshape(1, 1, 4, 4).to(dtype)
    m = (torch.arange(9.0).reshape(3, 3) + 3 * torch.eye(3)).to(dtype)
    volume = x.reshape(1, 1, 2, 2, 4)
    calls = {
        "fold": lambda: F.fold(x.reshape(1, 4, 4), (3, 3), 2),
        "unfold": lambda: F.unfold(x, 2),
        "tensordot": lambda: torch.tensordot(m, m, dims=1),
        "inner": lambda: torch.inner(m, m),
        "bilinear": lambda: F.bilinear(m, m, m[None]),
        "matrix_power": lambda: torch.matrix_power(m, 3),
        "lstsq": lambda: torch.linalg.lstsq(m, m)[0],
        "triangular_solve": lambda: torch.triangular_solve(m, m)[0],
        "constant": lambda: F.pad(x, (1, 1, 1, 1)),
        "circular": lambda: F.pad(x, (1, 1, 1, 1), mode="circular"),
    }
    for mode in ("reflect", "replicate"):
        calls[mode + " 1"] = lambda mode=mode: F.pad(x[0], (1, 1), mode=mode)
        calls[mode + " 2"] = lambda mode=mode: F.pad(x, (1, 1, 1, 1), mode=mode)
        calls[mode + " 3"] = lambda mode=mode: F.pad(volume, (1, 1, 1, 1, 1, 1), mode=mode)
    for half in (torch.bfloat16, torch.float16):
        for name, call in calls.items():
            with torch.autocast("cpu", dtype=half):
                try:
                    print(half, name, call().dtype)
                except RuntimeError:
                    print(half, name, "is refused")

print("# convolutions of halves that are not those of autocast")
DTYPES = (torch.float16, torch.bfloat16, torch.float32)
for half in (torch.bfloat16, torch.float16):
    for dims in (1, 2, 3):
        sizes = [4] * dims
        for name, kernels in ((f"conv{dims}d", torch.ones(3, 2, *[2] * dims)), (f"conv_transpose{dims}d", torch.ones(2, 3, *[2] * dims))):
            found = set()
            for a in DTYPES:
                for b in DTYPES:
                    for bias in (None, torch.ones(3), torch.ones(3, dtype=a)):
                        with torch.autocast("cpu", dtype=half):
                            for samples in (torch.ones(1, 2, *sizes, dtype=a), torch.ones(2, *sizes, dtype=a)):
                                found.add(str(getattr(F, name)(samples, kernels.to(b), bias).dtype))
            print(half, name, sorted(found))
volume, kernels, bias = (it.float().requires_grad_() for it in (values(1, 2, 3, 3, 3), values(2, 3, 2, 2, 2, seed=2), values(3, seed=3)))
for function, weight in ((F.conv3d, kernels.transpose(0, 1)), (F.conv_transpose3d, kernels)):
    with torch.autocast("cpu"):
        result = function(volume.half(), weight, bias)
    print(torch.autograd.grad(result.float().sum(), [volume, kernels, bias])[2], result.dtype)

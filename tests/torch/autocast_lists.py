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

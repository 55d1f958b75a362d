"""What functions make on the way stands on the device of their operands; on meta, shapes come out."""


def shapes(name, function):
    try:
        result = function()
        print(name, [(tuple(it.shape), str(it.dtype), it.device.type) for it in tensors_of(result)])
    except Exception as error:
        print(name, type(error).__name__)


x, m = torch.ones(1, 2, 4, 4, device="meta"), torch.ones(4, 5, device="meta")
v, n = torch.ones(6, device="meta"), torch.ones(6, dtype=torch.int64, device="meta")
print("# images")
for mode in ("nearest", "nearest-exact", "bilinear", "bicubic", "area"):
    shapes(mode, lambda: F.interpolate(x, scale_factor=2, mode=mode))
shapes("antialias", lambda: F.interpolate(x, size=(3, 2), mode="bilinear", antialias=True))
shapes("linear", lambda: F.interpolate(x[0], scale_factor=2, mode="linear"))
shapes("trilinear", lambda: F.interpolate(x[None], scale_factor=2, mode="trilinear"))
shapes("Upsample", lambda: nn.Upsample(scale_factor=2)(x))
shapes("affine_grid", lambda: F.affine_grid(torch.ones(1, 2, 3, device="meta"), (1, 1, 3, 4)))
shapes("affine_grid of one", lambda: F.affine_grid(torch.ones(1, 2, 3, device="meta"), (1, 1, 1, 1)))
shapes("fold", lambda: F.fold(torch.ones(1, 8, 4, device="meta"), (4, 4), 2, stride=2))
shapes("conv_transpose3d", lambda: F.conv_transpose3d(x, torch.ones(1, 2, 2, 2, 2, device="meta")[0][None].expand(1, 2, 2, 2, 2)))
print("# statistics")
shapes("quantile", lambda: torch.quantile(m, 0.5, dim=1))
shapes("quantiles", lambda: torch.quantile(m, torch.tensor([0.1, 0.5], device="meta"), dim=1))
shapes("mode", lambda: tuple(torch.mode(m)))
shapes("mode of a number", lambda: tuple(torch.mode(v[0])))
shapes("kthvalue of a number", lambda: tuple(torch.kthvalue(v[0], 1)))
shapes("kthvalue", lambda: tuple(torch.kthvalue(m, 2)))
shapes("combinations", lambda: torch.combinations(v, 2))
shapes("pdist", lambda: F.pdist(m))
print("# powers and parts")
shapes("vander", lambda: torch.vander(v, 3))
shapes("linalg.vander", lambda: torch.linalg.vander(v, N=3))
shapes("select_scatter", lambda: torch.select_scatter(m, torch.ones(5, device="meta"), 0, 1))
shapes("diagonal_scatter", lambda: torch.diagonal_scatter(m, torch.ones(4, device="meta")))
shapes("fill_diagonal_", lambda: torch.ones(4, 4, device="meta").fill_diagonal_(2.0))

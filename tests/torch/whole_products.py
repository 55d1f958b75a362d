"""Products of whole numbers keep their dtype and wrap around: batches added up, bilinear maps, inner products, powers, transposed convolutions."""

WHOLE = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool)


def told(name, function):
    try:
        result = function()
        print(name, result.dtype, list(result.shape), result.flatten().tolist())
    except RuntimeError:
        print(name, "is refused")


for dtype in WHOLE:
    print("#", dtype)

    def counted(*shape):
        return (torch.arange(math.prod(shape)) * 37 + 11).reshape(shape).to(dtype)

    told("addbmm", lambda: torch.addbmm(counted(2, 3), counted(4, 2, 5), counted(4, 5, 3)))
    told("addbmm with factors", lambda: torch.addbmm(counted(2, 3), counted(4, 2, 5), counted(4, 5, 3), beta=2, alpha=3))
    told("baddbmm", lambda: torch.baddbmm(counted(2, 2, 3), counted(2, 2, 5), counted(2, 5, 3), beta=2, alpha=3))
    told("bilinear", lambda: F.bilinear(counted(2, 3), counted(2, 4), counted(5, 3, 4), counted(5)))
    told("bilinear without bias", lambda: F.bilinear(counted(2, 3), counted(2, 4), counted(5, 3, 4)))
    told("inner", lambda: torch.inner(counted(2, 3), counted(4, 3)))
    told("inner of vectors", lambda: counted(3).inner(counted(3)))
    told("inner of a vector and a matrix", lambda: torch.inner(counted(3), counted(4, 3)))
    told("inner with a number", lambda: torch.inner(counted(3), counted(1)[0]))
    told("inner of a batch", lambda: torch.inner(counted(2, 2, 3), counted(2, 3)))
    told("inner of sizes", lambda: torch.inner(counted(2, 2), counted(2, 3)))
    for n in (0, 1, 2, 3, 5):
        told(f"matrix_power {n}", lambda: torch.matrix_power(counted(3, 3), n))
    told("matrix_power -1", lambda: torch.matrix_power(counted(3, 3), -1))
    told("matrix_power of a batch", lambda: counted(2, 2, 2).matrix_power(2))
    told("avg_pool3d", lambda: F.avg_pool3d(counted(1, 1, 4, 2, 2), 2))
    told("conv_transpose1d", lambda: F.conv_transpose1d(counted(1, 2, 3), counted(2, 3, 2), counted(3)))
    told("conv_transpose2d", lambda: F.conv_transpose2d(counted(1, 2, 3, 2), counted(2, 2, 2, 2), counted(2)))
    told("conv_transpose2d of one image", lambda: F.conv_transpose2d(counted(2, 3, 2), counted(2, 2, 2, 2)))
    told("conv_transpose2d in steps", lambda: F.conv_transpose2d(counted(1, 2, 3, 2), counted(2, 2, 2, 3), stride=(2, 3), padding=1, output_padding=1))
    told("conv_transpose2d with more padding", lambda: F.conv_transpose2d(counted(1, 2, 3, 2), counted(2, 2, 1, 2), stride=2, padding=1))
    told("conv_transpose2d in groups", lambda: F.conv_transpose2d(counted(1, 4, 3, 2), counted(4, 2, 2, 2), groups=2, dilation=2))
    told("conv_transpose3d", lambda: F.conv_transpose3d(counted(1, 1, 2, 2, 2), counted(1, 2, 2, 2, 2), counted(2), stride=2))
show("inner of floats", torch.inner(values(2, 3), values(4, 3, seed=2)))
graded("gradient of inner", lambda a, b: torch.inner(a, b), values(2, 2, 3), values(4, 3, seed=2))

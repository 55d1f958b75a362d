"""Images of another size: smoothed, of bytes, by a factor that is computed again."""

whole = torch.tensor([[0, 100], [200, 255]], dtype=torch.uint8)[None, None]
image = (values(1, 3, 7, 9) * 127 + 128).to(torch.uint8)
print("# bytes")
for mode in ("bilinear", "bicubic"):
    show(mode, F.interpolate(whole, scale_factor=2, mode=mode))
    show(f"{mode}, smaller", F.interpolate(image, size=(4, 5), mode=mode))
    show(f"{mode}, larger", F.interpolate(image, size=(11, 10), mode=mode))
    show(f"{mode}, corners", F.interpolate(image, size=(11, 10), mode=mode, align_corners=True))
    show(f"{mode}, smoothed", F.interpolate(image, size=(3, 4), mode=mode, antialias=True))
show("nearest", F.interpolate(image, size=(3, 4)))
for mode, x in (("linear", image[0]), ("trilinear", image[None]), ("bilinear", image.long()), ("nearest", image.int())):
    try:
        F.interpolate(x, size=(5,) * (x.ndim - 2), mode=mode)
        print(mode, x.dtype, "gives a result")
    except NotImplementedError:
        print(mode, x.dtype, "is refused")

print("# smoothed")
x = values(1, 2, 7, 9)
for mode in ("bilinear", "bicubic"):
    for size in ((3, 4), (2, 9), (7, 3), (10, 12), (1, 1)):
        graded(f"{mode} {size}", lambda x: F.interpolate(x, size=size, mode=mode, antialias=True), x)
    graded(f"{mode}, corners", lambda x: F.interpolate(x, size=(3, 4), mode=mode, antialias=True, align_corners=True), x)
    graded(f"{mode}, factor", lambda x: F.interpolate(x, scale_factor=0.4, mode=mode, antialias=True), x)
for mode, x in (("nearest", x), ("linear", x[0]), ("area", x)):
    try:
        F.interpolate(x, scale_factor=2, mode=mode, antialias=True)
        print(mode, "gives a result")
    except ValueError:
        print(mode, "is refused")

print("# a factor computed again")
x = values(1, 1, 5, 7)
for again in (True, False, None):
    layer = nn.Upsample(scale_factor=1.5, mode="bilinear", recompute_scale_factor=again)
    show(f"Upsample, {again}", layer(x))

print("# what is infinite spreads to its neighbours only")
x = values(1, 1, 5, 7)
x[0, 0, 2, 3] = math.inf
for mode in ("bilinear", "bicubic"):
    show(mode, F.interpolate(x, scale_factor=2, mode=mode).isfinite().sum())
    show(f"{mode}, smaller", F.interpolate(x, size=(4, 5), mode=mode).isfinite())

"""grid_sample with mode="bicubic", and truth values that are no numbers."""

image = values(2, 2, 4, 5)
grid = values(2, 3, 4, 2, seed=3) * 1.4
for padding in ("zeros", "border", "reflection"):
    for corners in (True, False):
        sample = lambda x, g: F.grid_sample(x, g, mode="bicubic", padding_mode=padding, align_corners=corners)
        graded(f"{padding}, {corners}", sample, image, grid)
print("# truth values")
mask, count = torch.tensor([True, False]), torch.tensor([3, 4])


refused("1 - mask", lambda: 1 - mask)
refused("mask - 1", lambda: mask - 1)
refused("mask - mask", lambda: mask - mask)
refused("count - mask", lambda: count - mask)
refused("mask - count", lambda: mask - count)
refused("count - True", lambda: count - True)
refused("1.0 - mask", lambda: 1.0 - mask)
refused("-mask", lambda: -mask)
show("~mask", ~mask)
show("count + mask", count + mask)
show("count * mask", count * mask)

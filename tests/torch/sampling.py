"""Images looked up at places of a grid."""

image, volume = values(2, 3, 4, 5), values(2, 2, 3, 4, 3)
places, depths = values(2, 3, 4, 2, seed=3) * 1.6, values(2, 2, 3, 2, 3, seed=4) * 1.4
edges = torch.tensor([-1.0, -0.75, 0.0, 0.2, 0.75, 1.0, 3.7, -5.1], dtype=torch.float64)
corners = torch.stack(torch.meshgrid(edges, edges, indexing="ij"), -1).unsqueeze(0)

for mode in ["bilinear", "nearest"]:
    for padding in ["zeros", "border", "reflection"]:
        for align in [False, True]:
            print("#", mode, padding, align)
            for data, grid in [(image, places), (volume, depths)]:
                data, grid = data.clone().requires_grad_(), grid.clone().requires_grad_()
                found = F.grid_sample(data, grid, mode, padding, align)
                show("found", found)
                weigh(found).backward()
                show("data", data.grad)
                show("grid", grid.grad)
            show("corners", F.grid_sample(image[:1], corners, mode=mode, padding_mode=padding, align_corners=align))
show("one", F.grid_sample(values(1, 1, 1, 1), values(1, 2, 2, 2), padding_mode="reflection", align_corners=True))
show("float", F.grid_sample(image.float(), places.float(), align_corners=False))

print("# affine")
theta, cube = values(2, 2, 3), values(1, 3, 4)
for align in [False, True]:
    theta.requires_grad_()
    theta.grad = None
    grid = F.affine_grid(theta, [2, 3, 4, 5], align)
    show("grid", grid)
    show("single", F.affine_grid(theta, (2, 1, 1, 3), align_corners=align))
    show("cube", F.affine_grid(cube, torch.Size([1, 2, 2, 3, 2]), align_corners=align))
    weigh(F.grid_sample(image, grid, align_corners=align)).backward()
    show("theta", theta.grad)
turned = torch.tensor([[[0.0, -1.0, 0.0], [1.0, 0.0, 0.0]]], dtype=torch.float64)
square = values(1, 1, 3, 3)
show("turned", F.grid_sample(square, F.affine_grid(turned, [1, 1, 3, 3], True), align_corners=True))

print("# mistakes")
for wrong in [
    lambda: F.grid_sample(image, places.float(), align_corners=False),
    lambda: F.affine_grid(theta, [2, 3, 4], False),
    lambda: F.affine_grid(theta.long(), [2, 3, 4, 5], False),
]:
    try:
        wrong()
        print("no error")
    except (RuntimeError, ValueError, NotImplementedError) as error:
        print(type(error).__name__)

# What is written through `.data` and `detach()` of a view leaves what it is a view of the leaf, or the result, that it was.
for kind in ("data", "detach"):
    off = (lambda it: it.data) if kind == "data" else (lambda it: it.detach())
    w = torch.arange(6.0).reshape(3, 2).requires_grad_(True)
    held = w * w
    off(w[0]).add_(1)
    off(w[1:]).mul_(2)
    off(w.t())[0] += 5
    off(w.view(-1)[::2]).sub_(0.5)
    off(w)[2, 1] = 7
    with torch.no_grad():
        z = w[1]
    off(z)[:] = 3
    off(off(w[0])).mul_(2)
    (w * w).sum().backward()
    show(f"{kind}: a leaf", [w, w.is_leaf, w.grad])
    layer = nn.Linear(2, 2)
    held = layer(torch.ones(1, 2)), layer.weight * layer.weight
    off(layer.weight[0]).fill_(0.5)
    off(layer.weight).t()[1] = 2
    show(f"{kind}: a parameter", [layer.weight[:, 1], layer.weight[0], layer.weight.is_leaf])
    a = torch.ones(3, 2, requires_grad=True)
    y = a * 2
    off(y[1]).mul_(3)
    y.sum().backward()
    show(f"{kind}: a result", [y, y.grad_fn is None, a.grad])

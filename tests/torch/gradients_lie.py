# The gradient of a leaf lies as the leaf does.


def lies(name, w, make):
    w.grad = None
    make().backward()
    print(name, w.grad.stride(), w.grad.is_contiguous())
    show(name, w.grad)


w = values(3, 2).float().requires_grad_()
x = values(3, 4, seed=2).float()
lies("sum", w, lambda: w.sum() * 2)
lies("expanded", w, lambda: w.expand(4, 3, 2).sum())
lies("row", w, lambda: w[0].sum())
lies("column", w, lambda: w[:, 1].sum())
lies("transposed", w, lambda: (w.t() @ x).square().sum())
lies("turned", w, lambda: (w.t() * values(2, 3).float()).sum())
lies("flipped", w, lambda: (w.flip(0) * w).sum())
t = values(2, 3).float().t().requires_grad_()
print(t.stride(), t.is_leaf)
lies("turned leaf", t, lambda: t.sum())
lies("turned leaf times", t, lambda: (t * values(3, 2).float()).sum())
p = values(2, 3, 4).float().permute(2, 0, 1).requires_grad_()
lies("permuted leaf", p, lambda: p.square().sum())
w.grad = None
w.sum().backward()
w.grad.view(-1)[3] = 7.0
show("written", w.grad)
w.sum().backward()
print(w.grad.stride())
show("added", w.grad)
w.grad = None
w.sum().backward(create_graph=True)
print(w.grad.requires_grad)

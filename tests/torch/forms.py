# Forms of ops beside the one that their name stands for, and numbers in text.
loss = torch.tensor(0.5, requires_grad=True) * 2
print(f"loss: {loss}", "{} {:>8}|".format(loss, loss), f"{torch.tensor(3)} {torch.tensor(True)} {loss:.3f}", f"{torch.tensor(0.1)}")
print(str(loss.detach()), "%s" % loss.detach(), f"{torch.tensor([1.0])}", f"{loss.detach()!r}", [torch.tensor(1)])
print(torch.max(torch.tensor([1.0, 2.0]), 0))

x = torch.arange(6).view(2, 3)
a, b = torch.tensor([1, 5, 2]), torch.tensor([3, 2, 2])
print(torch.max(a, b), torch.min(a, b), a.max(b), torch.max(a, other=b), torch.max(x, 1).values, torch.max(x))
g = torch.tensor([1.0, 5.0, 2.0], requires_grad=True)
torch.max(g, torch.tensor([3.0, 2.0, 2.0])).sum().backward()
print(g.grad)
print(torch.fliplr(x), torch.flipud(x), torch.flip(x, [0, 1]))
try:
    torch.fliplr(torch.arange(3))
except RuntimeError as error:
    print(error)
print(torch.where(x > 2), (x > 2).nonzero(as_tuple=True), torch.nonzero(x > 4), torch.nonzero(x > 4, as_tuple=False))
print(torch.where(torch.tensor(True)), x[torch.where(x > 2)], torch.where(x > 2, x, -x))
print(torch.zeros(0, 3).unbind(), torch.zeros(1, 3).unbind(), torch.ones(2).chunk(1), torch.ones(2).split(5))
for mode in ("floor", "trunc", None):
    print(torch.div(torch.tensor([-7, 7, -8, 0]), 2, rounding_mode=mode), torch.tensor([-7.0, 7.5]).div(torch.tensor([2.0, -2.0]), rounding_mode=mode))
print(torch.div(torch.tensor([-7, 7], dtype=torch.int32), torch.tensor([2, 2], dtype=torch.int32), rounding_mode="trunc").dtype)
try:
    torch.div(a, 2, rounding_mode="up")
except RuntimeError as error:
    print(error)
print(torch.repeat_interleave(torch.tensor([1, 2, 3]), torch.tensor([2, 0, 1])), x.repeat_interleave(torch.tensor([1, 2]), dim=0), x.repeat_interleave(2))
print(torch.repeat_interleave(torch.tensor([2, 0, 1])), x.repeat_interleave(torch.tensor([2]), dim=1))
r = torch.tensor([1.0, 2.0], requires_grad=True)
(r.repeat_interleave(torch.tensor([3, 1])) * torch.arange(4.0)).sum().backward()
print(r.grad)
image, kernel = torch.arange(16.0).view(1, 1, 4, 4), torch.arange(4.0).view(1, 1, 2, 2)
print(F.conv2d(image, kernel, padding="same"), F.conv2d(image, kernel, padding="valid"), F.conv2d(image, kernel, None, 1, "same", 2))
print(F.conv1d(image[0], torch.ones(2, 4, 2), padding="same").shape, F.conv1d(torch.ones(1, 1, 3), torch.ones(1, 1, 3), padding="same"))
try:
    F.conv2d(image, kernel, padding="same", stride=2)
except RuntimeError as error:
    print(error)
print(isinstance(torch.__version__, str))
print(torch.LongTensor([1, 2]), torch.FloatTensor([1, 2]), torch.IntTensor([1, 2]), torch.BoolTensor([1, 0]), torch.DoubleTensor([1, 2]), torch.ByteTensor([[1], [2]]))
print(torch.LongTensor(2, 3).shape, torch.FloatTensor(4).shape, torch.tensor([1.7]).type(torch.LongTensor), torch.tensor([1]).type("torch.FloatTensor"))
print(torch.isin(x, torch.tensor([2, 3])), torch.isin(a, 2), torch.isin(a, torch.tensor([2]), invert=True))
for rows in ([[1.0, 2.0], [3.0, 4.0]], [[0.0, 2.0, 1.0], [1.0, 1.0, 0.0], [4.0, 0.0, 3.0]], [[1.0, 2.0], [2.0, 4.0]]):
    m = torch.tensor(rows, requires_grad=True)
    print(torch.det(m).item(), torch.linalg.det(m).item())
m = torch.tensor([[0.0, 2.0, 1.0], [1.0, 1.0, 0.0], [4.0, 0.0, 3.0]], requires_grad=True)
torch.det(m).backward()
print(m.grad)
m.grad = None
print(torch.inverse(m).detach())
(torch.inverse(m) * torch.arange(9.0).view(3, 3)).sum().backward()
print(m.grad)
print(torch.logspace(0, 2, 3).tolist(), torch.logspace(-3, 3, 7).tolist(), torch.logspace(0, 3, 4, base=2).tolist(), torch.logspace(0, 1, 5).tolist())
for bounds in ({"min": 0.0}, {"max": 1.0}, {"min": 0.0, "max": 1.0}):
    c = torch.tensor([-1.0, 0.0, 0.5, 1.0, 2.0], requires_grad=True)
    c.clamp(**bounds).sum().backward()
    print(c.grad)
h = torch.tensor([-1.0, 0.0, 0.5, 1.0, 6.0], requires_grad=True)
(F.relu6(h) + F.hardtanh(h) + torch.clip(h, 0, 1)).sum().backward()
print(h.grad, torch.clamp(torch.tensor([-1.0, float("nan")]), min=0.0), torch.clamp(torch.tensor([-1.0, 3.0]), max=0.0))

# Mistakes that raise.
for make in (
    lambda: nn.BCELoss()(torch.tensor([2.3, -1.2]), torch.tensor([1.0, 0.0])),
    lambda: F.binary_cross_entropy(torch.tensor([0.3]), torch.tensor([2.0])),
    lambda: nn.Embedding(3, 2)(torch.tensor([-1])),
    lambda: F.embedding(torch.tensor([3]), torch.zeros(3, 2)),
    lambda: torch.index_select(torch.zeros(3), 0, torch.tensor([-1])),
):
    try:
        print(make())
    except (RuntimeError, IndexError) as error:
        print(type(error).__name__)
print(nn.BCELoss()(torch.tensor([0.0, 1.0, 0.5]), torch.tensor([0.0, 1.0, 1.0])))

# Methods under all the names of their functions, also in place.
for name in "absolute arccos arccosh arcsin arcsinh arctan arctanh fix negative".split():
    v = torch.tensor([0.5, -0.25])
    print(name, getattr(v, name)(), getattr(v, name + "_")(), v)
for name in "arctan2 greater greater_equal less less_equal multiply not_equal subtract".split():
    v, o = torch.tensor([0.5, -0.25]), torch.tensor([0.5, 2.0])
    print(name, getattr(v, name)(o), getattr(v, name + "_")(o), v)
v = torch.tensor([0.5, -0.25, 3.0])
print(v.clip(0, 1), v.clip(max=torch.tensor([0.0, 1.0, 2.0])), v.inner(v), v.argwhere(), v.subtract(v, alpha=2), v.subtract_(v, alpha=3).clip_(-1), v)
print([name in dir(v) for name in "clip view ravel relu_ clip_ scatter_add_".split()])

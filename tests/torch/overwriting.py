"""Ops in place: whoever shares the elements sees the change, and nobody else does."""

import torch.nn.functional as F


def tell(name, *values):
    print(name, *(it.tolist() for it in values))


x = torch.arange(6.0).view(2, 3)
x += 1
x -= torch.tensor([1.0, 2.0, 3.0])
x *= torch.tensor([[2.0], [-1.0]])
x /= 4
x **= 2
tell("operators", x)

y = x
y += 1
tell("another name", x, y)
part = x[0]
flat = x.view(-1)
x += 1
tell("views", x, part, flat)
part += 10
flat -= 1
tell("through views", x, part, flat)
del part, flat
kept = x.clone()
x *= 3
tell("a copy stays", x, kept)
kept = x + 0
x += 1
tell("a result stays", x, kept)
row = x.expand(2, 2, 3)
x += 1
tell("expanded", x, row)
x += x
tell("itself", x)
x -= x.T.reshape(2, 3)
tell("of itself", x)

n = torch.tensor([7, -7, 5])
n += 1
n //= 2
n *= torch.tensor([1, 2, 3])
n <<= 1
tell("integers", n)
b = torch.tensor([True, False, True])
b &= torch.tensor([True, True, False])
b |= torch.tensor([False, True, False])
tell("bools", b)
for wrong in (
    lambda: n.add_(1.5),
    lambda: n.div_(2),
    lambda: x.add_(torch.ones(3, 2, 3)),
):
    try:
        wrong()
        print("no error")
    except RuntimeError:
        tell("unchanged", n, x)

z = torch.tensor([-1.0, 0.5, 2.0])
z.relu_()
z.add_(torch.tensor(1.0), alpha=2)
z.clamp_(max=3.0).mul_(2).sqrt_()
tell("methods", z)
F.relu(z.neg_(), inplace=True)
tell("of a layer", z)
z.fill_(3)
z[1:].fill_(4)
tell("filled", z)
z.copy_(torch.tensor([1, 2, 3]))
z[:2].copy_(torch.tensor(9.0))
tell("copied", z)
z.copy_(z.flip(0))
tell("turned", z)
z.zero_()
tell("zero", z)
n.zero_()
n.fill_(5)
n.copy_(torch.tensor([1.9, -1.9, 2.5]))
tell("whole", n)

w = torch.nn.Parameter(torch.tensor([1.0, 2.0, 3.0]))
for refused in (lambda: w.add_(1), lambda: w.zero_(), lambda: w.copy_(z)):
    try:
        refused()
        print("no error")
    except RuntimeError:
        tell("a leaf stays", w.detach())
with torch.no_grad():
    w += 1
    w.mul_(2)
    w.sub_(torch.ones(3), alpha=0.5)
(w * w).sum().backward()
w.grad += 1
tell("a leaf", w.detach(), w.grad)
seen = w.grad
(w * w).sum().backward()
tell("summed gradient", w.grad, seen)
w.data += 1
w.data.mul_(2)
outside = w.detach()
with torch.no_grad():
    w += 1
tell("data", w.detach(), outside)
print(w.requires_grad, w.is_leaf)

v = torch.tensor([1.0, 2.0], requires_grad=True)
u = v * 3
u += 1
u *= v
u.sum().backward()
tell("on the tape", u.detach(), v.grad)
t = torch.tensor([1.0, 2.0])
s = (v * t).sum()
t = t + 0
t += 5
s.backward()
tell("saved", v.grad, t)

a = torch.zeros(3)
shared = a.numpy()
a += 1
shared[0] = 5
a *= 2
tell("numpy", a, shared)
held = [a, a]
held[0] += 1
tell("held twice", *held)


def grow(it):
    it += 1
    return it


c = torch.zeros(2)
tell("argument", grow(c), c, grow(grow(c)), c)
acc = torch.zeros(3)
for i in range(4):
    acc += torch.full((3,), float(i))
    acc.div_(2)
tell("loop", acc)
opt = torch.optim.SGD([w], lr=0.1, momentum=0.9)
adam = torch.optim.Adam([w], lr=0.1)
before = w.detach().clone()
alias = w.detach()
for step in range(3):
    (w * w).sum().backward()
    opt.step()
    adam.step()
    opt.zero_grad()
print([round(it, 4) for it in w.tolist()], torch.equal(alias, w), torch.equal(before, w))

leaf = torch.ones(2, requires_grad=True)
target = torch.zeros(2)
target.copy_(leaf)
whole = torch.zeros(2)
whole[:] = leaf
for made in (target, whole):
    made *= 2
    made.register_hook(lambda g: g * 10)
    made.sum().backward()
    print(made.is_leaf, leaf.grad.tolist())
x = torch.zeros(2, 4)
for copy in (
    x.to(torch.float32, copy=True),
    x.to("cpu", copy=True),
    x.to(x, False, True),
    torch.rot90(x, 4),
    torch.diff(x, n=0),
    torch.linalg.matrix_power(x[:, :2], 1),
):
    copy += 1
same = x.to(torch.float32)
same += 5
tell("copies", x)

w = torch.nn.Parameter(torch.tensor([1.0, 2.0]))
(w * w).sum().backward()
first = w.grad
(w**3).sum().backward(create_graph=True)
tell("with a graph", first, w.grad.detach())
w.grad = torch.tensor([1.0, 2.0])
held = w.grad
torch.optim.SGD([w]).zero_grad(set_to_none=False)
tell("zero", held, w.grad)
for make in (
    lambda it: torch.optim.Adam([it], amsgrad=True),
    lambda it: torch.optim.Adamax([it]),
    lambda it: torch.optim.RMSprop([it], centered=True, momentum=0.5),
    lambda it: torch.optim.Adagrad([it]),
    lambda it: torch.optim.Adadelta([it]),
    lambda it: torch.optim.SGD([it], lr=0.1, momentum=0.9),
):
    w = torch.nn.Parameter(torch.tensor([1.0, 2.0]))
    optimizer = make(w)
    w.grad = torch.tensor([0.5, -0.25])
    optimizer.step()
    held = optimizer.state_dict()["state"][0]
    for _ in range(2):
        w.grad = w.detach() * 0.5
        optimizer.step()
    for name in sorted(held):
        if name != "step":
            print(name, [round(it, 5) for it in held[name].tolist()])

x = torch.arange(24.0).view(2, 4, 3)
y, part, kept = x, x[1], x + 0
x[torch.tensor([1, 0])] = x[torch.tensor([0, 1])]
tell("places", x, y, part)
x[:, torch.tensor([3, 3, -4])] = torch.tensor([[1.0], [2.0], [3.0]])
x[0, :, torch.tensor([2, 0])] += 100
x[..., torch.tensor(1)] = -1
tell("places of other dimensions", x, part, kept)
x[x > 50] = 0.5
x[torch.tensor([True, False])] *= 2
x[:, torch.tensor([False, True, False, True])] = torch.zeros(3)
tell("masks", x, part)
part[torch.tensor([2, 0])] = 7
part.view(-1)[torch.tensor([1, 4])] = torch.tensor([8.0, 9.0])
x.view(-1)[x.view(-1) == 7] = 6
tell("through views", x, part)
for wrong in (
    lambda: x.__setitem__(torch.tensor([2]), 1),
    lambda: x.__setitem__(torch.tensor([0, 1]), torch.ones(3, 4, 3)),
    lambda: x.__setitem__(torch.tensor([True, False, True]), 1),
):
    try:
        wrong()
        print("no error")
    except (IndexError, RuntimeError):
        print("refused")
tell("as before", x)
n = torch.arange(5)
n[n.clone()] = torch.tensor([4, 3, 2, 1, 0])
n[torch.tensor([0, 0])] = torch.tensor([7, 8])
n[n > 3] = 2.9
tell("integers", n)
w = torch.ones(4, requires_grad=True)
z = w * 2
z[torch.tensor([0, 2])] = 5
z[torch.tensor([False, True, False, False])] = z[3] * 3
z.sum().backward()
tell("on the tape", z, w.grad)

x = torch.arange(12.0).view(3, 4)
y, row, turned, kept = x, x[1], x.T, x + 0
x.index_add_(0, torch.tensor([1, 1]), torch.ones(2, 4))
x.index_fill_(1, torch.tensor([0, -1]), -5.0).index_fill_(0, torch.tensor(2), torch.tensor(3))
x.index_copy_(1, torch.tensor([2, 1]), torch.full((3, 2), 0.25))
x.scatter_(1, torch.tensor([[0], [3], [1]]), torch.tensor([[7.0], [8.0], [9.0]]))
x.scatter_(0, torch.tensor([[2, 2]]), 1.5).scatter_add_(0, torch.tensor([[0, 0, 0, 0]]), x[:1] * 2)
tell("places in place", x, y, row, turned, kept)
x.index_put_((torch.tensor([0, -1]), torch.tensor([1, 1])), torch.tensor([4.0, 5.0]))
x.index_put_((torch.tensor([0, 0]),), torch.tensor(1.0), accumulate=True)
x.index_put_((x < 0,), torch.tensor(-1.0))
x.masked_scatter_(torch.tensor([True, False, False, True]), torch.arange(20.0))
tell("put in place", x, row, turned)
row.index_add_(0, torch.tensor([3]), torch.tensor([100.0]))
turned.index_fill_(0, torch.tensor([0]), 2.0)
turned.scatter_(1, torch.tensor([[2]]), torch.tensor([[-9.0]]))
turned += torch.tensor([1.0, 2.0, 3.0])
turned *= 2
row.neg_()
x[1:, 1:].add_(0.5)
x.view(2, 6)[1].sub_(1)
x[2].exp_()
tell("views in place", x, y, row, turned, kept)
x = torch.arange(24.0).view(2, 4, 3)
y = x.permute(2, 0, 1)
y -= torch.arange(4.0)
y[1] += 100
x.movedim(1, 0).mul_(torch.tensor([[1.0], [2.0]]).expand(2, 3))
tell("turned", x, y)
x[torch.tensor([0, 1]), torch.tensor([3, -4])] = torch.tensor([-1.0, -2.0, -3.0])
x[torch.tensor([[0], [1]]), :, torch.tensor([0, 2])] = torch.tensor([0.5, 0.25]).view(2, 1, 1)
x[1, torch.tensor([1, 1]), torch.tensor([0, 0])] = torch.tensor([6.0, 7.0])
x[:, torch.tensor([2, 3]), 1] = torch.tensor([11.0, 12.0])
tell("several places", x, y)
x[x > 90] = torch.arange(float((x > 90).sum()))
x[torch.tensor([True, False]), torch.tensor([2])] = 0
x.transpose(0, 1)[torch.tensor([0, 1]), torch.tensor([1, 0])] = torch.tensor([1.0, 2.0, 3.0])
tell("several masks", x, y)
for wrong in (
    lambda: x.index_add_(0, torch.tensor([2, 0]), torch.ones(2, 4, 3)),
    lambda: x.index_fill_(0, torch.tensor([2]), 1.0),
    lambda: x.index_copy_(0, torch.tensor([0]), torch.ones(2, 4, 3)),
    lambda: x.scatter_(0, torch.full((2, 4, 3), 2), torch.ones(2, 4, 3)),
    lambda: x.index_put_((torch.tensor([2, 0]),), torch.ones(4, 3)),
    lambda: x.__setitem__((torch.tensor([1, 0]), torch.tensor([4, 0])), 1),
    lambda: x.__setitem__((torch.tensor([0, 1]), torch.tensor([0, 1, 2])), 1),
    lambda: (x * 1).masked_scatter_(x > -1000, torch.ones(3)),
):
    try:
        wrong()
        print("no error")
    except (IndexError, RuntimeError):
        print("refused")
tell("as before", x)
for dtype in (torch.float16, torch.bfloat16, torch.int8, torch.uint8, torch.bool, torch.float64):
    x = torch.tensor([0, 1, 0, 1, 0]).to(dtype)
    i, v = torch.tensor([4, 0, 4]), torch.tensor([1, 1, 1]).to(dtype)
    x.index_add_(0, i, v).scatter_add_(0, i, v).scatter_(0, torch.tensor([2]), v[:1])
    print(dtype, x.tolist())
x = torch.arange(4.0)
x.index_add_(0, torch.tensor([0, 1]), x[2:] * 1)
x.scatter_(0, x.long()[:2].clamp(max=3), x[:2] + 10)
x[x.long().clamp(max=3)] = x * 1
tell("out of itself", x)
w = torch.ones(4, requires_grad=True)
z = w * 2
kept = z * z
z.index_add_(0, torch.tensor([1]), w[:1] * 5)
z.scatter_(0, torch.tensor([0]), 7.0).index_fill_(0, torch.tensor([3]), 1.0)
z.index_put_((torch.tensor([2]),), w[3] * 3, True)
z.masked_scatter_(torch.tensor([False, False, True, True]), w * 4)
(z * z).sum().backward()
tell("in place on the tape", z, w.grad)
with torch.no_grad():
    held, w_before = w.detach(), w.clone()
    w.index_add_(0, torch.tensor([0]), torch.ones(1))
    w.view(2, 2).T.mul_(2)
tell("a leaf", w, held, w_before)


# A dimension that is not there is named.
def refused(what):
    try:
        what()
    except IndexError as error:
        print(error)


z = torch.zeros(5)
refused(lambda: z.index_copy_(1, torch.tensor([0]), torch.ones(1)))
refused(lambda: z.index_fill_(-2, torch.tensor([0]), 1.0))
refused(lambda: torch.index_fill(z, 1, torch.tensor([0]), 1.0))

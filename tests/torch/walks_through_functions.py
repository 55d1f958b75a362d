"""What walks through functions and hooks free, refuse and make of the gradients that these give."""


def refused(name, function):
    try:
        print(name, "gives", function())
    except RuntimeError as error:
        text = str(error)
        words = ("second time", "changed the size", "changed the type", "invalid gradient at index 0", "can't retain_grad")
        print(name, "is refused:", [word for word in words if word in text])


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad):
        [x] = ctx.saved_tensors
        return 2 * x * grad


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


print("# what was saved is freed")
x = torch.tensor([1.0, 2.0], requires_grad=True)
loss = Square.apply(x).sum()
loss.backward(retain_graph=True)
loss.backward()
refused("a third walk", lambda: loss.backward())
print(x.grad)
loss = Double.apply(x).sum()
loss.backward()
loss.backward()
print(x.grad)

print("# gradients have a history only where that is asked for")
w = torch.tensor([3.0, 4.0], requires_grad=True)


class Weighted(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1

    @staticmethod
    def backward(ctx, grad):
        with torch.enable_grad():
            return grad * w


x = torch.tensor([1.0, 2.0], requires_grad=True)
z = x * 1
z.retain_grad()
Weighted.apply(z).sum().backward()
print(x.grad, z.grad.requires_grad)
[found] = torch.autograd.grad(Weighted.apply(x).sum(), x, create_graph=True)
print(found)

print("# an output that is not used")


class Pair(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2, x * 3

    @staticmethod
    def backward(ctx, first, second):
        return first * 2 + second * 3


Pair.apply(x)[0].sum().backward()
print(x.grad)
meta = torch.ones(2, requires_grad=True, device="meta")
Pair.apply(meta)[1].sum().backward()
print(meta.grad.shape, meta.grad.device)

print("# only hooks on the way to what is asked for run")
a, b = (x * 2).sum(), (w * 3).sum()
b.register_hook(lambda grad: print("never"))
print(torch.autograd.grad([a, b], [x]))

print("# what hooks may give")
h = x * 2
h.register_hook(lambda grad: grad.double())
refused("another type", lambda: h.sum().backward())
h = x * 2
h.register_hook(lambda grad: grad.sum())
refused("another size", lambda: h.sum().backward())
leaf = torch.ones(2, requires_grad=True)
handle = leaf.register_hook(lambda grad: grad.sum())
refused("another size at a leaf", lambda: (leaf * 2).sum().backward())
handle.remove()
h = x * 2
h.register_hook(lambda grad: 1)
try:
    h.sum().backward()
except TypeError:
    print("a number is refused")
(leaf * 2).sum().backward()
print(leaf.grad)
refused("no gradients", lambda: torch.ones(2).retain_grad())

print("# gradients that are sums")


class Wide(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, rows):
        ctx.rows = rows
        return x.sum()

    @staticmethod
    def backward(ctx, grad):
        return grad * torch.ones(*ctx.rows), None


leaf = torch.ones(2, requires_grad=True)
Wide.apply(leaf, (5, 2)).backward()
print(leaf.grad)
refused("another shape", lambda: Wide.apply(leaf, (3,)).backward())

print("# hooks that change hooks")
leaf = torch.ones(2, requires_grad=True)
h = leaf * 2
handles = []


def first(grad):
    handles[0].remove()
    print("first", grad)


h.register_hook(first)
handles.append(h.register_hook(lambda grad: print("second", grad)))
h.sum().backward(retain_graph=True)
h.sum().backward()
h = leaf * 2
h.retain_grad()
v = h[:1]
h.mul_(3)
print(h.retains_grad)
h.sum().backward()
print(h.grad)

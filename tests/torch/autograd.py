"""Functions of one's own on the tape, hooks, kept gradients, gradients as values."""


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, scale):
        ctx.save_for_backward(x)
        ctx.scale = scale
        return x**3 * scale

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * 3 * x**2 * ctx.scale, None


class Split(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * y, x + y, torch.tensor([1, 2])

    @staticmethod
    def backward(ctx, product, total, whole):
        x, y = ctx.saved_tensors
        print("needs", ctx.needs_input_grad)
        return product * y + total, product * x + total


class Later(torch.autograd.Function):
    @staticmethod
    def forward(x):
        return x * 2

    @staticmethod
    def setup_context(ctx, inputs, output):
        (x,) = inputs
        ctx.save_for_backward(x)

    @staticmethod
    def backward(ctx, grad):
        return grad * 5


x = values(3).requires_grad_()
y = Cube.apply(x, 2.0)
show("forward", y)
print(y.requires_grad, y.is_leaf, y.grad_fn is not None, Cube.apply(values(2), 1.0).requires_grad)
(y * values(3, seed=2)).sum().backward()
show("gradient", x.grad)
with torch.no_grad():
    print(Cube.apply(x, 1.0).requires_grad)

print("# several outputs")
a, b = values(3).requires_grad_(), values(3, seed=2).requires_grad_()
first, second, third = Split.apply(a, b)
print(third.requires_grad)
(first.sum() + (second * 2).sum() + first.exp().sum()).backward()
show("both", [a.grad, b.grad])
a.grad = b.grad = None
first, second, _ = Split.apply(a, b.detach())
second.sum().backward()
show("one", a.grad)
print(b.grad)

print("# chains")
x = values(2).requires_grad_()
y = Later.apply(Cube.apply(Later.apply(x), 1.0) + x)
(y + Cube.apply(x, 3.0)).sum().backward()
show("chain", x.grad)
z = x
for _ in range(50):
    z = Later.apply(z) * 0.2
x.grad = None
z.sum().backward()
show("long chain", x.grad)

print("# gradients of gradients")
x = values(3).requires_grad_()
y = Cube.apply(x, 1.0)
(first,) = torch.autograd.grad(y.sum(), x, create_graph=True)
(second,) = torch.autograd.grad(first.sum(), x)
show("first and second", [first, second])
h = x * 2
y = Cube.apply(h, 1.0)
show("inner", torch.autograd.grad(y.sum(), [h, x]))
h = x * 2
y = (h**2).sum()
show("inner of ops", torch.autograd.grad(y, [h, x], retain_graph=True))
print(torch.autograd.grad(y, [x, values(2).requires_grad_()], allow_unused=True)[1])
show("weighed", torch.autograd.grad(x * 3, x, grad_outputs=values(3, seed=3)))

print("# wrong")


class Wrong(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        return x + y

    @staticmethod
    def backward(ctx, grad):
        return grad


try:
    Wrong.apply(values(2).requires_grad_(), values(2).requires_grad_()).sum().backward()
except RuntimeError as error:
    print(str(error)[:70])

print("# hooks")
x = values(3).requires_grad_()
handle = x.register_hook(lambda grad: grad * 10)
y = x * 2
y.register_hook(lambda grad: grad + 1)
y.register_hook(lambda grad: print("passing", grad.tolist()))
y.sum().backward()
show("hooked", x.grad)
handle.remove()
x.grad = None
(x * 2).sum().backward()
show("removed", x.grad)
try:
    values(2).register_hook(lambda grad: grad)
except RuntimeError as error:
    print(error)

print("# kept gradients")
x = values(3).requires_grad_()
y = x * 2
y.retain_grad()
z = (y**2).sum()
z.retain_grad()
z.backward()
show("kept", [x.grad, y.grad, z.grad])
print(y.is_leaf, x.is_leaf)

print("# hooks of modules")
layer = nn.Linear(2, 2).double()
for at, parameter in enumerate(layer.parameters()):
    parameter.data.copy_(values(*parameter.shape, seed=at))


def seen(module, grad_input, grad_output):
    show("in", [g for g in grad_input if g is not None])
    show("out", list(grad_output))


handle = layer.register_full_backward_hook(seen)
x = values(1, 2).requires_grad_()
layer(x).pow(2).sum().backward()
show("x", x.grad)
layer(values(1, 2)).sum().backward()
handle.remove()
layer.register_full_backward_hook(lambda module, grad_input, grad_output: (grad_input[0] * 0,))
x.grad = None
layer(x).sum().backward()
show("changed", x.grad)
layer = nn.Linear(2, 1).double()
layer.weight.data.copy_(values(1, 2))
layer.register_full_backward_pre_hook(lambda module, grad_output: (grad_output[0] * 3,))
layer(values(1, 2)).sum().backward()
show("before", layer.weight.grad)

print("# modes")
x = values(2).requires_grad_()


@torch.no_grad()
def plain(x):
    return x * 2


@torch.inference_mode()
def plainer(x):
    return x * 2


with torch.inference_mode():
    print((x * 2).requires_grad)
with torch.no_grad():
    with torch.enable_grad():
        print((x * 2).requires_grad)
    with torch.set_grad_enabled(True):
        print((x * 2).requires_grad)
print(plain(x).requires_grad, plainer(x).requires_grad, torch.is_grad_enabled())
torch.set_grad_enabled(False)
print((x * 2).requires_grad)
torch.set_grad_enabled(True)
torch.autograd.backward([(x * 2).sum(), (x**2).sum()])
show("two roots", x.grad)

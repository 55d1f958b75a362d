"""Hooks that come after a value was used, and walks through functions that free what was saved."""

x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x * x
loss = (y * 3).sum()
seen = []
handle = y.register_hook(lambda grad: seen.append(grad.tolist()))
loss.backward(retain_graph=True)
print(seen, x.grad)
handle.remove()
loss.backward(retain_graph=True)
print(seen, x.grad)

y.register_hook(lambda grad: grad * 10)
y.register_hook(lambda grad: seen.append(grad.tolist()))
loss.backward(retain_graph=True)
print(seen[-1], x.grad)
print(torch.autograd.grad(loss, [x, y], retain_graph=True))
print(torch.autograd.grad(loss, [y], retain_graph=True))

# Kept gradients are those that the hooks made, and they are added up.
y.retain_grad()
x.grad = None
loss.backward(retain_graph=True)
print(y.grad, y.retains_grad, x.grad)
torch.autograd.grad(loss, x, retain_graph=True)
print(y.grad)
loss.backward(inputs=[x])
print(y.grad, x.grad)

# What was computed and is named keeps its gradient.
h = x * 2
(h * 3).sum().backward(inputs=[h], retain_graph=True)
print(h.retains_grad, h.grad)
(h * 3).sum().backward()
print(h.grad)

# Parts of a value have their own.
shown = {}
a, b = torch.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True).split(2)
total = (a * b).sum()
a.register_hook(lambda grad: shown.update(a=grad))
b.register_hook(lambda grad: shown.update(b=grad))
total.backward()
print(shown["a"], shown["b"])

# A hook stays with the value that it was registered on.
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x * 2
y.register_hook(lambda grad: print("before", grad))
y.mul_(5)
y.register_hook(lambda grad: print("after", grad))
y.sum().backward()
print(x.grad)


# The graph of what a hook computes.
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x * x
z = (y * y).sum()
y.register_hook(lambda grad: grad * x)
[first] = torch.autograd.grad(z, x, create_graph=True)
print(first)
print(torch.autograd.grad(first.sum(), x))


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad):
        [x] = ctx.saved_tensors
        return 2 * x * grad


x = torch.tensor([1.0, 2.0], requires_grad=True)
y = Square.apply(x * x)
y.register_hook(lambda grad: print("through", grad))
loss = (y * y).sum()
loss.backward()
print(x.grad)
try:
    loss.backward()
except RuntimeError as error:
    print("second time" in str(error))

# Functions that lead to nothing that is asked for are not asked.


class Loud(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        print("loud")
        return grad


x = torch.tensor([1.0, 2.0], requires_grad=True)
w = torch.tensor([3.0, 4.0], requires_grad=True)
loss = (Loud.apply(x) * w).sum()
print(torch.autograd.grad(loss, w, retain_graph=True))
print(torch.autograd.grad(loss, x))

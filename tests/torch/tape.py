"""Arrays of tensors that require grad, gradients kept after use, and the names of steps."""

import numpy as np

t = torch.ones(3, requires_grad=True)
for name, function in {
    "numpy": lambda: t.numpy(),
    "of a result": lambda: (t * 2).numpy(),
    "asarray": lambda: np.asarray(t),
    "array": lambda: np.array(t),
    "of a list": lambda: np.array([t[0], t[1]]),
    "of lists": lambda: np.asarray([[t[0]], [t[1]]]),
    "sqrt": lambda: np.sqrt(t),
    "concatenate": lambda: np.concatenate([t, t]),
    "stack": lambda: np.stack([t, t]),
    "argmax": lambda: np.argmax(t),
    "where": lambda: np.where(t > 0, t, t),
    "detach": lambda: t.detach().numpy(),
    "data": lambda: t.data.numpy(),
    "force": lambda: t.numpy(force=True),
    "tolist": lambda: t.tolist(),
    "item": lambda: t[0].item(),
    "a number": lambda: float(t[0]),
    "a whole number": lambda: (t > 0).numpy(),
}.items():
    attempt(name, function)
with torch.no_grad():
    print(t.numpy(), (t * 2).numpy())

print("# gradients kept after use")
x = values(3).requires_grad_()
y = x * 2
z = (y * y).sum()
y.retain_grad()
z.backward()
show("y", y.grad)
show("x", x.grad)

x = values(2, 3).requires_grad_()
y = x.exp()
first = y.sum()
y.retain_grad()
second = (y * 3).sum()
(first + second).backward()
show("before and after", y.grad)

x = values(4).requires_grad_()
a, b = x.split(2)
total = (a * b).sum() + a.sum()
a.retain_grad()
b.retain_grad()
b.retain_grad()
total.backward(retain_graph=True)
show("a", a.grad)
show("b", b.grad)
total.backward()
show("a twice", a.grad)
show("x twice", x.grad)

x = values(3).requires_grad_()
y = x * 2
y.register_hook(lambda grad: grad * 10)
z = y.sum()
y.retain_grad()
z.backward()
show("behind a hook", y.grad)
print(x.retains_grad, y.retains_grad, z.retains_grad)

print("# steps")
x = values(3).requires_grad_()
y = (x * 2).sum()
print(y.grad_fn.name(), type(y.grad_fn), type(y.grad_fn).__name__, type(y.grad_fn).__module__, y.grad_fn is y.grad_fn)
print(repr(y.grad_fn).split(" object at 0x")[0], repr(y.grad_fn)[-1], x.grad_fn, x.detach().grad_fn, x.is_leaf, y.is_leaf)
mul = y.grad_fn.next_functions[0][0]
print(mul.name(), mul.next_functions[0][0].name(), type(mul.next_functions[0][0]).__name__, mul.next_functions[1])
print(mul.next_functions[0][0].variable is x, mul.next_functions[0][0].next_functions, y.grad_fn.metadata)
print([it[0].name() for it in (x * y).grad_fn.next_functions], [it[1] for it in x.sort()[0].grad_fn.next_functions])
print(y, F.mse_loss(x, x * 2), F.cross_entropy(x, torch.tensor(1)), nn.Linear(2, 1)(torch.ones(1, 2)).grad_fn.name())


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


z = Double.apply(x)
print(z.grad_fn.name(), type(z.grad_fn).__name__, repr(z.grad_fn).split(" object")[0], z.grad_fn.next_functions[0][0].variable is x)
z.register_hook(lambda grad: grad)
print(z.grad_fn.name(), (x * 3).exp().grad_fn.next_functions[0][0].name())
y.backward()
print(y.grad_fn.name(), (x.reshape(1, 3) @ x.reshape(3, 1)).grad_fn.name())

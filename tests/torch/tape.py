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

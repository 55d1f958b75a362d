# A result that is changed in place while nothing is recorded keeps its history; zeros keep their signs.
import math

import torch
import torch.nn.functional as F


def fresh():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    return x, x * 2


x, y = fresh()
with torch.no_grad():
    y += 1
print(y.requires_grad, y.is_leaf)
y.sum().backward()
print(x.grad)

x, y = fresh()
with torch.no_grad():
    y[0] = 5
    y.mul_(3)
(y * y).sum().backward()
print(x.grad, y.detach())

x, y = fresh()
v = y[:1]
with torch.no_grad():
    v.zero_()
print(v.requires_grad)
y.sum().backward()
print(x.grad, y.detach())

x, y = fresh()
y.data = torch.tensor([9.0, 9.0])
(y * y).sum().backward()
print(x.grad)

x, y = fresh()
with torch.no_grad():
    y.copy_(torch.tensor([7.0, 8.0]))
(y * x).sum().backward()
print(x.grad)

x, y = fresh()
y.data += 1
y.data.mul_(2)
y.sum().backward()
print(x.grad, y.detach())

x = torch.tensor([1.0, 2.0], requires_grad=True)
with torch.no_grad():
    x[0] = 4.0
    x[1:] += 1
(x * x).sum().backward()
print(x.grad, x.is_leaf, x.detach())

w = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
y = w * 2
with torch.no_grad():
    y[0, 1] += 1
    y.t()[0].mul_(2)
y.sum().backward()
print(w.grad, y.detach())


def signs(t):
    return [math.copysign(1.0, v) for v in t.tolist()]


z = torch.tensor([-0.0, 0.0, -1.0, 1.0])
print(signs(torch.relu(z)), signs(torch.clamp(z, min=0)), signs(torch.clamp(z, max=0)), signs(torch.clamp(z, 0, 1)))
print(signs(F.relu6(z)), signs(F.hardtanh(z)), signs(torch.clamp(z, min=-0.0)))
for f in (torch.relu, F.relu6, F.hardtanh, lambda t: t.clamp(min=0), lambda t: t.clamp(0, 1), lambda t: t.clamp(max=1)):
    x = torch.tensor([-1.0, -0.0, 0.0, 0.5, 1.0, 2.0, 6.0], requires_grad=True)
    f(x).sum().backward()
    print(x.grad)
print(torch.clamp(torch.tensor([1.0, float("nan")]), min=0.5), torch.relu(torch.tensor([float("nan"), float("-inf")])))

print("# parts that are put back without their history")
x = torch.ones(4, requires_grad=True)
y = x * 2
y[0] = y[0].detach()
y.sum().backward()
print(x.grad)
y = x * 2
y[1:3] = y.data[1:3]
y.sum().backward()
print(x.grad)
y = (x * 2).view(2, 2)
y.T[0:2] = y.view(2, 2)[0].detach()
y.sum().backward()
print(x.grad)
z = torch.arange(4.0)
p = z[1:3].detach().requires_grad_()
z[1:3] = p
print(z.requires_grad)

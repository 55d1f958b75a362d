"""Writing in place: who sees it, and who does not."""

import numpy as np


def tell(name, *values):
    print(name, *(it.tolist() for it in values))


x = torch.zeros(2, 3)
x[0] = 1
x[1, 2] = torch.tensor(5.0)
x[:, 1] = torch.tensor([7.0, 8.0])
tell("plain", x)
x[:, ::2] = -1
x[..., 0] += 2
x[1][1] = 4
x[1, :2] *= 3
tell("parts", x)

flat = x.view(-1)
flat[3] = 9
tell("through view", x, flat)
x[0, 0] = -9
tell("seen through view", x, flat)
flat += 1
tell("whole view", x, flat)
x.T[2] = 6
x.T[0, 1] -= 5
tell("transposed", x, flat)
for row in x:
    row[0] = 10
    row += 1
tell("rows", x, flat)
for i in range(3):
    x[:, i][1] = i
    x[0][i] += i
tell("columns", x, flat)
x[0][1:][0] = 100
tell("views of views", x, flat)
x.unsqueeze(0)[0, 1] = -3
x.reshape(3, 2)[2, 1] = 77
x.diagonal()[0] = 55
tell("other views", x, flat)

a = torch.arange(6.0)
b = a.clone()
c = a
d = a.detach()
e = a[1:4]
f = a.flip(0)
g = a + 0
a[2] = 50
tell("who sees it", a, b, c, d, e, f, g)
b[0] = 1
c[0] = 2
d[1] = 3
e[2] = 4
f[0] = 5
g[0] = 6
tell("and back", a, b, c, d, e, f, g)
saved = [a, a.clone(), a[2:]]
a[:] = a.flip(0)
tell("saved", *saved)
a[1:] = a[:-1].clone()
tell("shifted", a)
a[::2] = a[1::2]
tell("from itself", a)

n = a.numpy()
n[0] = 11
a[1] = 12
tell("numpy", a, torch.from_numpy(n))
m = np.arange(4.0)
t = torch.from_numpy(m)
t[0] = 5
m[1:3] = 6
print(m.tolist(), t.tolist())
h = torch.arange(4)
h[1] = 2.7
h[2] = True
tell("whole numbers", h)
k = torch.tensor([True, False])
k[1] = 1
tell("truth", k)

w = torch.ones(3, requires_grad=True)
with torch.no_grad():
    w[0] = 5
    w[1:] *= 2
y = (w * w).sum()
y.backward()
tell("leaf", w.detach(), w.grad)
w.data[2] = 0
w.grad[0] = -1
tell("data", w.detach(), w.grad)
v = torch.zeros(3)
v[1] = w[0] * 2
v.sum().backward()
tell("on the tape", v.detach(), w.grad)
z = (w * 3).clone()
z[0] = 0
z.sum().backward()
tell("result", z.detach(), w.grad)
base = torch.zeros(4)
part = base[1:3]
part.requires_grad_()
(part * 2).sum().backward()
tell("leaf that is a view", part.grad)

buffers = {"mean": torch.zeros(3), "count": torch.zeros(1)}
kept = buffers["mean"]
for step in range(3):
    buffers["mean"][step] = step + 1
    buffers["count"] += 1
tell("buffers", kept, buffers["count"])


def fill(target, value):
    target[1] = value
    return target


p = torch.zeros(3)
q = fill(p, 4)
q[0] = 1
tell("arguments", p, q)
try:
    p[3] = 1
except IndexError:
    tell("outside", p)
try:
    p[:2] = torch.ones(3)
except RuntimeError:
    tell("another size", p)
table = torch.zeros(3, 3)
for i in range(3):
    for j in range(3):
        table[i, j] = table[max(i - 1, 0), j] + table[i, max(j - 1, 0)] + 1
tell("dynamic programming", table)
table[1] = table[0]
table[0, 0] = -1
table[:, 1] = table[:, 0]
table[0] = 3
tell("rows of itself", table)
s = torch.zeros(2, 2)
s[0], s[1] = torch.ones(2), s[0].clone() + 2
tell("two at once", s)
r = torch.zeros(4)
seen = r.expand(3, 4)
r[0] = 1
wide = torch.zeros(1).expand(4).clone()
wide[2] = 1
tell("expanded", r, wide)

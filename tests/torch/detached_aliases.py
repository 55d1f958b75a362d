# What needs gradients, written into a detached alias, gives that a history of its own.

w = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)


def told(name, d, *others):
    print(name, d.requires_grad, d.is_leaf, [o.requires_grad for o in others])
    show(name, d)
    if d.requires_grad:
        w.grad = None
        (d * torch.tensor([1.0, 10.0, 100.0])).sum().backward(retain_graph=True)
        show(name + " grad", w.grad)


y = w * 3
d = y.detach()
d[0] = w[1]
told("item", d, y)
show("base", y)

d = (w * 3).detach()
d.copy_(w * 2)
told("copy", d)

d = (w * 3).detach()
d.mul_(w)
told("mul", d)

d = torch.zeros(3).detach()
d += w
told("add", d)

d = torch.zeros(3).data
d[1:] = w[:2]
told("slice", d)

z = torch.zeros(3)
d = z.detach()
v = d[1:]
v.copy_(w[1:] * 2)
told("view of it", d, z, v)
show("shared", z)

z = torch.zeros(3)
d = z.detach()
e = d.detach()
e[0] = w[0]
told("twice", e, d, z)
show("shared", z)

# It keeps its history when the base is written, and where nothing is recorded.
y = w * 3
d = y.detach()
d.copy_(w * w)
with torch.no_grad():
    y[0] = 7.0
told("base written", d, y)
z = torch.zeros(3)
d = z.detach()
d.copy_(w * w)
z[2] = 5.0
told("plain base written", d, z)
with torch.no_grad():
    d[1] = 9.0
told("unrecorded", d, z)
show("shared", z)
d[0] = 4.0
told("number", d, z)
d.add_(1)
told("more", d, z)

# The other way: the base gets a history, the alias has none.
z = torch.zeros(3)
d = z.detach()
z.copy_(w * 2)
told("base", z, d)
show("alias", d)

# A leaf of its own.
z = torch.zeros(3)
d = z.detach().requires_grad_()
refused("leaf", lambda: d.add_(1))
refused("leaf item", lambda: d.__setitem__(0, 1.0))
refused("leaf view", lambda: d[1:].zero_())
z[1] = 4.0
print(d.is_leaf, d.requires_grad)
show("leaf", d)
(d * 2).sum().backward()
show("leaf grad", d.grad)
with torch.no_grad():
    d[0] = 3.0
show("leaf base", z)

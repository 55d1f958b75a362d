"""Gradients that come to one tensor from many of its parts: slices, elements, rows that are picked, with and without overlaps."""
torch.manual_seed(0)


def tell(*tensors):
    for it in tensors:
        print(it if it is None else it.detach())


x = torch.arange(24.0).reshape(4, 6).requires_grad_()

# Steps of a sequence, one after the other.
total = 0
for at in range(4):
    total = total + (x[at] * (at + 1)).sum()
total.backward()
tell(x.grad)

# Slices that overlap, backwards, with steps; and the whole beside them.
x.grad = None
((x[1:3] ** 2).sum() + (x[:, ::2] * 3).sum() + (x[2:, 1:5] * x[:2, 1:5]).sum() + x.sum() + x.flip(0)[0].sum()).backward()
tell(x.grad)

# Pieces that make up the whole.
x.grad = None
a, b, c = x.chunk(3, 1)
(a * 0.5 + b * 2 - c).sum().backward()
tell(x.grad)
x.grad = None
for piece, scale in zip(x.unbind(1), (1, -2, 3, -4, 5, -6)):
    (piece * scale).sum().backward(retain_graph=True)
tell(x.grad)

# What the caller gives and keeps is not written to.
whole, part = torch.ones(4, 6), torch.ones(6)
[dx] = torch.autograd.grad([x * 1, x[1], x[1]], x, [whole, part, part])
tell(dx, whole, part)
y = x * 1
seen = []
y.register_hook(lambda it: seen.append(it))
y.retain_grad()
(y[0].sum() + y[1].sum() * 2 + y[0].sum()).backward()
tell(seen[0], y.grad)
seen[0].zero_()
tell(x.grad)

# A gradient that two places hold.
x.grad = None
u = x * 1
v = u + 0
w = u + v
(w[1] * 2 + w[1:3].sum(0) + v[3]).sum().backward()
tell(x.grad)

# Twice differentiated.
z = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], requires_grad=True)
out = (z[0] ** 3).sum() + (z[:, 1] ** 2 * z[1, 2]).sum() + (z[[0, 0, 1]] ** 2).sum()
[first] = torch.autograd.grad(out, z, create_graph=True)
[second] = torch.autograd.grad((first[1] * first[0]).sum(), z)
tell(first, second)

# Rows of a table, picked again and again.
table = torch.nn.Embedding(5, 3)
with torch.no_grad():
    table.weight.copy_(torch.arange(15.0).reshape(5, 3))
state = torch.zeros(2, 3)
for step in torch.tensor([[0, 3], [3, 3], [4, 0]]):
    state = torch.tanh(state * 0.1 + table(step) * 0.05)
state.sum().backward()
print(table.weight.grad)

# By gather and by lists, of halves and complex numbers too.
g = torch.randn(3, 4, requires_grad=True)
where = torch.tensor([[0, 0, 3], [1, 1, 1], [2, 0, 2]])
(g.gather(1, where).sum() + (g.gather(1, where) * 2).sum() + g[[0, 2]].sum() + g[torch.tensor([2, 2])].sum() + g.index_select(0, torch.tensor([1])).sum()).backward()
tell(g.grad)
h = torch.ones(4, 4, dtype=torch.bfloat16, requires_grad=True)
(h[0] + h[0] * 2 + h[1:2][0] + h[:, 0]).sum().backward()
tell(h.grad)
k = torch.ones(2, 3, dtype=torch.complex64, requires_grad=True)
(k[0] * 2j + k[1] + k[0] * (1 + 1j)).abs().sum().backward()
tell(k.grad)

# Hidden states of a loop, picked from one tensor of inputs, that are stacked.
inputs = torch.randn(5, 2, 3, requires_grad=True)
weight = torch.eye(3).mul(0.5).requires_grad_()
hidden, states = torch.zeros(2, 3), []
for at in range(5):
    hidden = torch.tanh(inputs[at] + hidden @ weight)
    states.append(hidden)
torch.stack(states).pow(2).sum().backward()
tell(inputs.grad, weight.grad)

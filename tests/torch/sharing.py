# Which results share the elements of their source, and which are copies.


def shares(source, result):
    """Whether writing to the result is seen in the source."""
    before = source.sum().item()
    result += 7
    return source.sum().item() != before


rows = torch.arange(6).view(2, 3)
columns = torch.arange(6).view(2, 3).t()
part = torch.arange(6).view(2, 3)[:, 1:]
wide = torch.ones(2, 1).expand(2, 3)
print([shares(it, it.contiguous()) for it in (rows, columns, part)])
print([shares(it, it.reshape(-1)) for it in (rows, columns, part)])
print([shares(it, it.flatten()) for it in (rows, columns, part)])
print([shares(it, it.reshape(1, *it.shape)) for it in (rows, columns, part)])
print([shares(it, torch.ravel(it)) for it in (rows, columns, part)])
print([shares(it, it.flip(0)) for it in (rows, columns, part)])
print([shares(it, it.clone()) for it in (rows, columns, part)])
print([shares(it, it.view(it.shape)) for it in (rows, columns, part)])
print([shares(it, it.unsqueeze(0)) for it in (rows, columns, part)])
print([shares(it, it.detach()) for it in (rows, columns, part)])

for it in (rows, columns, part, wide, columns.contiguous(), part.contiguous(), wide.contiguous(), wide.clone(), columns.clone(), part.clone()):
    print(tuple(it.shape), it.is_contiguous(), it.stride())

w = wide.contiguous()
w[0, 0] = 5
print(w, wide)
c = columns.reshape(2, 3)
c[0] = -1
c += 1
print(c, columns)

# A tensor that is not laid out row by row cannot be viewed in another shape.
for it, shape in ((columns, (-1,)), (columns, (2, 3)), (part, (4,)), (wide, (6,)), (rows.t().unsqueeze(0), (3, 2)), (wide[:, 0], (2, 1))):
    try:
        print(it.view(shape))
    except RuntimeError as error:
        print("reshape(...)" in str(error))
print(columns.clone().contiguous().view(6), part.clone().view(-1), wide.clone().view(-1), columns.flip(1).reshape(-1))

# What is computed is in order, also where it is assigned in place.
k = torch.zeros(2, 3)
k.copy_(columns.reshape(3, 2).t())
k[:] = columns.contiguous().t()
flat = k.view(-1)
flat[1] = 100
print(k, k.stride())
p = torch.zeros(2, 3, requires_grad=True)
(p.t() * torch.arange(6.0).view(3, 2)).sum().backward()
print(p.grad, p.grad.view(-1))

# Gradients go through copies.
x = torch.arange(6.0).view(2, 3).requires_grad_()
y = x.t().contiguous()
(y.view(-1) * torch.arange(6.0)).sum().backward()
print(x.grad, y.requires_grad, y.grad_fn is not None)
x.grad = None
z = x.t().reshape(-1)
z[0] = 50
((z**2).sum() + x[:, 1:].flatten().prod()).backward()
print(x.grad, x[0, 0].item())

print(torch.zeros(2, 3, 4).T.shape, torch.zeros(2, 3, 4).mT.shape, torch.arange(6).view(1, 2, 3).T.tolist())
print(torch.zeros(2, 2, 0).tolist(), torch.zeros(2, 0, 3).tolist(), torch.zeros(0, 2).tolist(), torch.zeros(1, 2, 1).tolist())

# Indices that name elements several times.
seen = torch.zeros(3)
seen[torch.tensor([0, 1, 1, 2, 0])] = 1
print(seen)
seen[[0, 0, 1, 1]] = 2
labels = torch.tensor([0, 2, 2, 2, 2])
seen[labels] += 1
print(seen)
table = torch.zeros(2, 3)
table[torch.tensor([1, 0, 1])] = torch.arange(3.0)
table[torch.tensor([[0, 0], [0, 0]])] += torch.ones(3)
table[:, torch.tensor([0, 0, 0, 0])] = 9
print(table)
table[torch.tensor([0, 0, 1]), torch.tensor([1, 1, 2])] -= 4
print(table)
v = torch.zeros(2, requires_grad=True)
u = v * 1
u[torch.tensor([0, 0, 0])] = 3.0
u.sum().backward()
print(u.detach(), v.grad)

# Windows.
a = torch.arange(8.0).view(2, 4).requires_grad_()
windows = a.unfold(-1, 2, 1)
print(windows.shape, windows.tolist(), a.unfold(0, 2, 1).shape)
(windows * torch.arange(12.0).view(2, 3, 2)).sum().backward()
print(a.grad)

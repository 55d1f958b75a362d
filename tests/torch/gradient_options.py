# Options of torch.autograd.grad and backward, and walks that can be repeated.

print("# options of grad")
a = torch.tensor([1.0, 2.0], requires_grad=True)
b = torch.ones(2, requires_grad=True)
print(torch.autograd.grad(outputs=a.sum(), inputs=a, only_inputs=True))
print(torch.autograd.grad(a.sum(), [a, b], allow_unused=True))
print(torch.autograd.grad(a.sum(), [a, b], materialize_grads=True))
print(torch.autograd.grad(a.sum(), [a, b], None, None, False, True, True))
attempt("unused", lambda: torch.autograd.grad(a.sum(), [a, b], materialize_grads=True, allow_unused=False))
refused("unused", lambda: torch.autograd.grad(a.sum(), [a, b]))
print(torch.autograd.grad([a.sum(), a * 2], a, [None, torch.ones(2)]))

print("# batches of gradients")
print(torch.autograd.grad(a * a, a, torch.eye(2), is_grads_batched=True))
print(torch.autograd.grad(a * a, [a, b], torch.eye(2), is_grads_batched=True, allow_unused=True))
print(torch.autograd.grad([a * a, a.prod()], a, [torch.eye(2), torch.tensor([1.0, 10.0])], is_grads_batched=True))
(rows,) = torch.autograd.grad(a**3, a, torch.eye(2), is_grads_batched=True, create_graph=True)
print(rows.detach(), torch.autograd.grad(rows.sum(), a))
refused("no first dimension", lambda: torch.autograd.grad(a * a, a, torch.ones(2), is_grads_batched=True))
refused("another shape", lambda: torch.autograd.grad(a * a, a, torch.ones(3, 3), is_grads_batched=True))
refused("no gradients", lambda: torch.autograd.grad(a * a, a, is_grads_batched=True))

print("# backward of several")
torch.autograd.backward([a.sum(), b * a], [None, torch.ones(2)])
print(a.grad, b.grad)
torch.autograd.backward([a.sum(), b.sum()])
print(a.grad, b.grad)
attempt("too few", lambda: torch.autograd.backward([a.sum(), b * a], [None]))
refused("no gradient", lambda: torch.autograd.backward([a.sum(), b * a], [None, None]))

print("# penalty of gradients")
critic = filled(nn.Sequential(nn.Linear(2, 4), nn.LeakyReLU(0.2), nn.Linear(4, 1)))
mixed = values(3, 2).requires_grad_()
score = critic(mixed)
slopes = torch.autograd.grad(
    outputs=score, inputs=mixed, grad_outputs=torch.ones_like(score), create_graph=True, retain_graph=True, only_inputs=True
)[0]
penalty = ((slopes.norm(2, dim=1) - 1) ** 2).mean()
penalty.backward()
show("penalty", penalty)
show("grad", critic[0].weight.grad)

print("# a second walk")
for name, function in [
    ("sum", lambda x: x.sum()),
    ("mean", lambda x: x.mean()),
    ("times a number", lambda x: (x * 2).sum()),
    ("plus", lambda x: (x + 1).mean()),
    ("minus itself", lambda x: (x - x.flip(0)).sum()),
    ("negative", lambda x: (1 - x).sum() - x.cumsum(0).mean()),
    ("added twice", lambda x: torch.add(x, x).double().sum()),
    ("views", lambda x: x.reshape(2, 1).t()[0].unsqueeze(0).sum()),
    ("parts", lambda x: torch.cat([x, x[:1]]).sum()),
    ("square", lambda x: (x * x).sum()),
    ("exp", lambda x: x.exp().mean()),
    ("product", lambda x: x @ x),
    ("a tensor", lambda x: (x * torch.tensor([1.0, 2.0])).sum()),
    ("divided", lambda x: (x / 2).sum()),
]:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = function(x)
    y.backward()
    try:
        y.backward()
        print(name, "again", x.grad)
    except RuntimeError:
        print(name, "refused", x.grad)
x = torch.tensor([1.0, 2.0], requires_grad=True)
h = x + 2
h.sum().backward()
(h * 3).sum().backward()
print(x.grad)
h = x * x
h.sum().backward()
refused("what both share", lambda: (h * 3).sum().backward())

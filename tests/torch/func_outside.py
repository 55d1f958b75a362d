# Derivatives of functions that find tensors with a history of their own: gradients go on to these.
from torch.func import functional_call, grad, grad_and_value, hessian, jacfwd, jacrev, jvp, linearize, vjp, vmap


def fresh(*values):
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)


print("# " + "grad")
w = torch.tensor(2.0, requires_grad=True)
g = grad(lambda x: w * x**2)(torch.tensor(3.0))
print(g.requires_grad)
(g**2 + w).backward()
print(w.grad)
w = fresh(1.0, 2.0)
x = torch.tensor([3.0, 4.0], dtype=torch.float64)
g, value = grad_and_value(lambda x: (w * x**3).sum())(x)
print(g.requires_grad, value.requires_grad)
(g.sum() * value).backward()
print(w.grad)
g, value = grad_and_value(lambda x: (x**3).sum() + w.sum())(x)
print(g.requires_grad, value.requires_grad)
g, value = grad_and_value(lambda x: (x**3).sum())(x)
print(g.requires_grad, value.requires_grad)
outer = fresh(2.0)
inner = grad(lambda x: (x * grad(lambda y: (x * y**2).sum())(torch.ones(2, dtype=torch.float64))).sum())(x)
print(inner, inner.requires_grad)
inner = grad(lambda x: (x * grad(lambda y: (outer * y**2).sum())(x)).sum())(x)
print(inner.requires_grad)
inner.sum().backward()
print(outer.grad)
print(grad(grad(lambda x: w[0] * x**4))(x[0]).requires_grad, grad(grad(lambda x: x**4))(x[0]).requires_grad)

print("# " + "without a tape outside")
with torch.no_grad():
    print(grad(lambda x: (x * w).sum())(x).requires_grad, jacrev(lambda x: x * w)(x).requires_grad)
    print(grad(lambda x: x**3)(fresh(2.0)[0]).requires_grad)


def held(x):
    with torch.no_grad():
        c = grad(lambda y: (y**3).sum())(x)
    return (x * c).sum()


print(grad(held)(x))

print("# " + "what comes beside")
g, (value, aux) = grad_and_value(lambda x: ((x**2).sum(), x * 2), has_aux=True)(x)
print(g, value, aux, aux.numpy())
g, aux = grad(lambda x: ((x**2).sum(), {"twice": x * 2, "scaled": x * w, "own": w, "n": x.sum()}), has_aux=True)(x)
print([aux[key].requires_grad for key in aux], aux["twice"].numpy())
out, pull, aux = vjp(lambda x: (x * 2, x * 3), x, has_aux=True)
print(aux.numpy(), out.requires_grad)

print("# " + "jacrev, jacfwd, hessian")
for made in [jacrev, jacfwd]:
    w.grad = None
    table = made(lambda x: x**2 * w)(x)
    print(table.requires_grad)
    (table**2).sum().backward()
    print(w.grad)
    print(made(lambda x: x**2)(x).requires_grad)
w.grad = None
table = hessian(lambda x: (x**3 * w).sum())(x)
print(table, table.requires_grad)
table.sum().backward()
print(w.grad)
print(hessian(lambda x: (x**3).sum())(x).requires_grad)

print("# " + "vjp")
w.grad = None
out, pull = vjp(lambda x: x**2 * w, x)
(g,) = pull(torch.ones_like(x))
print(out.requires_grad, g.requires_grad)
(g.sum() + out.sum()).backward()
print(w.grad)
out, pull = vjp(lambda x: x**2, x)
seed = torch.ones_like(x).requires_grad_()
print(out.requires_grad, pull(torch.ones_like(x))[0].requires_grad, pull(seed)[0].requires_grad)
pull(seed)[0].sum().backward()
print(seed.grad)

print("# " + "jvp")
w.grad = None
out, slope = jvp(lambda x: x**2 * w, (x,), (torch.ones_like(x),))
print(out.requires_grad, slope.requires_grad)
(slope.sum() + out.sum()).backward()
print(w.grad)
out, slope = jvp(lambda x: x**2, (x,), (torch.ones_like(x),))
print(out.requires_grad, slope.requires_grad)
seed = torch.ones_like(x).requires_grad_()
out, slope = jvp(lambda x: x**2, (x,), (seed,))
print(out.requires_grad, slope.requires_grad)
slope.sum().backward()
print(seed.grad)
out, push = linearize(lambda x: x**2, x)
print(out.requires_grad, push(torch.ones_like(x)).requires_grad)

print("# " + "a function of its own and a hook")


class Scaled(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x, w):
        return x * w

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        return g * w, g * x


w.grad = None
g = grad(lambda x: (Scaled.apply(x, w) ** 2).sum())(x)
print(g.requires_grad)
g.sum().backward()
print(w.grad)
print(grad(lambda x: (Scaled.apply(x, x) ** 2).sum())(x).requires_grad)

print("# " + "equations of physics")
net = nn.Sequential(nn.Linear(1, 4), nn.Tanh(), nn.Linear(4, 1)).double()
filled(net)
u = lambda t: net(t.view(1)).squeeze()
du, ddu = vmap(grad(u)), vmap(grad(grad(u)))
t = torch.linspace(0, 1, 5, dtype=torch.float64)
loss = ((ddu(t) + du(t)) ** 2).mean()
loss.backward()
show("loss", [loss, net[0].weight.grad, net[2].weight.grad])
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    opt.zero_grad()
    loss = ((ddu(t) + du(t)) ** 2).mean() + (u(torch.zeros((), dtype=torch.float64)) - 1) ** 2
    loss.backward()
    opt.step()
    show("loss", loss)

print("# " + "steps inside a step")
net = nn.Linear(2, 1).double()
filled(net)
params = dict(net.named_parameters())
data, target = torch.arange(8.0, dtype=torch.float64).reshape(4, 2) / 8, torch.ones(4, 1, dtype=torch.float64)
lost = lambda params: ((functional_call(net, params, (data,)) - target) ** 2).mean()
slopes = grad(lost)(params)
print(slopes["weight"].requires_grad)
lost({name: params[name] - 0.1 * slopes[name] for name in params}).backward()
print(net.weight.grad, net.bias.grad)
plain = {name: value.detach() for name, value in params.items()}
print(grad(lost)(plain)["weight"].requires_grad)

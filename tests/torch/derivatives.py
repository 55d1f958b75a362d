"""torch.autograd.functional, gradcheck, torch.func, and mixed precision that is off."""

from torch.autograd import gradcheck, gradgradcheck
from torch.autograd.functional import hessian, hvp, jacobian, jvp, vhp, vjp
from torch.func import grad, grad_and_value, vmap


def attempt(function):
    try:
        print(function())
    except Exception as error:
        print(type(error).__name__)


x, y, m = values(3), values(2, seed=2), values(2, 3, seed=3)


def f(x):
    return (m @ x.sin()) * x.sum()


def g(x, y):
    return torch.outer(x, y).exp(), (x**2).sum() * y


print("# functional")
show("jacobian", jacobian(f, x))
show("jacobian of two", jacobian(lambda x, y: (x**2).sum() * y, (x, y)))
show("jacobian of two, two outputs", jacobian(g, (x, y)))
show("jacobian of a matrix", jacobian(lambda m: m.exp().sum(1), m))
show("unused", jacobian(lambda x, y: x * 2, (x, y)))
show("hessian", hessian(lambda x: (x**3).sum() * x[0], x))
show("hessian of two", hessian(lambda x, y: (x.sin().sum() * y.pow(2)).sum(), (x, y)))
show("vjp", vjp(f, x, y))
show("vjp of one", vjp(lambda x: x.exp().sum(), x))
show("jvp", jvp(f, x, torch.ones_like(x)))
show("jvp of two", jvp(g, (x, y), (values(3, seed=5), values(2, seed=6))))
show("vhp", vhp(lambda x: (x**3).sum() * x[0], x, values(3, seed=4)))
show("hvp", hvp(lambda x: (x**3).sum() * x[0], x, values(3, seed=4)))
p = x.clone().requires_grad_()
weigh(jacobian(f, p, create_graph=True)).backward()
show("through a jacobian", p.grad)
print(jacobian(f, p).requires_grad, p.requires_grad)
layer = nn.Linear(3, 2).double()
show("of a layer", jacobian(layer, x) - layer.weight.detach())
attempt(lambda: hessian(f, x))
attempt(lambda: vjp(f, x))

print("# gradcheck")
a = values(4).requires_grad_()
print(gradcheck(lambda a: (a.sigmoid() * a, a.exp()), (a,)), gradcheck(torch.sin, a), gradgradcheck(lambda a: a**3, (a,)))


class Wrong(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**2

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * x


print(gradcheck(Wrong.apply, (a,), raise_exception=False))
attempt(lambda: gradcheck(Wrong.apply, (a,)))
attempt(lambda: gradcheck(torch.sin, (values(3),)))

print("# torch.func")
cube = lambda x: (x**3).sum()
show("grad", [grad(cube)(x), grad(lambda x, y: (x.sum() * y).sum(), argnums=1)(x, y)])
show("grad of both", grad(lambda x, y: (x.sum() * y).sum(), argnums=(0, 1))(x, y))
show("value", grad_and_value(cube)(x))
show("aux", grad(lambda x: (cube(x), x * 2), has_aux=True)(x))
show("second", grad(lambda x: grad(lambda x: x.sin())(x))(torch.tensor(0.5)))
show("third", grad(grad(grad(lambda x: x**4)))(torch.tensor(2.0)))
show("vmap", [vmap(torch.dot)(m, m + 1), vmap(lambda x: x.sum(), in_dims=1)(m), vmap(lambda a, b: a * b, in_dims=(0, None))(m, x), vmap(lambda a: a * 2, out_dims=1)(m)])
show("per sample", vmap(grad(lambda x, y: (x * y).sum() ** 2), in_dims=(0, None))(m, x))
show("nested", vmap(vmap(lambda a, b: a * b, in_dims=(None, 0)), in_dims=(0, None))(x, y))
show("several", vmap(lambda a: (a.sum(), a * 2))(m))
show("jacrev", [torch.func.jacrev(f)(x), torch.func.jacfwd(f)(x), torch.func.hessian(cube)(x)])
output, product = torch.func.vjp(f, x)
show("vjp", [output, product(y)])
show("jvp", torch.func.jvp(f, (x,), (torch.ones_like(x),)))
attempt(lambda: grad(f)(x))

print("# mixed precision")
net = nn.Linear(3, 1).double()
with torch.no_grad():
    net.weight.copy_(values(1, 3))
    net.bias.zero_()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cuda", enabled=False)
for step in range(3):
    optimizer.zero_grad()
    with torch.autocast(device_type="cpu", enabled=False):
        loss = (net(m) ** 2).mean()
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    scaler.step(optimizer)
    scaler.update()
    show("loss", loss)
print(scaler.get_scale(), scaler.is_enabled(), scaler.state_dict())
scaler = torch.amp.GradScaler("cpu", init_scale=8.0, growth_interval=2)
for step in range(5):
    optimizer.zero_grad()
    with torch.amp.autocast("cpu", enabled=False):
        loss = (net(m) ** 2).mean() * (float("inf") if step == 3 else 1.0)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    print(scaler.get_scale())
show("weights", net.weight)
print(sorted(scaler.state_dict()))


@torch.autocast("cpu", enabled=False)
def double(x):
    return x * 2


show("decorated", double(x))

print("# a slice of all that is gone")
leaf = torch.ones(3, 2, dtype=torch.float64).requires_grad_()
print(leaf[0:3].requires_grad, leaf[:].shape)
(leaf * 2).sum().backward()
show("grad", leaf.grad)

print("# functional_call")
from torch.func import functional_call

torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2), torch.nn.ReLU(), torch.nn.Linear(2, 1))
with torch.no_grad():
    for at, p in enumerate(net.parameters()):
        p.copy_(torch.arange(p.numel()).reshape(p.shape) * 0.5 + at)
net.eval()
batch = torch.tensor([[1.0, 2.0], [3.0, -1.0], [0.5, 0.0]])
own = {name: value.detach() for name, value in net.named_parameters()}


def off(parameters, x):
    return functional_call(net, parameters, (x,)).pow(2).mean()


print(off(own, batch), {name: value.tolist() for name, value in grad(off)(own, batch).items()})
print(functional_call(net, {"3.bias": torch.ones(1)}, batch).detach(), net(batch).detach())
print(functional_call(net, (own, {"1.running_mean": torch.ones(2)}), batch))
print(functional_call(net, {"not there": batch}, batch).shape, net[0].weight is dict(net.named_parameters())["0.weight"])
try:
    functional_call(net, {"not there": batch}, batch, strict=True)
except RuntimeError:
    print("refused")
both = grad_and_value(lambda t: (t["a"] * t["b"][0]).sum())({"a": torch.tensor(2.0), "b": [torch.tensor(3.0)]})
print(both)

print("# Variable and seeds of GPUs")
from torch.autograd import Variable

print(Variable(torch.ones(2), requires_grad=True), Variable(torch.ones(1)).requires_grad)
torch.cuda.manual_seed(0)
torch.cuda.manual_seed_all(0)
torch.cuda.empty_cache()

"""torch.utils.checkpoint: results that are not kept, and computed again in the backward pass."""

import warnings

from torch.utils.checkpoint import checkpoint, checkpoint_sequential

warnings.simplefilter("ignore")


def network(seed=1):
    net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 2)).double()
    with torch.no_grad():
        for at, parameter in enumerate(net.parameters()):
            parameter.copy_(values(*parameter.shape, seed=seed + at))
    return net


def grads(net):
    show("grads", [parameter.grad for parameter in net.parameters()])


x = values(5, 3, seed=9)

for reentrant in [True, False]:
    print("# use_reentrant =", reentrant)
    net = network()
    for needs in [True, False]:
        for parameter in net.parameters():
            parameter.grad = None
        given = x.clone().requires_grad_(needs)
        output = checkpoint(net, given, use_reentrant=reentrant)
        show("output", output)
        print(output.requires_grad, output.is_leaf)
        if output.requires_grad:
            output.pow(2).sum().backward()
            show("input", given.grad)
            print([parameter.grad is None for parameter in net.parameters()])
            grads(net)
    print("## computed twice, random numbers restored")
    calls = []

    def noisy(a, b=2.0):
        calls.append(torch.is_grad_enabled())
        noise = torch.rand(3, dtype=torch.float64)
        return (a * noise).sin() * b

    given = values(3).requires_grad_()
    torch.manual_seed(4)
    output = checkpoint(noisy, given, use_reentrant=reentrant)
    after = torch.rand(2)
    show("output", output)
    output.sum().backward()
    show("grad", given.grad)
    show("random", [after, torch.rand(2)])
    print(calls)
    torch.manual_seed(4)
    plain = values(3).requires_grad_()
    noisy(plain).sum().backward()
    show("plain", plain.grad - given.grad)
    print("## random numbers go on")
    torch.manual_seed(4)
    given = values(3).requires_grad_()
    checkpoint(noisy, given, use_reentrant=reentrant, preserve_rng_state=False).sum().backward()
    show("grad", given.grad)
    show("random", torch.rand(2))

    print("## several inputs and results")

    def several(a, b, c, number, nothing):
        return a * b, number, (a + c).exp(), c.detach() * 2

    a, b = values(3, seed=1).requires_grad_(), values(3, seed=2).requires_grad_()
    c = values(3, seed=3)
    if reentrant:
        output = checkpoint(lambda a, b, c, number, nothing: (a * b, (a + c).exp()), a, b, c, 3, None, use_reentrant=True)
        (output[0].sum() + output[1].sum()).backward()
    else:
        output = checkpoint(several, a, b, c, 3, None, use_reentrant=False)
        print(type(output).__name__, output[1], output[3].requires_grad)
        output[2].sum().backward()
        print(b.grad)
    show("output", output)
    show("grads", [a.grad])

    print("## one after the other")
    for segments in [1, 2, 3, 5]:
        net = network()
        given = x.clone().requires_grad_()
        output = checkpoint_sequential(net, segments, given, use_reentrant=reentrant)
        output.pow(2).sum().backward()
        show("output", output)
        show("input", given.grad)
        grads(net)
    net = network()
    output = checkpoint_sequential(list(net), 2, x.clone().requires_grad_(), use_reentrant=reentrant, preserve_rng_state=False)
    show("list", output)

    print("## nested")
    net = network()
    given = x.clone().requires_grad_()

    def inner(a):
        return checkpoint(net[2:], a, use_reentrant=reentrant) * 2

    output = checkpoint(lambda a: inner(net[:2](a)), given, use_reentrant=reentrant)
    output.pow(2).sum().backward()
    show("input", given.grad)
    grads(net)

    print("## dropout and batch norm")
    torch.manual_seed(2)
    layers = nn.Sequential(nn.BatchNorm1d(3), nn.Dropout(0.5)).double()
    given = x.clone().requires_grad_()
    output = checkpoint(layers, given, use_reentrant=reentrant)
    output.pow(2).sum().backward()
    show("output", output)
    show("input", given.grad)
    show("mean", layers[0].running_mean)
    print(layers[0].num_batches_tracked)

    print("## without gradients")
    with torch.no_grad():
        output = checkpoint(network(), x, use_reentrant=reentrant)
    show("output", output)
    print(output.requires_grad)

    print("## trained")
    net = network()
    optimizer = torch.optim.Adam(net.parameters(), lr=0.05)
    for _ in range(10):
        optimizer.zero_grad()
        hidden = checkpoint(net[1:4], net[0](x), use_reentrant=reentrant)
        loss = (net[4](hidden) - 1).pow(2).sum()
        loss.backward()
        optimizer.step()
    show("loss", loss)
    show("weights", list(net.parameters()))

print("# what only use_reentrant=False can")
net = network()
given = x.clone().requires_grad_()
output = checkpoint(net, given, use_reentrant=False)
show("grad", torch.autograd.grad(output.sum(), [given, net[0].weight]))
given = values(3).requires_grad_()
output = checkpoint(lambda a, scale: (a * scale).exp(), given, scale=3.0, use_reentrant=False)
(first,) = torch.autograd.grad(output.sum(), given, create_graph=True)
(second,) = torch.autograd.grad(first.sum(), given)
show("orders", [first, second])
outside = (values(3, seed=6).requires_grad_() * 2).sin()
root = values(3, seed=7).requires_grad_()
middle = root.sin()
output = checkpoint(lambda a: a * middle, given, use_reentrant=False)
(output.sum() + middle.sum()).backward()
show("through a closure", [given.grad, root.grad])
given.grad = None
output = checkpoint(lambda pair, named: pair[0] * named["b"] + pair[1], [given * 2, given.exp()], {"b": given.sin()}, use_reentrant=False)
output.sum().backward()
show("nested arguments", given.grad)
output = checkpoint(lambda a: {"x": 1}, given, use_reentrant=False)
print(output)
weight = nn.Parameter(values(3, seed=8))
given.grad = None
checkpoint(lambda a: (a * weight).sum(), given, use_reentrant=False).backward()
checkpoint(lambda a: (a * weight).sum(), given, use_reentrant=False).backward()
show("added up", [given.grad, weight.grad])

print("# autocast comes back")
layer = nn.Linear(3, 2)
with torch.no_grad():
    layer.weight.copy_(values(2, 3).float())
    layer.bias.zero_()
seen = []


def lowered(a):
    result = layer(a)
    seen.append(str(result.dtype))
    return result


for reentrant in [True, False]:
    given = x.float().requires_grad_()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        output = checkpoint(lowered, given, use_reentrant=reentrant)
    output.float().sum().backward()
    print(set(seen), output.dtype, given.grad.dtype)
    show("grad", given.grad.double())

print("# contexts and decorators")


class Around:
    def __init__(self, name):
        self.name = name

    def __enter__(self):
        print("into", self.name)

    def __exit__(self, *_):
        print("out of", self.name)


given = values(3).requires_grad_()
checkpoint(torch.sin, given, use_reentrant=False, context_fn=lambda: (Around("first"), Around("second"))).sum().backward()
show("grad", given.grad)

print("# refusals")
attempt("words", lambda: checkpoint(torch.sin, given, use_reentrant=True, scale=2))
refused("contexts", lambda: checkpoint(torch.sin, given, use_reentrant=True, context_fn=lambda: (Around("a"), Around("b"))))
attempt("sequence", lambda: checkpoint_sequential([torch.sin], 1, given, use_reentrant=False, scale=2))
shapes = [3, 2]


def changing(a):
    return a[: shapes.pop(0)].exp()


try:
    checkpoint(changing, given, use_reentrant=False).sum().backward()
except RuntimeError as error:
    print(type(error).__name__)


@torch.no_grad()
def without(a):
    return a * 2


try:
    checkpoint(without, given, use_reentrant=True).sum().backward()
except RuntimeError as error:
    print(type(error).__name__)
print(checkpoint(without, given, use_reentrant=False).requires_grad)

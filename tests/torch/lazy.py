"""Layers that learn the size of their input from their first call."""

import copy

from torch.nn.parameter import UninitializedBuffer, UninitializedParameter, is_lazy

KINDS = [
    (nn.LazyLinear, (3,), (2, 4)),
    (nn.LazyLinear, (3, False), (5, 2, 4)),
    (nn.LazyConv1d, (4, 3), (2, 6, 7)),
    (nn.LazyConv2d, (4, 3), (2, 6, 7, 5)),
    (nn.LazyConv2d, (4, (1, 2), 2, 1, 1, 2, False), (6, 7, 5)),
    (nn.LazyConv3d, (4, 2), (1, 2, 4, 5, 3)),
    (nn.LazyConvTranspose1d, (4, 3), (2, 6, 7)),
    (nn.LazyConvTranspose2d, (4, 3, 2, 1, 1, 2), (2, 6, 5, 4)),
    (nn.LazyConvTranspose3d, (2, 2), (1, 2, 3, 2, 3)),
    (nn.LazyBatchNorm1d, (), (4, 3)),
    (nn.LazyBatchNorm1d, (1e-3, 0.2, False), (4, 3, 2)),
    (nn.LazyBatchNorm2d, (1e-3, None, True, False), (2, 3, 2, 2)),
    (nn.LazyBatchNorm3d, (), (2, 3, 2, 2, 2)),
    (nn.LazyInstanceNorm1d, (), (2, 3, 4)),
    (nn.LazyInstanceNorm2d, (1e-3,), (2, 3, 4, 4)),
    (nn.LazyInstanceNorm3d, (1e-3, 0.1, False, False), (2, 3, 2, 2, 2)),
]


def names(layer):
    print([name for name, _ in layer.named_parameters()], [name for name, _ in layer.named_buffers()])


for at, (kind, args, shape) in enumerate(KINDS):
    print("#", kind.__name__, args)
    torch.manual_seed(at)
    layer = kind(*args)
    print(layer, layer.training)
    print(list(layer.state_dict()), layer.has_uninitialized_params())
    names(layer)
    x = values(*shape).float()
    output = layer(x)
    show("output", output.double())
    print(layer)
    names(layer)
    for key, value in layer.state_dict().items():
        show(f"state {key}", value.double())
    print([type(value).__name__ for value in layer.parameters()], [value.requires_grad for value in layer.parameters()])
    if output.requires_grad:
        output.sum().backward()
    show("grads", [value.grad.double() for value in layer.parameters()])
    show("again", layer(x).double())
    show("random", torch.rand(2).double())
    print(isinstance(layer, kind.cls_to_become), kind.cls_to_become)

print("# what has no shape yet")
layer = nn.LazyLinear(3)
weight = layer.weight
print(weight, layer.bias, type(weight), is_lazy(weight), isinstance(weight, UninitializedParameter))
print(weight.dtype, weight.device, weight.requires_grad, weight.grad, weight.is_leaf, weight.is_floating_point())
for name, ask in {
    "numel": lambda: weight.numel(),
    "shape": lambda: weight.shape,
    "sum": lambda: weight.sum(),
    "add": lambda: weight + 1,
    "radd": lambda: 1 + weight,
    "matmul": lambda: weight @ weight,
    "item": lambda: weight.item(),
    "len": lambda: len(weight),
    "index": lambda: weight[0],
    "requires_grad_": lambda: layer.requires_grad_(False),
    "count": lambda: sum(p.numel() for p in layer.parameters()),
    "zeros": lambda: nn.init.zeros_(weight),
    "vector": lambda: nn.utils.parameters_to_vector(layer.parameters()),
}.items():
    try:
        print(name, ask())
    except (ValueError, RuntimeError) as error:
        print(name, type(error).__name__)
attempt("attribute", lambda: hasattr(weight, "nothing"))
layer.zero_grad()
layer.reset_parameters()
print(layer.eval().training, layer.train().training, nn.utils.clip_grad_norm_(layer.parameters(), 1.0))
print([p for p in layer.parameters()], copy.deepcopy(layer))
print(layer.double().weight.dtype, layer.weight)
layer(values(2, 5))
print(layer, layer.weight.dtype, layer.weight.shape)

print("# alone")
alone = UninitializedParameter(requires_grad=False, dtype=torch.float64)
print(alone, alone.requires_grad, alone.dtype)
buffer = UninitializedBuffer(dtype=torch.float64)
print(buffer, buffer.requires_grad, is_lazy(buffer), is_lazy(torch.ones(1)))

print("# refused inputs")
attempt("rank", lambda: nn.LazyConv2d(3, 2)(torch.ones(2, 2)))
attempt("groups", lambda: nn.LazyConv2d(4, 2, groups=2)(torch.ones(1, 3, 4, 4)))
attempt("norm", lambda: nn.LazyBatchNorm2d()(torch.ones(2, 3, 4)))
print(nn.LazyConv2d(4, 3, padding="same", padding_mode="circular", bias=False))
print(nn.LazyConv1d(4, 3, groups=2, dilation=2), nn.LazyConvTranspose2d(4, (2, 3), stride=2, output_padding=1))

print("# state dicts")
source = nn.Linear(4, 3)
layer = nn.LazyLinear(3)
print(layer.load_state_dict(source.state_dict()), layer.has_uninitialized_params(), layer.weight.shape)
show("equal", (layer.weight == source.weight).all().item())
layer(torch.ones(1, 4))
show("equal", (layer.weight == source.weight).all().item())
print(layer, layer.in_features)
print(nn.LazyLinear(3).load_state_dict(nn.LazyLinear(3).state_dict()))
attempt("from lazy", lambda: nn.Linear(4, 3).load_state_dict(nn.LazyLinear(3).state_dict()))
attempt("missing", lambda: nn.LazyLinear(3).load_state_dict({"weight": torch.ones(3, 2)}))
layer = nn.LazyLinear(3)
layer.load_state_dict(source.state_dict())
attempt("other size", lambda: layer(torch.ones(1, 5)))
norm = nn.BatchNorm2d(3)
lazy = nn.LazyBatchNorm2d()
print(lazy.load_state_dict(norm.state_dict()))
print(lazy.running_mean, lazy.weight.shape, lazy(torch.ones(1, 3, 2, 2)).shape)
print(lazy)
network = nn.Sequential(nn.LazyLinear(3), nn.ReLU(), nn.LazyLinear(2))
print(network.load_state_dict(nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2)).state_dict()))
print(network[2].weight.shape)

print("# a network, and an optimizer made before its first call")
torch.manual_seed(11)
network = nn.Sequential(nn.LazyConv2d(3, 2, bias=False), nn.LazyBatchNorm2d(), nn.ReLU(), nn.Flatten(), nn.LazyLinear(2))
print(network)
print(list(network.state_dict()))
optimizers = [torch.optim.SGD(network.parameters(), lr=0.1, momentum=0.9), torch.optim.Adam(network.parameters(), lr=0.01)]
optimizers[0].step()
optimizers[0].zero_grad()
x = values(4, 2, 4, 4).float()
for _ in range(4):
    for optimizer in optimizers:
        optimizer.zero_grad()
        loss = network(x).pow(2).sum()
        loss.backward()
        optimizer.step()
    show("loss", loss.double())
print(network)
show("weights", [parameter.double() for parameter in network.parameters()])
print([len(group["params"]) for optimizer in optimizers for group in optimizer.param_groups])
print(list(optimizers[1].state_dict()["state"]))

print("# hooks and apply")
seen = []
layer = nn.LazyLinear(2)
layer.register_forward_hook(lambda module, args, output: seen.append(tuple(output.shape)))
layer(torch.ones(3, 2))
layer(torch.ones(1, 2))
print(seen)
kinds = []
nn.Sequential(nn.LazyLinear(2), nn.LazyConv1d(1, 1)).apply(lambda module: kinds.append(type(module).__name__))
print(kinds)
twin = copy.deepcopy(nn.LazyLinear(2))
print(twin(torch.ones(1, 3)).shape, twin)

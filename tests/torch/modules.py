"""Modules and containers: names, state dicts, hooks, initial values."""

from collections import OrderedDict


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.scale = nn.Parameter(torch.full((width,), 2.0))
        self.linear = nn.Linear(width, width)
        self.register_buffer("seen", torch.zeros(1))
        self.register_buffer("cache", torch.ones(1), persistent=False)
        self.offset = nn.Parameter(torch.zeros(width))

    def forward(self, x):
        return self.linear(x) * self.scale + self.offset


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(2, 3)
        self.blocks = nn.ModuleList([Block(3) for _ in range(2)])
        self.parts = nn.ModuleDict({"a": nn.ReLU(), "b": nn.BatchNorm1d(3)})
        self.extra = nn.ParameterList([torch.zeros(2), nn.Parameter(torch.ones(1))])
        self.named = nn.ParameterDict({"w": torch.zeros(3)})
        self.shared = self.head
        self.tail = nn.Sequential(OrderedDict([("one", nn.Linear(3, 3)), ("two", nn.Tanh())]))

    def forward(self, x):
        x = self.head(x)
        for block in self.blocks:
            x = block(x)
        x = self.parts["b"](self.parts["a"](x))
        return self.tail(x)


net = Net()
print("# names")
print([name for name, _ in net.named_parameters()])
print([name for name, _ in net.named_parameters(recurse=False)], len(list(net.parameters())))
print([name for name, _ in net.named_buffers()], len(list(net.buffers())))
print([name for name, _ in net.named_modules()])
print([name for name, _ in net.named_children()], len(list(net.children())), len(list(net.modules())))
print(list(net.state_dict()))
print([name for name, _ in net.named_parameters(prefix="net")][:2])
print([name for name, _ in net.named_parameters(remove_duplicate=False)][-4:])
print(net.get_submodule("blocks.1.linear"), net.get_parameter("tail.one.bias").shape == (3,), net.get_buffer("parts.b.running_mean").shape == (3,))
print(net)
print(sum(p.numel() for p in net.parameters()))

print("# containers")
row = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
print(len(row), row[0], row[-1], row[1:])
row.append(nn.Sigmoid())
row[1] = nn.Tanh()
row.insert(0, nn.Identity())
del row[-1]
print(row)
print([type(module).__name__ for module in row], nn.Sequential(nn.ReLU()) + nn.Sequential(nn.Tanh()))
modules = nn.ModuleList([nn.ReLU()])
modules.append(nn.Tanh())
modules.extend([nn.Linear(1, 1), nn.Linear(1, 1)])
modules.insert(1, nn.Sigmoid())
modules += [nn.ELU()]
print(modules, len(modules), modules[-1], modules[1:3])
print(modules.pop(0), len(modules))
names = nn.ModuleDict([["conv", nn.Conv2d(1, 2, 3)], ["act", nn.ReLU()]])
names["more"] = nn.Tanh()
names.update({"last": nn.ELU()})
print(list(names.keys()), "act" in names, len(names), names.pop("act"), [key for key in names])
parameters = nn.ParameterList([torch.zeros(2)])
parameters.append(torch.ones(3))
print(len(parameters), [p.requires_grad for p in parameters], parameters)
print(nn.Sequential(OrderedDict([("fc", nn.Linear(1, 2))])).fc)

print("# state dicts")
net = net.double()
for at, parameter in enumerate(net.parameters()):
    parameter.data.copy_(values(*parameter.shape, seed=at))
other = Net().double()
print(other.load_state_dict(net.state_dict()))
show("same", [other.eval()(values(2, 2)), net.eval()(values(2, 2))])
state = net.state_dict()
with torch.no_grad():
    net.head.weight.add_(1)
show("a state shows later changes", state["head.weight"])
print(state["head.weight"].requires_grad, net.state_dict(keep_vars=True)["head.weight"].requires_grad)
small = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
saved = small.state_dict()
del saved["0.bias"]
saved["2.weight"] = torch.zeros(1)
print(small.load_state_dict(saved, strict=False))
try:
    small.load_state_dict(saved)
except RuntimeError as error:
    print(error)
try:
    nn.Linear(2, 2).load_state_dict({"weight": torch.zeros(2, 3), "other": torch.zeros(1)})
except RuntimeError as error:
    print(error)
try:
    nn.Linear(2, 2).load_state_dict({"weight": torch.zeros(2, 3)}, strict=False)
except RuntimeError as error:
    print(error)
print(list(small.state_dict(prefix="net.")))

print("# modes")
net.train()
print(net.training, net.parts["b"].training, net.eval().parts["b"].training)
net.requires_grad_(False)
print([p.requires_grad for p in net.parameters()].count(True))
net.requires_grad_()
net(values(3, 2)).sum().backward()
print(net.head.weight.grad is not None)
net.zero_grad()
print(net.head.weight.grad)
seen = []
net.apply(lambda module: seen.append(type(module).__name__))
print(seen)
print(net.float().head.weight.dtype, net.parts["b"].num_batches_tracked.dtype, net.to(torch.float64).head.weight.dtype)

print("# shared parameters")
first, second = nn.Linear(2, 2), nn.Linear(2, 2)
second.weight = first.weight
pair = nn.Sequential(first, second)
print(len(list(pair.parameters())), list(pair.state_dict()), first.weight is second.weight)

print("# copies")
import copy

twin = copy.deepcopy(pair)
print(len(list(twin.parameters())), twin[0].weight is twin[1].weight, twin[0].weight is first.weight)

print("# hooks")
layer = nn.Linear(2, 2).double()
for at, parameter in enumerate(layer.parameters()):
    parameter.data.copy_(values(*parameter.shape, seed=at))
first = layer.register_forward_pre_hook(lambda module, args: (args[0] * 2,))
second = layer.register_forward_hook(lambda module, args, output: output + 1)
third = layer.register_forward_hook(lambda module, args, output: print("saw", type(module).__name__, len(args)))
show("hooked", layer(values(1, 2)))
first.remove()
show("one removed", layer(values(1, 2)))
second.remove()
third.remove()
show("all removed", layer(values(1, 2)))
with layer.register_forward_hook(lambda module, args, output: output * 0):
    show("zero", layer(values(1, 2)))
show("after", layer(values(1, 2)))
named = layer.register_forward_hook(lambda module, args, kwargs, output: print(sorted(kwargs)), with_kwargs=True)
layer(input=values(1, 2))
named.remove()

print("# initial values")
weight = torch.empty(400, 300)
for name, fill, low, high, std in [
    ("uniform", lambda w: nn.init.uniform_(w, -2.0, 3.0), -2.0, 3.0, 5 / math.sqrt(12)),
    ("normal", lambda w: nn.init.normal_(w, 1.0, 0.5), -9.0, 9.0, 0.5),
    ("trunc normal", lambda w: nn.init.trunc_normal_(w, 0.0, 1.0, -1.0, 1.0), -1.0, 1.0, 0.5396),
    ("xavier uniform", nn.init.xavier_uniform_, -math.sqrt(6 / 700), math.sqrt(6 / 700), math.sqrt(2 / 700)),
    ("xavier normal", lambda w: nn.init.xavier_normal_(w, gain=2.0), -9.0, 9.0, 2 * math.sqrt(2 / 700)),
    ("kaiming uniform", lambda w: nn.init.kaiming_uniform_(w, nonlinearity="relu"), -math.sqrt(6 / 300), math.sqrt(6 / 300), math.sqrt(2 / 300)),
    ("kaiming normal", lambda w: nn.init.kaiming_normal_(w, a=0.1, mode="fan_out"), -9.0, 9.0, math.sqrt(2 / 1.01 / 400)),
]:
    filled = fill(weight)
    print(name, filled is weight, weight.min().item() >= low, weight.max().item() <= high, abs(weight.std().item() / std - 1) < 0.03)
show("constant", nn.init.constant_(torch.empty(2, 2), 0.3))
show("ones", nn.init.ones_(torch.empty(2)))
show("zeros", nn.init.zeros_(torch.empty(2)))
show("eye", nn.init.eye_(torch.empty(2, 3)))
show("dirac", nn.init.dirac_(torch.empty(3, 2, 3)))
show("dirac in groups", nn.init.dirac_(torch.empty(4, 2, 3, 3), 2))
square = nn.init.orthogonal_(torch.empty(3, 5, dtype=torch.float64), gain=2.0)
show("orthogonal", (square @ square.t()).abs().round())
sparse = nn.init.sparse_(torch.empty(10, 4), 0.3)
print((sparse == 0).sum(0).tolist())
for name in ["linear", "conv2d", "sigmoid", "tanh", "relu", "leaky_relu", "selu"]:
    show(name, float(nn.init.calculate_gain(name)))
show("leaky_relu", float(nn.init.calculate_gain("leaky_relu", 0.2)))
for make in [lambda: nn.init.xavier_uniform_(torch.empty(3)), lambda: nn.init.kaiming_uniform_(torch.empty(3, 3), mode="fan"), lambda: nn.init.calculate_gain("new")]:
    try:
        make()
    except ValueError as error:
        print(error)

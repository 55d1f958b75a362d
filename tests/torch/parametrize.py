"""torch.nn.utils.parametrize: tensors of modules that are computed from others."""

from torch.nn.utils import parametrize


class Symmetric(nn.Module):
    def forward(self, X):
        return X.triu() + X.triu(1).T

    def right_inverse(self, A):
        return A.triu()


class Doubled(nn.Module):
    def forward(self, X):
        return 2 * X


class RankOne(nn.Module):
    def forward(self, x, y):
        return x.unsqueeze(-1) @ y.unsqueeze(-2)

    def right_inverse(self, Z):
        return Z[:, 0].clone(), Z[0].clone()


class Halved(nn.Module):
    def forward(self, X):
        return X.float()


class Shorter(nn.Module):
    def forward(self, X):
        return X[1:]


class Listed(nn.Module):
    def forward(self, X):
        return [X]


class Narrowing(nn.Module):
    def forward(self, X):
        return X.double()

    def right_inverse(self, X):
        return X.float()


def square(seed=1):
    layer = nn.Linear(3, 3).double()
    with torch.no_grad():
        layer.weight.copy_(values(3, 3, seed=seed))
        layer.bias.copy_(values(3, seed=seed + 1))
    return layer


def state(layer):
    for key, value in layer.state_dict().items():
        show(f"state {key}", value)
    print([(name, parameter.requires_grad) for name, parameter in layer.named_parameters()])
    print([name for name, _ in layer.named_buffers()], [name for name, _ in layer.named_modules()])


print("# one")
layer = square()
print(parametrize.is_parametrized(layer), parametrize.is_parametrized(layer, "weight"))
print(parametrize.register_parametrization(layer, "weight", Symmetric()) is layer)
print(layer)
print(isinstance(layer, nn.Linear), parametrize.type_before_parametrizations(layer))
print(parametrize.is_parametrized(layer), parametrize.is_parametrized(layer, "weight"), parametrize.is_parametrized(layer, "bias"))
state(layer)
show("weight", layer.weight)
print(isinstance(layer.weight, nn.Parameter), hasattr(layer, "weight"), "weight" in layer._parameters, layer.weight is layer.weight)
print(type(layer.parametrizations).__name__, list(layer.parametrizations), len(layer.parametrizations.weight))
print(isinstance(layer.parametrizations.weight, parametrize.ParametrizationList), layer.parametrizations["weight"][0])
x = values(2, 3, seed=4)
layer(x).pow(2).sum().backward()
show("grad", layer.parametrizations.weight.original.grad)
show("grad of bias", layer.bias.grad)

print("# assignment")
wanted = values(3, 3, seed=9)
layer.weight = wanted + wanted.T
show("weight", layer.weight)
show("original", layer.parametrizations.weight.original)

print("# training")
optimizer = torch.optim.SGD(layer.parameters(), lr=0.05, momentum=0.9)
for _ in range(10):
    optimizer.zero_grad()
    loss = (layer(x) - 1).pow(2).sum()
    loss.backward()
    optimizer.step()
show("loss", loss)
show("weight", layer.weight)

print("# several in a row")
parametrize.register_parametrization(layer, "weight", Doubled())
print(layer)
show("weight", layer.weight)
state(layer)
attempt("assignment", lambda: setattr(layer, "weight", wanted))
parametrize.register_parametrization(layer, "bias", Doubled())
print(layer)
state(layer)

print("# removal")
kept = layer.weight.detach().clone()
original = layer.parametrizations.weight.original
print(parametrize.remove_parametrizations(layer, "weight") is layer)
print(layer)
show("same", (layer.weight - kept).abs().max())
print(layer.weight is original, isinstance(layer.weight, nn.Parameter), layer.weight.requires_grad)
state(layer)
parametrize.remove_parametrizations(layer, "bias", leave_parametrized=False)
print(layer, type(layer), hasattr(layer, "parametrizations"))
state(layer)
attempt("removal of nothing", lambda: parametrize.remove_parametrizations(layer, "weight"))
layer.weight = nn.Parameter(torch.zeros(3, 3))
print(layer.weight.sum().item())
attempt("plain", lambda: setattr(layer, "weight", torch.zeros(3)))

print("# other layers of the class")
attempt("missing", lambda: square().wieght)
attempt("missing", lambda: layer.parametrizations)
print(hasattr(layer, "nothing"), getattr(layer, "nothing", 5))

print("# several originals")
layer = square()
parametrize.register_parametrization(layer, "weight", RankOne(), unsafe=True)
print(layer)
state(layer)
show("weight", layer.weight)
layer(x).sum().backward()
show("grads", [parameter.grad for parameter in layer.parameters()])
layer.weight = wanted
show("weight", layer.weight)
attempt("removal", lambda: parametrize.remove_parametrizations(layer, "weight", leave_parametrized=False))
parametrize.remove_parametrizations(layer, "weight")
print(layer, isinstance(layer.weight, nn.Parameter))
state(layer)

print("# buffers")
norm = nn.BatchNorm1d(3).double()
parametrize.register_parametrization(norm, "running_mean", Doubled())
print(norm)
state(norm)
norm.running_mean
show("mean", norm.running_mean)
parametrize.remove_parametrizations(norm, "running_mean")
print(norm, [name for name, _ in norm.named_buffers()])

print("# state dicts")
first, second = square(1), square(5)
for layer in [first, second]:
    parametrize.register_parametrization(layer, "weight", Symmetric())
print(second.load_state_dict(first.state_dict()))
show("weight", second.weight - first.weight)
attempt("strict", lambda: second.load_state_dict(square().state_dict()))
network = nn.Sequential(first, nn.ReLU(), second)
print(network)
print(list(network.state_dict()), len(list(network.parameters())))
network.float()
print(first.weight.dtype, first.parametrizations.weight.original.dtype)
network.double().eval()
print(first.parametrizations.weight[0].training)

print("# cached")
calls = []


class Counting(nn.Module):
    def forward(self, X):
        calls.append(1)
        return X + 1


layer = square()
parametrize.register_parametrization(layer, "weight", Counting())
calls.clear()
layer(x), layer(x)
print(len(calls))
with parametrize.cached():
    a = layer.weight
    with parametrize.cached():
        print(layer.weight is a)
    layer(x), layer(x)
    print(len(calls))
layer(x)
print(len(calls), layer.weight is a)

print("# refusals")
attempt("no tensor", lambda: parametrize.register_parametrization(square(), "nothing", Doubled()))
attempt("attribute", lambda: parametrize.register_parametrization(square(), "in_features", Doubled()))
for kind in [Halved, Shorter, Listed]:
    attempt(kind.__name__, lambda: parametrize.register_parametrization(square(), "weight", kind()))
    layer = square()
    parametrize.register_parametrization(layer, "weight", Doubled())
    try:
        parametrize.register_parametrization(layer, "weight", kind())
    except ValueError as error:
        print(kind.__name__, "after another", type(error).__name__)
    print(len(layer.parametrizations.weight))
attempt("right_inverse", lambda: parametrize.register_parametrization(square(), "weight", Narrowing()))
attempt("no modules", lambda: parametrize.ParametrizationList([], nn.Parameter(torch.ones(2))))
layer = square()
parametrize.register_parametrization(layer, "weight", Shorter(), unsafe=True)
print(layer.weight.shape, layer.parametrizations.weight.original.shape, layer.parametrizations.weight.unsafe)

print("# transfer")
source = square(3)
parametrize.register_parametrization(source, "weight", Symmetric())
target = square(7)
print(parametrize.transfer_parametrizations_and_params(source, target) is target)
print(target)
show("weight", target.weight - source.weight)
print(parametrize.transfer_parametrizations_and_params(square(), square()))
source = square(3)
parametrize.register_parametrization(source, "weight", RankOne(), unsafe=True)
target = nn.Module()
attempt("unsafe", lambda: parametrize.transfer_parametrizations_and_params(source, square(8), "weight"))

print("# a layer of one's own")


class Own(nn.Linear):
    def forward(self, x):
        return x @ self.weight

    def __getattr__(self, name):
        if name == "special":
            return "special value"
        return super().__getattr__(name)


layer = Own(3, 3).double()
with torch.no_grad():
    layer.weight.copy_(values(3, 3, seed=2))
parametrize.register_parametrization(layer, "weight", Symmetric())
print(layer)
print(layer.special)
show("output", layer(x))
state_before = parametrize.is_parametrized(Own(2, 2))
print(state_before)

import copy

print("# copies")
layer = square()
parametrize.register_parametrization(layer, "weight", Symmetric())
twin = copy.deepcopy(layer)
print(twin)
with torch.no_grad():
    twin.parametrizations.weight.original.zero_()
show("twin", twin.weight)
show("layer", layer.weight)
layer.weight.requires_grad
layer.requires_grad_(False)
print(layer.weight.requires_grad)

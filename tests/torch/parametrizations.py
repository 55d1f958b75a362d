"""torch.nn.utils.parametrizations and the older weight_norm and spectral_norm."""

from torch.nn.utils import parametrize
from torch.nn.utils.parametrizations import orthogonal, spectral_norm, weight_norm


def state(layer):
    for key, value in layer.state_dict().items():
        show(f"state {key}", value)


def train(layer, x, steps=5):
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.05, momentum=0.5)
    for _ in range(steps):
        optimizer.zero_grad()
        loss = (weigh(layer(x)) - 1) ** 2
        loss.backward()
        optimizer.step()
    for key, parameter in layer.named_parameters():
        show(f"grad {key}", parameter.grad)
    show("loss", loss)
    show("weight", layer.weight)


print("# weight_norm")
for dim in [0, 1, None, -1]:
    print("## dim", dim)
    layer = weight_norm(filled(nn.Linear(3, 2)), dim=dim)
    print(layer)
    state(layer)
    show("weight", layer.weight)
    train(layer, values(4, 3, seed=3))
    state(layer)
    parametrize.remove_parametrizations(layer, "weight")
    print(layer)
    show("weight", layer.weight)
layer = weight_norm(filled(nn.Conv2d(2, 3, 2)), "weight", 1)
state(layer)
train(layer, values(1, 2, 4, 4, seed=3))
layer = weight_norm(filled(nn.Linear(3, 2)), "bias")
state(layer)
older = nn.utils.weight_norm(filled(nn.Linear(3, 2), 5))
layer = weight_norm(filled(nn.Linear(3, 2)))
print(layer.load_state_dict(older.state_dict()), sorted(older.state_dict()))
show("weight", layer.weight)
attempt("no such", lambda: weight_norm(nn.Linear(3, 2), "nothing"))

print("# spectral_norm")
torch.manual_seed(3)
layer = spectral_norm(filled(nn.Linear(3, 4)))
print(layer)
state(layer)
show("weight", layer.weight)
show("norm", torch.linalg.matrix_norm(layer.weight, 2))
train(layer, values(2, 3, seed=6))
state(layer)
layer.eval()
show("eval", [layer.weight, layer.weight])
state(layer)
print([name for name, _ in layer.named_buffers()])
parametrize.remove_parametrizations(layer, "weight")
print(layer)
state(layer)
torch.manual_seed(4)
for layer in [nn.Conv2d(2, 3, 2), nn.ConvTranspose2d(2, 3, 2), nn.ConvTranspose1d(2, 3, 2)]:
    layer = spectral_norm(filled(layer), n_power_iterations=2, eps=1e-6)
    print(layer)
    state(layer)
    train(layer, values(1, 2, 4, 4, seed=3) if layer.weight.ndim == 4 else values(1, 2, 4, seed=3))
layer = spectral_norm(filled(nn.Linear(3, 4)), dim=-1)
state(layer)
layer = spectral_norm(filled(nn.Linear(3, 4)), "bias")
print(layer)
show("bias", layer.bias)
layer.bias.sum().backward()
show("grad", layer.parametrizations.bias.original.grad)
attempt("dim", lambda: spectral_norm(nn.Linear(3, 4), dim=2))
attempt("steps", lambda: spectral_norm(nn.Linear(3, 4), n_power_iterations=0))
attempt("name", lambda: spectral_norm(nn.Linear(3, 4), "in_features"))
torch.manual_seed(0)
print(spectral_norm(nn.Linear(3, 2)).parametrizations.weight[0]._u.tolist())
torch.manual_seed(0)
show("random", spectral_norm(nn.Linear(20, 40)).parametrizations.weight[0]._v)

print("# orthogonal")
for shape in [(4, 4), (5, 3), (3, 5)]:
    for name in [None, "matrix_exp", "cayley", "householder"]:
        for trivial in [True, False]:
            print("##", shape, name, trivial)
            torch.manual_seed(7)
            layer = filled(nn.Linear(*shape))
            try:
                orthogonal(layer, orthogonal_map=name, use_trivialization=trivial)
            except Exception as error:
                print(type(error).__name__)
                continue
            print(layer)
            print(list(layer.state_dict()))
            w = layer.weight
            small = w @ w.T if w.shape[0] <= w.shape[1] else w.T @ w
            show("unit", (small - torch.eye(min(shape), dtype=torch.float64)).abs().max() < 1e-9)
            square = shape[0] == shape[1]
            if square or not trivial:
                state(layer)
                show("weight", w)
                train(layer, values(2, shape[0], seed=3))
            else:
                show("original", layer.parametrizations.weight.original)
            w = layer.weight
            small = w @ w.T if w.shape[0] <= w.shape[1] else w.T @ w
            show("unit", (small - torch.eye(min(shape), dtype=torch.float64)).abs().max() < 1e-9)
            try:
                layer.weight = torch.eye(shape[1], shape[0], dtype=torch.float64)
                show("assigned", (layer.weight - torch.eye(shape[1], shape[0], dtype=torch.float64)).abs().max() < 1e-9)
            except Exception as error:
                print(type(error).__name__)
layer = filled(nn.Linear(4, 4))
with torch.no_grad():
    layer.weight.copy_(torch.linalg.qr(layer.weight)[0])
before = layer.weight.detach().clone()
show("kept", (orthogonal(layer).weight - before).abs().max() < 1e-12)
attempt("vector", lambda: orthogonal(nn.Linear(3, 4), "bias"))
attempt("map", lambda: orthogonal(nn.Linear(3, 4), orthogonal_map="qr"))
attempt("name", lambda: orthogonal(nn.Linear(3, 4), "nothing"))
attempt("shape", lambda: setattr(orthogonal(nn.Linear(3, 4)), "weight", torch.eye(3)))

print("# the older weight_norm")
for dim in [0, 1, None]:
    layer = nn.utils.weight_norm(filled(nn.Linear(3, 2)), dim=dim)
    print(layer, isinstance(layer.weight, nn.Parameter))
    state(layer)
    show("weight", layer.weight)
    train(layer, values(4, 3, seed=3))
    print(nn.utils.remove_weight_norm(layer) is layer)
    print(layer, isinstance(layer.weight, nn.Parameter))
    state(layer)
attempt("again", lambda: nn.utils.remove_weight_norm(layer))
layer = nn.utils.weight_norm(nn.Linear(3, 2))
attempt("twice", lambda: nn.utils.weight_norm(layer))
nn.utils.weight_norm(layer, "bias")
print(sorted(layer.state_dict()))

print("# the older spectral_norm")
torch.manual_seed(5)
layer = nn.utils.spectral_norm(filled(nn.Linear(3, 4)))
print(layer, isinstance(layer.weight, nn.Parameter), isinstance(layer.weight_orig, nn.Parameter))
state(layer)
show("weight", layer.weight)
train(layer, values(2, 3, seed=6))
state(layer)
layer.eval()
show("eval", layer(values(2, 3, seed=6)))
state(layer)
other = nn.utils.spectral_norm(filled(nn.Linear(3, 4), 8))
print(other.load_state_dict(layer.state_dict()))
show("loaded", other.eval()(values(2, 3, seed=6)))
print(nn.utils.remove_spectral_norm(layer) is layer)
print(layer, isinstance(layer.weight, nn.Parameter))
state(layer)
attempt("again", lambda: nn.utils.remove_spectral_norm(layer))
attempt("twice", lambda: nn.utils.spectral_norm(other))
attempt("steps", lambda: nn.utils.spectral_norm(layer, n_power_iterations=0))
attempt("name", lambda: nn.utils.spectral_norm(layer, "nothing"))
for layer in [nn.Conv2d(2, 3, 2), nn.ConvTranspose2d(2, 3, 2)]:
    layer = nn.utils.spectral_norm(filled(layer), n_power_iterations=3)
    state(layer)
    train(layer, values(1, 2, 4, 4, seed=3))

print("# two passes, as of a critic")
torch.manual_seed(6)
for make in [spectral_norm, nn.utils.spectral_norm]:
    layer = make(filled(nn.Linear(3, 1)))
    loss = layer(values(2, 3, seed=1)).mean() - layer(values(2, 3, seed=2)).mean()
    loss.backward()
    show("loss", loss)
    for key, parameter in layer.named_parameters():
        show(f"grad {key}", parameter.grad)

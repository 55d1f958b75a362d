"""torch.nn.utils.prune: weights of which some elements are kept at 0."""

from torch.nn.utils import prune


def state(layer):
    print(layer, [name for name, _ in layer.named_parameters()], [name for name, _ in layer.named_buffers()])
    for key, value in layer.state_dict().items():
        show(f"state {key}", value)
    show("weight", layer.weight)


WAYS = {
    "identity": lambda layer: prune.identity(layer, "weight"),
    "l1": lambda layer: prune.l1_unstructured(layer, "weight", 0.4),
    "l1 by number": lambda layer: prune.l1_unstructured(layer, name="weight", amount=3),
    "l1 of none": lambda layer: prune.l1_unstructured(layer, "weight", 0),
    "l1 of all": lambda layer: prune.l1_unstructured(layer, "weight", 1.0),
    "scores": lambda layer: prune.l1_unstructured(layer, "weight", 4, importance_scores=values(3, 4, seed=6)),
    "random": lambda layer: prune.random_unstructured(layer, "weight", amount=0.5),
    "ln": lambda layer: prune.ln_structured(layer, "weight", 0.5, n=2, dim=0),
    "ln of columns": lambda layer: prune.ln_structured(layer, "weight", 1, n=float("inf"), dim=-1),
    "ln fro": lambda layer: prune.ln_structured(layer, "weight", 2, n="fro", dim=1),
    "random rows": lambda layer: prune.random_structured(layer, "weight", amount=1, dim=0),
    "mask": lambda layer: prune.custom_from_mask(layer, "weight", values(3, 4, seed=3) > 0),
}
for name, way in WAYS.items():
    print("#", name)
    torch.manual_seed(4)
    layer = filled(nn.Linear(4, 3))
    print(way(layer) is layer, prune.is_pruned(layer), isinstance(layer.weight, nn.Parameter))
    state(layer)
    show("output", layer(values(2, 4, seed=8)))
    layer(values(2, 4, seed=8)).pow(2).sum().backward()
    show("grad", layer.weight_orig.grad)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    optimizer.step()
    layer(values(2, 4))
    show("trained", layer.weight)
    original = layer.weight_orig
    print(prune.remove(layer, "weight") is layer, prune.is_pruned(layer), layer.weight is original)
    state(layer)

print("# one after the other")
layer = filled(nn.Linear(4, 3))
prune.l1_unstructured(layer, "weight", 3)
prune.l1_unstructured(layer, "weight", 0.5)
state(layer)
prune.ln_structured(layer, "weight", 1, n=1, dim=0)
state(layer)
prune.custom_from_mask(layer, "weight", torch.ones(3, 4).tril())
state(layer)
torch.manual_seed(1)
prune.random_structured(layer, "weight", 1, dim=1)
state(layer)
prune.l1_unstructured(layer, "bias", 1)
print(sorted(layer.state_dict()))
other = prune.identity(prune.identity(filled(nn.Linear(4, 3), 9), "weight"), "bias")
print(other.load_state_dict(layer.state_dict()))
show("loaded", other(values(2, 4)) - layer(values(2, 4)))
prune.remove(layer, "weight")
prune.remove(layer, "bias")
state(layer)

print("# convolutions")
layer = filled(nn.Conv2d(2, 3, 2))
prune.ln_structured(layer, "weight", 0.3, n=2, dim=0)
prune.ln_structured(layer, "weight", 1, n="fro", dim=1)
state(layer)

print("# over a network")
net = nn.Sequential(filled(nn.Linear(3, 4)), nn.ReLU(), filled(nn.Linear(4, 2), 5))
pairs = [(net[0], "weight"), (net[2], "weight"), (net[0], "bias")]
prune.global_unstructured(pairs, pruning_method=prune.L1Unstructured, amount=0.4)
state(net[0])
state(net[2])
prune.global_unstructured(pairs, prune.L1Unstructured, amount=3)
state(net[0])
torch.manual_seed(2)
prune.global_unstructured([(net[2], "bias")], prune.RandomUnstructured, amount=1)
show("bias", net[2].bias)
print(prune.is_pruned(net), prune.is_pruned(nn.Linear(2, 2)))
print(net)

print("# a method of one's own")


class Alternating(prune.BasePruningMethod):
    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t, default_mask):
        mask = default_mask.clone()
        mask.view(-1)[::2] = 0
        return mask


layer = filled(nn.Linear(4, 3))
method = Alternating.apply(layer, "weight")
print(type(method).__name__)
state(layer)
prune.l1_unstructured(layer, "weight", 2)
state(layer)
show("a tensor", prune.L1Unstructured(amount=2).prune(values(2, 3)))

print("# refusals")
attempt("share", lambda: prune.l1_unstructured(filled(nn.Linear(4, 3)), "weight", 1.5))
attempt("negative", lambda: prune.l1_unstructured(filled(nn.Linear(4, 3)), "weight", -1))
attempt("number", lambda: prune.l1_unstructured(filled(nn.Linear(4, 3)), "weight", 13))
attempt("text", lambda: prune.l1_unstructured(filled(nn.Linear(4, 3)), "weight", "half"))
attempt("vector", lambda: prune.ln_structured(filled(nn.Linear(4, 3)), "bias", 1, 2, 0))
attempt("dim", lambda: prune.ln_structured(filled(nn.Linear(4, 3)), "weight", 1, 2, 2))
attempt("remove", lambda: prune.remove(nn.Linear(4, 3), "weight"))
refused("no name", lambda: prune.identity(nn.Linear(4, 3), "nothing"))
refused("scores", lambda: prune.l1_unstructured(nn.Linear(4, 3), "weight", 1, torch.ones(2)))
refused("mask", lambda: prune.custom_from_mask(nn.Linear(4, 3), "weight", torch.ones(2)))
refused("global", lambda: prune.global_unstructured([(nn.Linear(4, 3), "weight")], prune.LnStructured, amount=1, n=2))

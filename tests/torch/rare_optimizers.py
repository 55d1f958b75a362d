"""Adafactor, Muon, SparseAdam, SWALR and the averages of swa_utils: what they do to parameters, their state, and what they refuse."""

import copy

from torch.optim import Adafactor, Muon, SparseAdam
from torch.optim.swa_utils import SWALR, AveragedModel, get_ema_avg_fn, get_ema_multi_avg_fn, get_swa_avg_fn, get_swa_multi_avg_fn, update_bn


def parameters(*shapes):
    return [nn.Parameter(values(*shape, seed=at + 1)) for at, shape in enumerate(shapes)]


def train(name, make, *shapes, steps=5):
    print("#", name)
    params = parameters(*shapes)
    optimizer = make(params)
    print(repr(optimizer))
    losses = []
    for step in range(steps):
        optimizer.zero_grad()
        loss = sum(((param - values(*param.shape, seed=7 + at)) ** 2).sum() for at, param in enumerate(params))
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    show("losses", losses)
    show("parameters", params)
    state = optimizer.state_dict()
    for number, kept in state["state"].items():
        show(f"state {number}", {key: kept[key] for key in sorted(kept)})
    print({key: value for key, value in sorted(state["param_groups"][0].items())})
    other = make(parameters(*shapes))
    other.load_state_dict(copy.deepcopy(state))
    for param, mine in zip(params, other.param_groups[0]["params"]):
        with torch.no_grad():
            mine.copy_(param)
        mine.grad = param.grad.clone()
    optimizer.step()
    other.step()
    print([bool((param == mine).all()) for param, mine in zip(params, other.param_groups[0]["params"])])


shapes = [(3, 4), (5,), (2, 3, 4), ()]
train("Adafactor", lambda params: Adafactor(params), *shapes)
train("Adafactor with options", lambda params: Adafactor(params, lr=0.5, beta2_decay=-0.5, eps=(1e-8, 0.1), d=2.0, weight_decay=0.1), *shapes)
train("Adafactor up", lambda params: Adafactor(params, 0.1, maximize=True), *shapes, steps=3)


def near(name, make, *shapes):
    """As train, to the digits of bfloat16, in which the steps are computed."""
    print("#", name)
    params = parameters(*shapes)
    optimizer = make(params)
    print(repr(optimizer))
    for step in range(4):
        optimizer.zero_grad()
        sum(((param - values(*param.shape, seed=7 + at)) ** 2).sum() for at, param in enumerate(params)).backward()
        optimizer.step()
    for param in params:
        print([[round(number, 1) for number in row] for row in (param.detach() + 0.0).tolist()])
    state = optimizer.state_dict()
    print({number: sorted(kept) for number, kept in state["state"].items()}, sorted(state["param_groups"][0]))


near("Muon", lambda params: Muon(params), (3, 4), (4, 3), (3, 3))
train("Muon without steps", lambda params: Muon(params, lr=0.0, weight_decay=0.5, momentum=0.9), (3, 4), (4, 3))
for adjust in (None, "original", "match_rms_adamw", "spectral_unclamped"):
    moved = nn.Parameter(torch.zeros(4, 1).double())
    moved.grad = torch.ones(4, 1).double()
    Muon([moved], lr=0.1, adjust_lr_fn=adjust, ns_steps=0, nesterov=False, weight_decay=0.0).step()
    show(str(adjust), moved)

print("# refused")
matrix, vector = nn.Parameter(torch.ones(2, 2)), nn.Parameter(torch.ones(2))
attempt("vector", lambda: Muon([matrix, vector]))
attempt("adjustment", lambda: Muon([matrix], adjust_lr_fn="mine"))
attempt("rate", lambda: Muon([matrix], lr=-1.0))
attempt("momentum", lambda: Muon([matrix], momentum=-1.0))
attempt("decay", lambda: Muon([matrix], weight_decay=-1.0))
attempt("rate", lambda: Adafactor([matrix], lr=-1.0))
attempt("beta", lambda: Adafactor([matrix], beta2_decay=0.5))
attempt("eps1", lambda: Adafactor([matrix], eps=(-1.0, 1e-3)))
attempt("eps2", lambda: Adafactor([matrix], eps=(None, -1e-3)))
attempt("d", lambda: Adafactor([matrix], d=0.5))
attempt("decay", lambda: Adafactor([matrix], weight_decay=-0.5))
attempt("rate of two", lambda: Adafactor([matrix], lr=torch.ones(2)))
attempt("sparse rate", lambda: SparseAdam([matrix], lr=0.0))
attempt("sparse eps", lambda: SparseAdam([matrix], eps=0.0))
attempt("sparse betas", lambda: SparseAdam([matrix], betas=(0.9, 1.0)))
print(repr(SparseAdam([matrix])), Adafactor.__module__, Muon.__module__, SparseAdam.__module__)
matrix.grad = torch.ones(2, 2)
attempt("dense", lambda: SparseAdam([matrix]).step())

print("# SWALR")


def rates(name, make, count=8):
    optimizer = torch.optim.SGD([{"params": [nn.Parameter(torch.ones(1))]}, {"params": [nn.Parameter(torch.ones(1))], "lr": 0.02}], lr=0.1)
    scheduler = make(optimizer)
    found = [list(scheduler.get_last_lr())]
    for _ in range(count):
        optimizer.step()
        scheduler.step()
        found.append(list(scheduler.get_last_lr()))
    show(name, found)
    print(sorted(key for key in scheduler.state_dict() if not key.startswith("_get") and key not in ("_is_initial", "verbose")))


rates("cosine", lambda optimizer: SWALR(optimizer, 0.05, anneal_epochs=5))
rates("linear", lambda optimizer: SWALR(optimizer, [0.05, 0.2], anneal_epochs=4, anneal_strategy="linear"))
rates("at once", lambda optimizer: SWALR(optimizer, swa_lr=0.05, anneal_epochs=0))
rates("usual", lambda optimizer: SWALR(optimizer, 0.05), 12)
optimizer = torch.optim.SGD([nn.Parameter(torch.ones(1))], lr=0.1)
attempt("strategy", lambda: SWALR(optimizer, 0.05, anneal_strategy="mine"))
attempt("epochs", lambda: SWALR(optimizer, 0.05, anneal_epochs=-1))
attempt("half an epoch", lambda: SWALR(optimizer, 0.05, anneal_epochs=0.5))
refused("too many", lambda: SWALR(optimizer, [0.05, 0.1]))

print("# averages")
for name, make in (
    ("equal", lambda model: AveragedModel(model)),
    ("fading", lambda model: AveragedModel(model, avg_fn=get_ema_avg_fn(0.9))),
    ("equal lists", lambda model: AveragedModel(model, multi_avg_fn=get_swa_multi_avg_fn())),
    ("fading lists", lambda model: AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(0.5), use_buffers=True)),
    ("equal function", lambda model: AveragedModel(model, device="cpu", avg_fn=get_swa_avg_fn())),
):
    model = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3)).double()
    averaged = make(model)
    for step in range(4):
        with torch.no_grad():
            for at, param in enumerate(model.parameters()):
                param.copy_(values(*param.shape, seed=step + at))
            model[1].running_mean.copy_(values(3, seed=step + 9))
        averaged.update_parameters(model)
    show(name, dict(averaged.state_dict()))
    batches = [(values(4, 2, seed=it), 0) for it in range(3)]
    averaged.eval()
    update_bn(batches, averaged)
    show("statistics", {key: value for key, value in averaged.state_dict().items() if "running" in key or "tracked" in key})
    print(averaged.training, averaged.module[1].momentum)
    update_bn([x for x, _ in batches], averaged, "cpu")
    show("output", averaged(values(2, 2)))
update_bn([torch.ones(2, 2)], nn.Linear(2, 2))
attempt("both", lambda: AveragedModel(nn.Linear(1, 1), avg_fn=get_swa_avg_fn(), multi_avg_fn=get_swa_multi_avg_fn()))
attempt("share", lambda: get_ema_avg_fn(1.5))
attempt("share of lists", lambda: get_ema_multi_avg_fn(-0.5))

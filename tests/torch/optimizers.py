"""Optimisers: 20 steps, options, state dicts."""

from torch import optim


def model():
    net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1)).double()
    for at, parameter in enumerate(net.parameters()):
        parameter.data.copy_(values(*parameter.shape, seed=at + 2))
    return net


def loss_of(net):
    return ((net(values(5, 3)) - values(5, 1, seed=4)) ** 2).mean()


def train(name, make, steps=20):
    print("#", name)
    net = model()
    optimizer = make(net.parameters())
    for _ in range(steps):
        optimizer.zero_grad()
        loss_of(net).backward()
        optimizer.step()
    show("loss", loss_of(net))
    for key, parameter in net.named_parameters():
        show(key, parameter)
    state = optimizer.state_dict()
    print(sorted(state), sorted(state["state"]), state["param_groups"][0]["params"])
    for key in sorted(state["state"]):
        for kind in sorted(state["state"][key]):
            value = state["state"][key][kind]
            show(f"{key} {kind}", value.double() if isinstance(value, torch.Tensor) else value)
    # From a saved state training goes on as if nothing had happened.
    again = make(net.parameters())
    again.load_state_dict(state)
    loss_of(net).backward()
    again.step()
    show("after loading", net[0].weight)


train("SGD", lambda p: optim.SGD(p, lr=0.1))
train("SGD momentum", lambda p: optim.SGD(p, lr=0.1, momentum=0.9, weight_decay=0.01))
train("SGD dampening", lambda p: optim.SGD(p, lr=0.1, momentum=0.9, dampening=0.3))
train("SGD nesterov", lambda p: optim.SGD(p, lr=0.05, momentum=0.9, nesterov=True))
train("SGD maximize", lambda p: optim.SGD(p, lr=0.01, maximize=True))
train("Adam", lambda p: optim.Adam(p, lr=0.05))
train("Adam options", lambda p: optim.Adam(p, lr=0.05, betas=(0.8, 0.99), eps=1e-6, weight_decay=0.1))
train("Adam amsgrad", lambda p: optim.Adam(p, lr=0.05, amsgrad=True, betas=(0.9, 0.5)))
train("Adam maximize", lambda p: optim.Adam(p, lr=0.01, maximize=True))
train("AdamW", lambda p: optim.AdamW(p, lr=0.05, weight_decay=0.2))
train("Adamax", lambda p: optim.Adamax(p, lr=0.05, weight_decay=0.1))
train("NAdam", lambda p: optim.NAdam(p, lr=0.05, weight_decay=0.1))
train("NAdam decoupled", lambda p: optim.NAdam(p, lr=0.05, weight_decay=0.1, decoupled_weight_decay=True))
train("RAdam", lambda p: optim.RAdam(p, lr=0.05))
train("RAdam decoupled", lambda p: optim.RAdam(p, lr=0.05, betas=(0.9, 0.9), weight_decay=0.1, decoupled_weight_decay=True))
train("Adagrad", lambda p: optim.Adagrad(p, lr=0.1))
train("Adagrad options", lambda p: optim.Adagrad(p, lr=0.1, lr_decay=0.1, weight_decay=0.1, initial_accumulator_value=0.3, eps=1e-3))
train("Adadelta", lambda p: optim.Adadelta(p, lr=0.8, weight_decay=0.1))
train("RMSprop", lambda p: optim.RMSprop(p, lr=0.02))
train("RMSprop options", lambda p: optim.RMSprop(p, lr=0.01, alpha=0.9, momentum=0.5, centered=True, weight_decay=0.1, eps=1e-4))
train("Rprop", lambda p: optim.Rprop(p, lr=0.02))
train("ASGD", lambda p: optim.ASGD(p, lr=0.1, lambd=0.01, t0=5, weight_decay=0.1))

print("# groups")
net = model()
optimizer = optim.SGD([{"params": net[0].parameters()}, {"params": net[2].parameters(), "lr": 0.5}], lr=0.1, momentum=0.3)
for _ in range(20):
    optimizer.zero_grad()
    loss_of(net).backward()
    optimizer.step()
show("groups", list(net.parameters()))
print([group["lr"] for group in optimizer.param_groups], [len(group["params"]) for group in optimizer.param_groups])
optimizer.add_param_group({"params": torch.zeros(2, requires_grad=True), "lr": 7.0})
print(optimizer.state_dict()["param_groups"][2]["params"], optimizer.param_groups[2]["momentum"])
print(optimizer)

print("# closure")
for make in [lambda p: optim.LBFGS(p, lr=0.5), lambda p: optim.LBFGS(p, lr=1, max_iter=7, history_size=3), lambda p: optim.SGD(p, lr=0.1)]:
    net = model()
    optimizer = make(net.parameters())

    def closure():
        optimizer.zero_grad()
        loss = loss_of(net)
        loss.backward()
        return loss

    for _ in range(3):
        show("loss", optimizer.step(closure))
    show("weights", list(net.parameters()))

print("# line search")


def rosenbrock(start):
    return (1 - start[0]) ** 2 + 100 * (start[1] - start[0] ** 2) ** 2


def waves(start):
    return (start**2).sum() / 10 + torch.sin(3 * start).sum()


for function in [rosenbrock, waves]:
    for options in [{}, {"lr": 0.5}, {"lr": 10.0, "max_iter": 4}, {"max_iter": 30, "history_size": 3, "max_eval": 12}]:
        start = torch.tensor([-1.5, 2.0], dtype=torch.float64, requires_grad=True)
        optimizer = optim.LBFGS([start], line_search_fn="strong_wolfe", **options)
        calls = []

        def closure():
            optimizer.zero_grad()
            loss = function(start)
            loss.backward()
            calls.append(loss.item())
            return loss

        for _ in range(3):
            show("loss", optimizer.step(closure))
        show("start", start)
        print(len(calls), optimizer.state[start]["func_evals"], optimizer.state[start]["n_iter"])
net = model()
optimizer = optim.LBFGS(net.parameters(), lr=1, line_search_fn="strong_wolfe")


def closure():
    optimizer.zero_grad()
    loss = loss_of(net)
    loss.backward()
    return loss


for _ in range(3):
    show("loss", optimizer.step(closure))
show("weights", list(net.parameters()))

print("# some parameters have no gradient")
net = model()
net[0].weight.requires_grad_(False)
optimizer = optim.Adam(net.parameters(), lr=0.1)
loss_of(net).backward()
optimizer.step()
print(sorted(optimizer.state_dict()["state"]))
optimizer.zero_grad(set_to_none=False)
show("zeros", net[0].bias.grad)
optimizer.zero_grad()
print(net[0].bias.grad)

print("# mistakes")
for make in [
    lambda: optim.SGD([], lr=0.1),
    lambda: optim.SGD(model().parameters(), lr=-1.0),
    lambda: optim.SGD(torch.zeros(2), lr=0.1),
    lambda: optim.Adam(model().parameters(), betas=(1.0, 0.9)),
    lambda: optim.SGD(model().parameters(), lr=0.1, nesterov=True),
    lambda: optim.SGD([net[0].weight * 2], lr=0.1),
    lambda: optim.Adam(net.parameters()).load_state_dict({"state": {}, "param_groups": []}),
]:
    try:
        make()
        print("no error")
    except (ValueError, TypeError) as error:
        print(type(error).__name__, error)

print("# clipping")
net = model()
loss_of(net).backward()
show("norm", nn.utils.clip_grad_norm_(net.parameters(), 0.1))
show("clipped", [parameter.grad for parameter in net.parameters()])
show("norm 1", nn.utils.clip_grad_norm_(net.parameters(), 0.01, norm_type=1))
show("norm inf", nn.utils.clip_grad_norm_(net.parameters(), 0.001, norm_type=float("inf")))
show("clipped", [parameter.grad for parameter in net.parameters()])
nn.utils.clip_grad_value_(net.parameters(), 0.0005)
show("clipped", [parameter.grad for parameter in net.parameters()])
vector = nn.utils.parameters_to_vector(net.parameters())
nn.utils.vector_to_parameters(vector * 2, net.parameters())
show("vector", nn.utils.parameters_to_vector(net.parameters()))

print("# averages")
from torch.optim.swa_utils import AveragedModel, get_ema_avg_fn, get_ema_multi_avg_fn

net = model()
ema = AveragedModel(net, avg_fn=get_ema_avg_fn(0.9))
multi = AveragedModel(net, multi_avg_fn=get_ema_multi_avg_fn(0.9))
swa = AveragedModel(net)
optimizer = optim.SGD(net.parameters(), lr=0.1)
for _ in range(5):
    optimizer.zero_grad()
    loss_of(net).backward()
    optimizer.step()
    ema.update_parameters(net)
    multi.update_parameters(net)
    swa.update_parameters(net)
show("ema", list(ema.parameters()))
show("multi", list(multi.parameters()))
show("swa", list(swa.parameters()))
show("output", ema(values(2, 3)))
print(list(swa.state_dict()), swa.n_averaged.item())

"""Hooks around state dicts of modules and optimisers and around steps, extra state, and modules put at a dotted name."""


class Counting(nn.Module):
    """A layer with more to save than tensors."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(2))
        self.calls = 3

    def get_extra_state(self):
        return {"calls": self.calls}

    def set_extra_state(self, state):
        self.calls = state["calls"]


print("# extra state")
model = nn.Sequential(nn.Linear(2, 2), Counting(), nn.BatchNorm1d(2))
print(list(model.state_dict()))
state = model.state_dict()
print(state["1._extra_state"])
other = nn.Sequential(nn.Linear(2, 2), Counting(), nn.BatchNorm1d(2))
other[1].calls = 0
print(other.load_state_dict(state), other[1].calls)
less = {name: value for name, value in state.items() if "extra" not in name}
attempt("missing", lambda: other.load_state_dict(less))
print(other.load_state_dict(less, strict=False))
attempt("not expected", lambda: nn.Linear(2, 2).load_state_dict({**nn.Linear(2, 2).state_dict(), "_extra_state": 1}))

print("# hooks of modules")
notes = []
first = model[0].register_state_dict_pre_hook(lambda module, prefix, keep_vars: notes.append(("before", prefix, keep_vars)))


def add(module, state, prefix, metadata):
    notes.append(("after", prefix, len(state)))
    state[prefix + "more"] = torch.zeros(1)


second = model[0].register_state_dict_post_hook(add)
outer = model.register_state_dict_post_hook(lambda module, state, prefix, metadata: notes.append(("outer", prefix, len(state))))
print(list(model.state_dict()), notes)
attempt("loaded with what it has not", lambda: model.load_state_dict(model.state_dict()))
first.remove()
second.remove()
notes.clear()
print(list(model.state_dict()), notes)
outer.remove()
bad = model.register_state_dict_post_hook(lambda module, state, prefix, metadata: state)
attempt("gives something", lambda: model.state_dict())
bad.remove()


def forgive(module, keys):
    notes.append((type(module).__name__, list(keys.missing_keys), list(keys.unexpected_keys)))
    keys.missing_keys.clear()


notes.clear()
handle = model.register_load_state_dict_post_hook(forgive)
inner = model[0].register_load_state_dict_post_hook(lambda module, keys: notes.append(type(module).__name__))
print(model.load_state_dict(less), notes)
handle.remove()
attempt("not forgiven", lambda: model.load_state_dict(less))
inner.remove()
bad = model.register_load_state_dict_post_hook(lambda module, keys: keys)
attempt("gives keys", lambda: model.load_state_dict(state))
bad.remove()
print(model.load_state_dict(state))

print("# set_submodule")
net = nn.Module()
net.inner = nn.Sequential(nn.Linear(2, 3), nn.ReLU())
net.set_submodule("inner.1", nn.Tanh())
net.set_submodule("head", nn.Linear(3, 1))
print(net)
net.set_submodule("head", nn.Identity(), strict=True)
print(net.head, [name for name, _ in net.named_modules()])
attempt("no name", lambda: net.set_submodule("", nn.ReLU()))
attempt("no module", lambda: net.set_submodule("head", 3))
attempt("strict", lambda: net.set_submodule("tail", nn.ReLU(), strict=True))
attempt("no such path", lambda: net.set_submodule("tail.0", nn.ReLU()))
net.width = 3
attempt("something else", lambda: net.set_submodule("width", nn.ReLU()))
print(net.compile(), net.share_memory() is net)

print("# hooks of optimisers")
w = nn.Parameter(torch.tensor([1.0, 2.0]))
for make in (lambda: torch.optim.SGD([w], lr=0.1), lambda: torch.optim.Adam([w], lr=0.1), lambda: torch.optim.LBFGS([w], lr=0.1)):
    optimizer = make()
    notes.clear()
    before = optimizer.register_step_pre_hook(lambda it, args, kwargs: notes.append(("before", it is optimizer, len(args), sorted(kwargs), w.tolist())))
    after = optimizer.register_step_post_hook(lambda it, args, kwargs: notes.append(("after", len(args), w.tolist() != [1.0, 2.0])))

    def closure():
        optimizer.zero_grad()
        loss = (w * w).sum()
        loss.backward()
        return loss

    with torch.no_grad():
        w.copy_(torch.tensor([1.0, 2.0]))
    print(float(optimizer.step(closure)), notes)
    before.remove()
    notes.clear()
    optimizer.step(closure=closure)
    print(notes)
    after.remove()
    optimizer.step(closure)
    print(len(notes))

optimizer = torch.optim.SGD([w], lr=0.1)
handle = optimizer.register_step_pre_hook(lambda it, args, kwargs: ((it, lambda: 7.0), {}))
print(optimizer.step())
handle.remove()
optimizer.register_step_pre_hook(lambda it, args, kwargs: 3)
refused("no tuple", lambda: optimizer.step())

print("# their state dicts")
optimizer = torch.optim.SGD([w], lr=0.1, momentum=0.5)
notes.clear()
optimizer.register_state_dict_pre_hook(lambda it: notes.append("before"))
optimizer.register_state_dict_post_hook(lambda it, state: notes.append(sorted(state)))
optimizer.register_state_dict_post_hook(lambda it, state: {**state, "more": 1}, prepend=True)
optimizer.register_load_state_dict_pre_hook(lambda it, state: {name: value for name, value in state.items() if name != "more"})
optimizer.register_load_state_dict_post_hook(lambda it: notes.append(("loaded", it.param_groups[0]["lr"])))
state = optimizer.state_dict()
print(sorted(state), notes)
state["param_groups"][0]["lr"] = 0.5
optimizer.load_state_dict(state)
print(notes, sorted(state), optimizer.param_groups[0]["lr"])

# Parts of a model that are replaced, by item, by attribute and by name.


class Low(torch.nn.Module):
    """A linear layer with an addition of low rank."""

    def __init__(self, inner, rank=1):
        super().__init__()
        self.inner = inner
        self.down = torch.nn.Linear(inner.in_features, rank, bias=False)
        self.up = torch.nn.Linear(rank, inner.out_features, bias=False)
        torch.nn.init.constant_(self.down.weight, 0.5)
        torch.nn.init.constant_(self.up.weight, 0.25)

    def forward(self, x):
        return self.inner(x) + self.up(self.down(x))


def inject(module):
    for name, child in module.named_children():
        if isinstance(child, torch.nn.Linear):
            for p in child.parameters():
                p.requires_grad = False
            setattr(module, name, Low(child))
        else:
            inject(child)


model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU(), torch.nn.Sequential(torch.nn.Linear(3, 2)))
for number, p in enumerate(model.parameters()):
    torch.nn.init.constant_(p, 0.1 * (number + 1))
inject(model)
x = torch.tensor([[1.0, 2.0]])
loss = model(x).sum()
loss.backward()
print(loss, [name for name, p in model.named_parameters() if p.requires_grad])
print([p.grad for p in model.parameters() if p.requires_grad])
print(model)

model = torch.nn.Sequential(torch.nn.Linear(2, 2))
setattr(model, "0", torch.nn.Identity())
print(model(x), len(list(model.parameters())), [name for name, _ in model.named_modules()])
model.last = torch.nn.Flatten(0)
print(model(x).shape, len(model), model.last, model[-1] is model.last)
del model.last
print(len(model), hasattr(model, "last"))

rows = torch.nn.ModuleList([torch.nn.Linear(1, 1), torch.nn.Linear(1, 1)])
setattr(rows, "1", torch.nn.Identity())
print(rows, len(list(rows.parameters())))
named = torch.nn.ModuleDict({"a": torch.nn.Linear(1, 1)})
named.a = torch.nn.Identity()
print(named["a"], len(list(named.parameters())))
try:
    setattr(rows, "0", 5)
except TypeError as error:
    print(error)
values = torch.nn.ParameterList([torch.ones(2)])
setattr(values, "0", torch.nn.Parameter(torch.zeros(3)))
print(values[0].shape, len(values))


class Net(torch.nn.Sequential):
    def __init__(self):
        super().__init__(torch.nn.Identity())
        self.extra = torch.nn.Flatten(0)


print(Net()(x).shape, Net())


model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU())
model._modules["1"] = torch.nn.Identity()
print(list(model._modules), model[1], len(model._modules), "0" in model._modules, list(model[0]._parameters))


class Two(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(2, 3)
        self.second = torch.nn.Linear(3, 1)


two = Two()
for name, child in two._modules.items():
    two._modules[name] = torch.nn.Identity()
print(two, len(list(two.parameters())))


# Methods of a program's own: no name of theirs matters to the module.
class Memory(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(1, 1)
        self.items = []
        self.hooks = []
        self.own_parameters = self.children_items = self.check_kind = None

    def put(self, item):
        self.items.append(item)

    def own_value(self):
        return len(self.items)

    def held_as(self):
        return "list"

    def values(self):
        return self.items


memory = Memory()
memory.put(3)
memory.extra = nn.Linear(1, 1)
memory.count = memory.own_value()
memory.hooks.append(memory.register_forward_hook(lambda module, args, output: None))
memory.layer = nn.Linear(2, 1)
print(len(memory.hooks), len(list(memory.parameters())), list(memory.state_dict()))


class Shrink(torch.optim.Optimizer):
    def __init__(self, params):
        super().__init__(params, {"lr": 0.5})
        self.switches = self.update = self.evaluate = None

    def step(self):
        with torch.no_grad():
            for group in self.param_groups:
                for param in group["params"]:
                    param.mul_(group["lr"])


shrink = Shrink([nn.Parameter(torch.ones(2))])
shrink.step()
shrink.zero_grad()
print(shrink.param_groups[0]["params"][0].tolist(), sorted(shrink.state_dict()))


class Halving(torch.optim.lr_scheduler.LRScheduler):
    put = closed_form = None

    def get_lr(self):
        return [0.5 ** self.last_epoch for _ in self.base_lrs]


halving = Halving(shrink)
shrink.step()
halving.step()
print(halving.get_last_lr())


class Loader(torch.utils.data.DataLoader):
    samples = batches = stream = gathered = None


print([batch.tolist() for batch in Loader(torch.arange(5), batch_size=2)])
print(memory.items, memory.count, memory.held_as(), memory.values(), [name for name, _ in memory.named_children()])

"""What a module finds of what is assigned to it, and what it does not: plain lists, tuples and dicts are not looked into."""


class Plain(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(2, 3)
        self.layers = [nn.Linear(3, 3), nn.Linear(3, 1)]  # ok: unregistered
        self.heads = {"a": nn.Linear(1, 1)}  # ok: unregistered
        self.pair = (nn.Linear(1, 1), nn.ReLU())  # ok: unregistered
        self.scales = [nn.Parameter(torch.ones(2))]  # ok: unregistered

    def forward(self, x):
        x = self.first(x)
        for layer in self.layers:
            x = layer(x)
        return x


net = Plain()
print(net)
print([name for name, _ in net.named_parameters()], [name for name, _ in net.named_modules()], list(net.state_dict()))
print([name for name, _ in net.named_children()], len(list(net.buffers())), net(torch.ones(1, 2)).shape)
net.eval()
print(net.layers[0].training, net.first.training, net.heads["a"].training)
net.double()
print(net.first.weight.dtype, net.layers[0].weight.dtype)


class Found(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(2, 2), nn.Linear(2, 1)])
        self.heads = nn.ModuleDict({"a": nn.Linear(1, 1)})
        self.row = [nn.Linear(1, 1)]
        self.body = nn.Sequential(*self.row)
        self.scales = nn.ParameterList([torch.ones(2)])


print([name for name, _ in Found().named_parameters()])

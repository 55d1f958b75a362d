"""Branches and loops on tensors. In the language the functions are built symbolically, so these are `cond` and `while_loop` of a graph."""

try:
    from notegrad.jit import trace

    built = trace(symbolic=True)
except ImportError:

    def built(function):
        return function


def clipped(x):
    if x.sum() > 1:
        return x / x.sum()
    elif x.sum() < -1:
        return -x / x.sum()
    return x


def scaled(x, w):
    factor = 2 if x.max() > 0.5 else 1
    if (x * w).sum() > 0:
        y = (x * w).exp() * factor
    else:
        y = x * x * w - factor
    return y


def root(a):
    x = a
    while (x * x - a).abs().max() > 1e-9:
        x = (x + a / x) / 2
    return x


def collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return n + steps - 1


def powers(x, w):
    y = x
    while y.abs().sum() < 50:
        if y.sum() > 0:
            y = y * w.abs() * 2 + x
        else:
            y = y - 1.5 * w * x.abs()
    return y


print("# values")
for function, cases in [
    (clipped, [(values(4) * scale,) for scale in [1, 3, -3, 0.1]]),
    (scaled, [(values(4, seed=seed), values(4, seed=seed + 1)) for seed in range(4)]),
    (root, [(values(3).abs() + 0.5,), (values(2, seed=3).abs() * 100,)]),
    (collatz, [(torch.tensor(n),) for n in [1, 6, 27]]),
    (powers, [(values(4, seed=seed), values(4, seed=seed + 1) + 1) for seed in range(3)]),
]:
    graph = built(function)
    for case in cases:
        show(function.__name__, graph(*case))

print("# gradients")
for function, count in [(clipped, 1), (scaled, 2), (root, 1), (powers, 2)]:
    graph = built(function)
    for seed in range(4):
        inputs = [(values(4, seed=seed + at) + (1.2 if function is root else 0.3)) for at in range(count)]
        inputs = [it.abs() if function is root else it for it in inputs]
        inputs = [it.requires_grad_() for it in inputs]
        result = graph(*inputs)
        weights = torch.arange(1.0, 5.0, dtype=torch.float64)
        show(function.__name__, torch.autograd.grad((result * weights).sum(), inputs))

print("# second gradients, through branches")
for function, count in [(clipped, 1), (scaled, 2)]:
    graph = built(function)
    for seed in range(4):
        inputs = [(values(4, seed=seed + at) * 2 + 0.3).requires_grad_() for at in range(count)]
        result = graph(*inputs)
        first = torch.autograd.grad((result * result).sum(), inputs, create_graph=True)
        total = sum((it * it).sum() for it in first)
        if total.requires_grad:
            show(function.__name__, torch.autograd.grad(total, inputs, allow_unused=True))

print("# training")


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(3, 4)
        self.second = nn.Linear(4, 4)
        self.last = nn.Linear(4, 1)

    def forward(self, x):
        h = self.first(x)
        if h.mean() > 0:
            h = torch.relu(h)
        else:
            h = torch.tanh(h)
        turns = 0
        while h.abs().sum() < 20:
            h = self.second(h) + h * 2
            turns += 1
        return self.last(h) / (turns + 1)


torch.manual_seed(1)
net = Net().double()
optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
step = built(lambda x, y: F.mse_loss(net(x), y))
for epoch in range(3):
    for batch in range(4):
        x, y = values(5, 3, seed=batch), values(5, 1, seed=batch + 7)
        optimizer.zero_grad()
        loss = step(x, y)
        loss.backward()
        optimizer.step()
        show("loss", loss)
for name, parameter in net.named_parameters():
    show(name, parameter)

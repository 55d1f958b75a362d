"""Elements that are drawn or filled in place: what is refused, in which order they lie, and what it means for gradients."""


def drawn(name, make, fill):
    """What is drawn into a tensor, in the order of its indices, and where the generator stands after it."""
    torch.manual_seed(0)
    made = make()
    try:
        fill(made)
    except Exception as error:
        return print(name, "is refused")
    parts = torch.view_as_real(made) if made.is_complex() else made
    print(name, parts.double().flatten().tolist(), torch.rand(1).item())


FILLINGS = {
    "normal_": lambda x: x.normal_(1, 2),
    "uniform_": lambda x: x.uniform_(-1, 2),
    "random_": lambda x: x.random_(0, 2),
    "bernoulli_": lambda x: x.bernoulli_(0.4),
    "exponential_": lambda x: x.exponential_(2),
    "geometric_": lambda x: x.geometric_(0.5),
    "log_normal_": lambda x: x.log_normal_(),
    "cauchy_": lambda x: x.cauchy_(),
}
print("# dtypes")
for dtype in (torch.int64, torch.uint8, torch.bool, torch.complex64, torch.float16, torch.float64):
    for name, fill in FILLINGS.items():
        drawn(f"{name} {dtype}", lambda: torch.zeros(3, dtype=dtype), fill)

print("# bounds")
zeros = lambda: torch.zeros(3)
bounds = [(2, 1), (2, 2), (0, math.nan), (0, math.inf), (-3e38, 3e38), (-1e39, 0)]
for low, high in bounds:
    drawn(f"uniform_({low}, {high})", zeros, lambda x: x.uniform_(low, high))
for low, high in [(0, 70000), (-60000, 60000), (-30000, 30000)]:
    drawn(f"uniform_({low}, {high}) of halves", lambda: zeros().half(), lambda x: x.uniform_(low, high))
drawn("normal_ std", zeros, lambda x: x.normal_(0, -1))
for low, high in [(5, 3), (0, 300), (-1, 3), (0, 256), (256, 258)]:
    drawn(f"random_({low}, {high}) of bytes", lambda: torch.zeros(3, dtype=torch.uint8), lambda x: x.random_(low, high))
drawn("random_(3) of bools", lambda: torch.zeros(3, dtype=torch.bool), lambda x: x.random_(3))

print("# names")
drawn("uniform_(to=)", zeros, lambda x: x.uniform_(to=3))
drawn("uniform_(from=)", zeros, lambda x: x.uniform_(**{"from": -1}))
drawn("uniform_(from=, to=)", zeros, lambda x: x.uniform_(**{"from": -1, "to": 5}))
drawn("uniform_(-1, to=)", zeros, lambda x: x.uniform_(-1, to=5))
drawn("uniform_(low=)", zeros, lambda x: x.uniform_(low=3))
drawn("normal_(mean=, std=)", zeros, lambda x: x.normal_(mean=1, std=2))
drawn("random_(to=)", zeros, lambda x: x.random_(to=3))
drawn("random_(5)", zeros, lambda x: x.random_(5))
drawn("random_(3, to=)", zeros, lambda x: x.random_(3, to=5))
drawn("random_(from=, to=)", zeros, lambda x: x.random_(**{"from": 3, "to": 5}))
drawn("random_(from=)", zeros, lambda x: x.random_(**{"from": 3}))
drawn("random_(5, None)", zeros, lambda x: x.random_(5, None))
drawn("random_()", zeros, lambda x: x.random_())
drawn("random_() of int64", lambda: torch.zeros(3, dtype=torch.int64), lambda x: x.random_())
drawn("random_(generator=)", zeros, lambda x: x.random_(9, generator=torch.Generator().manual_seed(3)))

print("# the order in which elements lie")
LAYOUTS = {
    "turned": lambda a, b: torch.zeros(a, b).t(),
    "gaps": lambda a, b: torch.zeros(a, b * 2)[:, ::2],
    "rows": lambda a, b: torch.zeros(a, b + 3)[:, :-3],
    "turned rows": lambda a, b: torch.zeros(a, b + 3)[:, :-3].t(),
    "permuted": lambda a, b: torch.zeros(a, 2, b).permute(2, 0, 1),
    "a size of 1": lambda a, b: torch.zeros(a, 1, b).transpose(0, 2),
    "a column": lambda a, b: torch.zeros(a * 5, b)[:, 1],
}
for name, fill in FILLINGS.items():
    for layout, make in LAYOUTS.items():
        for shape in ((3, 4), (5, 7)):
            drawn(f"{name} {layout} {shape}", lambda: make(*shape), fill)
drawn("halves", lambda: torch.zeros(5, 7, dtype=torch.float16).t(), lambda x: x.normal_())
drawn("complex", lambda: torch.zeros(5, 7, dtype=torch.complex64).t(), lambda x: x.normal_())
drawn("nn.init.normal_", lambda: torch.zeros(5, 7).t(), lambda x: nn.init.normal_(x))
drawn("nn.init.uniform_", lambda: torch.zeros(5, 7).t(), lambda x: nn.init.uniform_(x))
drawn("int64", lambda: torch.zeros(5, 3, dtype=torch.int64).t(), lambda x: x.random_())

print("# gradients of what was there")
OTHERS = {
    "zero_": lambda x: x.zero_(),
    "fill_": lambda x: x.fill_(2),
    "fill_ with a tensor": lambda x: x.fill_(torch.tensor(2.0)),
    "copy_": lambda x: x.copy_(torch.ones(4)),
    "copy_ of ints": lambda x: x.copy_(torch.ones(4, dtype=torch.int64)),
    "x[:] =": lambda x: x.__setitem__(slice(None), 3),
    "x[...] = tensor": lambda x: x.__setitem__(Ellipsis, torch.ones(())),
    "eq_": lambda x: x.eq_(2),
    "clamp_": lambda x: x.clamp_(0, 1),
}
for name, fill in {**FILLINGS, **OTHERS}.items():
    x = torch.ones(3, 4, requires_grad=True)
    y = x * 2
    fill(y)
    print(name, y.requires_grad, y.is_leaf, y.grad_fn is None)
    ((y.detach() * y).sum() * 0 + x.sum() * 0.5).backward()
    print(x.grad.flatten().tolist())
    x = torch.ones(3, 4, requires_grad=True)
    y = x * 2
    (y * 1).sum()
    fill(y[0])
    (y * 3).sum().backward()
    print(y.requires_grad, y.is_leaf, x.grad.flatten().tolist())
    x = torch.ones(3, 4, requires_grad=True)
    with torch.no_grad():
        fill(x)
    print(x.requires_grad, x.is_leaf)
    x = torch.ones(3, 4)
    fill(x)
    print(x.requires_grad, x.grad_fn is None)
x = torch.full((3,), math.inf, requires_grad=True)
y = x * 2
y.zero_()
(y * 2).sum().backward()
print(y.tolist(), x.grad.tolist())

print("# gradients that are kept")
for name, change in {"mul_": lambda y: y.mul_(5), "zero_": lambda y: y.zero_(), "y[0] =": lambda y: y.__setitem__(0, 3.0), "uniform_": lambda y: y.uniform_(1, 1)}.items():
    x = torch.arange(3.0, requires_grad=True)
    y = x * 2
    y.retain_grad()
    change(y)
    (y * y * 3).sum().backward()
    print(name, y.grad.tolist(), x.grad.tolist())

print("# diagonals")
print(torch.zeros(5, 2).fill_diagonal_(1, wrap=True).tolist(), torch.zeros(5, 2).fill_diagonal_(1).tolist())
print(torch.zeros(2, 5).fill_diagonal_(1, wrap=True).tolist(), torch.zeros(7, 3).fill_diagonal_(fill_value=2, wrap=True).tolist())
print(torch.zeros(2, 2, 2).fill_diagonal_(1).tolist(), torch.zeros(3, 4).copy_(torch.ones(4), non_blocking=True).sum().item())
drawn("fill_diagonal_ of unlike sizes", lambda: torch.zeros(2, 2, 3), lambda x: x.fill_diagonal_(1))
drawn("fill_diagonal_ of a vector", lambda: torch.zeros(2), lambda x: x.fill_diagonal_(1))

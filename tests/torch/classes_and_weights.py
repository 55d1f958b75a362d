"""Dtypes of target classes, weights of `lerp` in another dtype, and a bias of one element."""


def named(name, function):
    try:
        show(name, function())
    except Exception as error:
        print(name, "is refused", isinstance(error, RuntimeError))


print("# classes")
scores, images = values(3, 4), values(2, 3, 2, 2, seed=2)
for dtype in (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.bool):
    classes = torch.tensor([0, 1, 1]).to(dtype)
    points = torch.ones(2, 2, 2).to(dtype)
    named(f"cross_entropy {dtype}", lambda: F.cross_entropy(scores, classes))
    named(f"cross_entropy smoothed {dtype}", lambda: F.cross_entropy(scores, classes, label_smoothing=0.1))
    named(f"cross_entropy of one {dtype}", lambda: F.cross_entropy(scores[0], classes[1]))
    named(f"cross_entropy of images {dtype}", lambda: F.cross_entropy(images, points))
    named(f"CrossEntropyLoss {dtype}", lambda: nn.CrossEntropyLoss(reduction="sum")(scores, classes))
    named(f"nll_loss {dtype}", lambda: F.nll_loss(scores, classes))
    named(f"nll_loss of images {dtype}", lambda: F.nll_loss(images, points))
    named(f"nll_loss with a flag {dtype}", lambda: F.nll_loss(scores, classes, size_average=False))
    named(f"multi_margin_loss {dtype}", lambda: F.multi_margin_loss(scores, classes))

print("# weights")
x, y = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 5.0])
one, two = torch.tensor(1.0), torch.tensor(2.0)
half, wide = torch.tensor(0.5), torch.tensor(0.1, dtype=torch.float64)
for name, function in {
    "wide weight": lambda: torch.lerp(x, y, wide),
    "wide weight of one dimension": lambda: torch.lerp(x, y, wide.reshape(1)),
    "whole weight": lambda: torch.lerp(x, y, torch.tensor(2)),
    "wide weight in place": lambda: x.clone().lerp_(y, wide),
    "narrow weight": lambda: torch.lerp(x.double(), y.double(), half),
    "halves": lambda: torch.lerp(x.half(), y.half(), half),
    "halves, weights for each": lambda: torch.lerp(x.half(), y.half(), torch.tensor([0.5, 0.5])),
    "numbers": lambda: torch.lerp(one, two, wide),
    "a number and a vector": lambda: torch.lerp(one, y, wide),
    "wide end": lambda: torch.lerp(x, torch.tensor(4.0, dtype=torch.float64), 0.5),
    "wide end of rank 0 and weight": lambda: torch.lerp(x, torch.tensor(4.0, dtype=torch.float64), half),
}.items():
    named(name, function)
weight = torch.tensor(0.25, dtype=torch.float64, requires_grad=True)
start = x.clone().requires_grad_()
torch.lerp(start, y, weight).square().sum().backward()
show("gradients", [start.grad, weight.grad])

print("# bias")
rows, matrix = values(4, 2), values(3, 2, seed=3)
ones = {
    "vector": torch.tensor([1.5], dtype=torch.float64),
    "number": torch.tensor(1.5, dtype=torch.float64),
    "row": torch.tensor([[1.5]], dtype=torch.float64),
    "two": torch.tensor([1.5, 2.0], dtype=torch.float64),
    "column": values(4, 1, seed=4),
    "other dtype": torch.tensor([1.5]),
}
for name, bias in ones.items():
    named(f"linear, {name}", lambda: F.linear(rows, matrix, bias))
    named(f"linear of one row, {name}", lambda: F.linear(rows[:1], matrix, bias))
    if name in ("vector", "number", "two"):
        named(f"linear of a vector, {name}", lambda: F.linear(rows[0], matrix, bias))
        named(f"linear of a batch, {name}", lambda: F.linear(rows.reshape(2, 2, 2), matrix, bias))
        named(f"linear to one, {name}", lambda: F.linear(rows, matrix[:1], bias))
named("linear of whole numbers", lambda: F.linear(torch.ones(2, 2).long(), torch.ones(3, 2).long(), torch.tensor([4])))
for shape in ((1,), ()):
    bias = torch.full(shape, 0.5, dtype=torch.float64, requires_grad=True)
    F.linear(rows, matrix, bias).square().sum().backward()
    show(f"gradient of a bias of shape {list(shape)}", bias.grad)

"""What counts as true says nothing about a switch of a function, which is True or False."""


def taken(name, function):
    try:
        function()
        print(name, "is taken")
    except TypeError:
        print(name, "is refused")


x, square, image = torch.tensor([[1, 2, 2], [3, 1, 2]]), torch.eye(2), torch.ones(1, 1, 2, 2)
CALLS = {
    "sum keepdim": lambda it: x.sum(0, keepdim=it),
    "sum": lambda it: x.sum(0, it),
    "max": lambda it: x.max(0, it),
    "argmax": lambda it: x.argmax(0, it),
    "unique": lambda it: torch.unique(x, return_inverse=it),
    "sort": lambda it: x.sort(0, descending=it),
    "argsort": lambda it: torch.argsort(x, stable=it),
    "topk": lambda it: x.topk(1, largest=it),
    "isclose": lambda it: torch.isclose(x, x, equal_nan=it),
    "multinomial": lambda it: torch.multinomial(torch.ones(2), 1, it),
    "dropout": lambda it: F.dropout(torch.ones(1), 0.0, it),
    "max_pool2d": lambda it: F.max_pool2d(image, 2, ceil_mode=it),
    "avg_pool2d": lambda it: F.avg_pool2d(image, 2, ceil_mode=it),
    "cholesky": lambda it: torch.linalg.cholesky(square, upper=it),
    "norm": lambda it: torch.norm(square, dim=0, keepdim=it),
    "attention": lambda it: F.scaled_dot_product_attention(image, image, image, is_causal=it),
}
for value in (True, False, 1, 0, 1.5, None, "x", "", [], torch.tensor(True)):
    print("#", value)
    for name, call in CALLS.items():
        taken(name, lambda: call(value))

print("# in place, by position")
for function, more in ((F.relu, ()), (F.hardtanh, (-1.0, 1.0)), (F.leaky_relu, (0.1,)), (F.elu, (1.0,)), (F.threshold, (0.1, 2.0)), (F.silu, ()), (F.selu, ()), (F.relu6, ()), (F.hardswish, ()), (F.mish, ()), (F.celu, (1.0,)), (F.hardsigmoid, ())):
    for in_place in (True, False):
        y = torch.tensor([-2.0, 0.5])
        found = function(y, *more, in_place)
        print(list(more), in_place, found is y, y.tolist(), found.tolist())
for name in ("dropout", "alpha_dropout"):
    y = torch.tensor([-2.0, 0.5])
    print(name, getattr(F, name)(y, 0.5, False, True) is y)
y = torch.ones(6)
torch.manual_seed(0)
print(F.dropout(y, 0.5, True, True) is y, y.tolist())

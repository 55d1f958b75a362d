"""Functions on samples and places: gradient, unravel_index, tensorinv, tensorsolve, multilabel_margin_loss."""

F, nn = torch.nn.functional, torch.nn

print("# gradient")
x = values(4, 5)
for name, options in (
    ("plain", {}), ("spacing", {"spacing": 2}), ("spacings", {"spacing": (0.5, 3.0)}), ("one dim", {"dim": 1}), ("dims", {"dim": (1, 0), "spacing": [2, 4]}),
    ("edges", {"edge_order": 2}), ("last", {"dim": -1, "edge_order": 2, "spacing": 0.25}),
    ("places", {"spacing": (torch.tensor([0.0, 1.0, 1.5, 4.0]), torch.tensor([0.0, 2.0, 3.0, 7.0, 7.5]))}),
    ("places, edges", {"spacing": (torch.tensor([0.0, 1.0, 1.5, 4.0], dtype=torch.float64),), "dim": 0, "edge_order": 2}),
    ("a number in a tensor", {"spacing": torch.tensor(2.0)}), ("no dims", {"dim": ()}),
):
    for at, part in enumerate(torch.gradient(x, **options)):
        show(f"{name} {at}", part)
print(torch.gradient(torch.arange(5) ** 2), torch.gradient(torch.arange(5) * 1j), torch.gradient(torch.tensor(1.0)))
print(torch.gradient(torch.arange(4.0).half()), torch.gradient(torch.tensor([1.0, 4.0]), spacing=0.5))
graded("gradient", lambda x: torch.gradient(x, dim=0)[0], values(5))
graded("gradient at places", lambda x: torch.gradient(x, spacing=(torch.tensor([0.0, 1.0, 3.0, 4.0, 9.0], dtype=torch.float64),), edge_order=2)[0], values(5))
for name, options in (
    ("too few spacings", {"spacing": [1.0]}), ("too many", {"spacing": (1, 2, 3)}), ("other than dims", {"spacing": (1, 2), "dim": 0}), ("out of range", {"dim": 5}),
    ("twice", {"dim": (0, -2)}), ("edges of 3", {"edge_order": 3}), ("places of 2 dimensions", {"spacing": (torch.tensor([[0.0, 1.0, 3.0]]),), "dim": 0}),
    ("places without a tuple", {"spacing": torch.tensor([2.0, 3.0])}),
):
    refused(f"gradient {name}", lambda: torch.gradient(x, **options))
refused("gradient of two, edges", lambda: torch.gradient(x[:2], edge_order=2))
refused("gradient of one", lambda: torch.gradient(x[:1]))
refused("gradient of bytes", lambda: torch.gradient(torch.arange(5, dtype=torch.uint8)))
refused("gradient of a list", lambda: torch.gradient([1.0, 2.0]))

print("# unravel_index")
at = torch.tensor([[0, 5], [7, 23]])
print(torch.unravel_index(at, (2, 3, 4)), torch.unravel_index(at, 24), torch.unravel_index(at, ()), torch.unravel_index(at.int(), torch.Size([4, 6])))
print(torch.unravel_index(torch.tensor([-1, 30]), (2, 3)), torch.unravel_index(torch.zeros(0, dtype=torch.int64), (0, 3)))
for name, shape in (("negative", (2, -3)), ("floats", (2.0, 3)), ("empty", (0, 3))):
    refused(f"unravel_index {name}", lambda: torch.unravel_index(at, shape))
refused("unravel_index of floats", lambda: torch.unravel_index(at.float(), (2, 3)))
refused("unravel_index of bools", lambda: torch.unravel_index(at > 2, (2, 3)))

print("# tensorinv and tensorsolve")
a = values(6, 6) + 4 * torch.eye(6, dtype=torch.float64)
show("tensorinv", torch.linalg.tensorinv(a.reshape(2, 3, 6)))
show("tensorinv of one", torch.linalg.tensorinv(a.reshape(6, 3, 2), ind=1))
graded("tensorinv", lambda a: torch.linalg.tensorinv(a.reshape(2, 3, 6)), a)
show("tensorsolve", torch.linalg.tensorsolve(a.reshape(2, 3, 3, 2), values(2, 3)))
show("tensorsolve of dims", torch.linalg.tensorsolve(a.reshape(3, 6, 2), values(6), dims=(0, 2)))
graded("tensorsolve", lambda a, b: torch.linalg.tensorsolve(a.reshape(2, 3, 6), b), a, values(2, 3))
refused("tensorinv ind", lambda: torch.linalg.tensorinv(a, ind=0))
refused("tensorinv ind", lambda: torch.linalg.tensorinv(a, ind=4))
refused("tensorinv sizes", lambda: torch.linalg.tensorinv(a.reshape(2, 3, 6), ind=1))
refused("tensorinv singular", lambda: torch.linalg.tensorinv(torch.ones(2, 3, 6)))
refused("tensorsolve sizes", lambda: torch.linalg.tensorsolve(a.reshape(2, 3, 6), values(5)))
refused("tensorsolve singular", lambda: torch.linalg.tensorsolve(torch.ones(2, 3, 6), torch.ones(2, 3)))
refused("tensorsolve dtypes", lambda: torch.linalg.tensorsolve(a.reshape(2, 3, 6), torch.ones(2, 3)))

print("# multilabel_margin_loss")
scores = torch.tensor([[0.1, 0.2, 0.4, 0.8], [1.5, -0.2, 0.3, 0.1], [0.0, 3.0, -1.0, 0.5]], dtype=torch.float64)
named = torch.tensor([[3, 0, -1, 1], [-1, 2, 0, 1], [1, 1, 2, 0]])
for how in ("none", "mean", "sum"):
    if how != "none":
        graded(f"multilabel_margin_loss {how}", lambda x: F.multilabel_margin_loss(x, named, reduction=how), scores)
    show(f"MultiLabelMarginLoss {how}", nn.MultiLabelMarginLoss(reduction=how)(scores, named))
    show(f"of one {how}", F.multilabel_margin_loss(scores[0], named[0], reduction=how))
show("of a number", F.multilabel_margin_loss(torch.tensor(0.5), torch.tensor(0)))
for name, x, target in (
    ("floats", scores, named.double()), ("one row", scores, named[0]), ("too large", scores, named + 1), ("too small", scores, named - 1),
    ("three dimensions", scores.unsqueeze(0), named.unsqueeze(0)), ("no classes", torch.ones(2, 0), torch.ones(2, 0).long()), ("halves", scores.half(), named),
    ("whole numbers", named, named),
):
    refused(f"multilabel_margin_loss {name}", lambda: F.multilabel_margin_loss(x, target))

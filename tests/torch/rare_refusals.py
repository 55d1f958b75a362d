"""What PyTorch refuses in arguments of functions that are made of others here."""

T = torch.tensor
x = torch.ones(2, 3)


def named(name, function):
    try:
        show(name, function())
    except Exception as error:
        kind = "IndexError" if isinstance(error, IndexError) else "another"
        print(name, "is refused", kind)


for name, function in {
    "gaussian_nll_loss, variance below 0": lambda: F.gaussian_nll_loss(x, x, -x),
    "gaussian_nll_loss, number below 0": lambda: F.gaussian_nll_loss(x, x, -1.0),
    "gaussian_nll_loss, 0": lambda: F.gaussian_nll_loss(x, x, 0.0),
    "gaussian_nll_loss, variance of another size": lambda: F.gaussian_nll_loss(x, x, x[:, :2]),
    "gaussian_nll_loss, a variance for each column": lambda: F.gaussian_nll_loss(x, x, x[0]),
    "gaussian_nll_loss, a variance for each row": lambda: F.gaussian_nll_loss(x, x + 1, x[:, 0]),
    "gaussian_nll_loss, a variance for each row, wide": lambda: F.gaussian_nll_loss(x, x + 1, x[:, :1]),
    "embedding, padding above": lambda: F.embedding(T([0]), x, padding_idx=5),
    "embedding, padding at the end": lambda: F.embedding(T([0]), x, padding_idx=2),
    "embedding, padding below": lambda: F.embedding(T([0]), x, padding_idx=-3),
    "embedding, padding from the end": lambda: F.embedding(T([0]), x, padding_idx=-2),
    "embedding, place above": lambda: F.embedding(T([5]), x),
    "embedding, place below": lambda: F.embedding(T([-1]), x),
    "margin_ranking_loss": lambda: F.margin_ranking_loss(x[0], x[0], x),
    "triplet_margin_loss": lambda: F.triplet_margin_loss(x, x[0], x),
    "triplet_margin_loss, margin 0": lambda: F.triplet_margin_loss(x, x, x, margin=0.0),
    "hardtanh": lambda: F.hardtanh(x, 2, 1),
    "hardtanh of one value": lambda: F.hardtanh(x, 1, 1),
    "rot90 of one dimension": lambda: x.rot90(1, (0, 0)),
    "rot90 of one dimension, not turned": lambda: x.rot90(4, (0, -2)),
    "rot90 of too few": lambda: x.rot90(1, (0,)),
    "linalg.norm of 4 dimensions": lambda: torch.linalg.norm(torch.ones(1, 2, 4, 4), 2),
    "linalg.norm of 3 dimensions": lambda: torch.linalg.norm(torch.ones(1, 2, 4), "fro"),
    "linalg.norm of none": lambda: torch.linalg.norm(T(3.0), 2),
    "linalg.norm along 3": lambda: torch.linalg.norm(torch.ones(1, 2, 4), 2, (0, 1, 2)),
    "linalg.norm of all": lambda: torch.linalg.norm(torch.ones(1, 2, 4, 4)),
    "vander": lambda: torch.vander(x),
    "vander of a number": lambda: torch.vander(T(1.0)),
    "linalg.vander": lambda: torch.linalg.vander(x),
    "cdist": lambda: torch.cdist(x, x, p=-1),
    "pdist": lambda: torch.pdist(x, p=-1),
    "trapezoid": lambda: torch.trapezoid(x[0], x[0, :2]),
    "trapezoid, one point": lambda: torch.trapezoid(x, x[0, :1]),
    "trapezoid along 0": lambda: torch.trapezoid(x, x[0, :2], dim=0),
    "cumulative_trapezoid": lambda: torch.cumulative_trapezoid(x[0], x[0, :2]),
    "isclose": lambda: torch.isclose(x, x.long()),
    "isclose of doubles": lambda: torch.isclose(x, x.double()),
    "isclose of whole numbers": lambda: torch.isclose(x.long(), x.long()),
    "randint of uint8": lambda: torch.randint(0, 300, (2,), dtype=torch.uint8),
    "randint of uint8, below 0": lambda: torch.randint(-1, 5, (2,), dtype=torch.uint8),
    "randint of bools": lambda: torch.randint(0, 3, (2,), dtype=torch.bool),
    "randint of halves": lambda: torch.randint(0, 70000, (2,), dtype=torch.float16),
    "randint of int8": lambda: torch.randint(0, 200, (2,), dtype=torch.int8),
    "randint of uint8, all": lambda: torch.randint(0, 256, (2,), dtype=torch.uint8).dtype,
    "randint of bools, all": lambda: torch.randint(0, 2, (2,), dtype=torch.bool).dtype,
    "randint_like": lambda: torch.randint_like(torch.zeros(2, dtype=torch.uint8), 0, 300),
    "randperm of uint8": lambda: torch.randperm(300, dtype=torch.uint8),
    "randperm of uint8, one too many": lambda: torch.randperm(257, dtype=torch.uint8),
    "randperm of uint8, all": lambda: torch.randperm(256, dtype=torch.uint8).dtype,
    "renorm": lambda: torch.renorm(x, 2, 0, -1),
    "renorm of order 0": lambda: torch.renorm(x, 0, 0, 1),
    "renorm of a vector": lambda: torch.renorm(x[0], 2, 0, 1),
    "renorm along none": lambda: torch.renorm(x, 2, 5, 1),
    "cross_entropy with probabilities": lambda: F.cross_entropy(x, x / 3, ignore_index=1),
    "cross_entropy with probabilities, below 0": lambda: F.cross_entropy(x, x / 3, ignore_index=-1),
    "index_fill": lambda: x.index_fill(0, T([5]), 1.0),
    "index_fill below": lambda: x.index_fill(0, T([-3]), 1.0),
    "index_fill from the end": lambda: x.index_fill(1, T([-1]), 4.0),
    "index_copy": lambda: x.index_copy(0, T([5]), x[:1]),
    "index_copy below": lambda: x.index_copy(0, T([-1]), x[:1]),
}.items():
    named(name, function)

model = nn.Linear(2, 1)
model(torch.ones(1, 2)).sum().backward()
print(torch.optim.SGD(model.parameters(), lr=0.1).step(), torch.optim.Adam(model.parameters()).step())
print(torch.optim.SGD(model.parameters(), lr=0.1).step(lambda: 3.0))

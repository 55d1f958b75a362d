"""A seed gives PyTorch's numbers: draws of each kind, in each dtype and length, and what is made of them."""


def numbers(name, value):
    """A few of them, and their sum: all as text of five digits."""
    flat = value.detach().flatten()
    head = [f"{it:.5g}" for it in flat[:4].tolist()]
    print(name, tuple(value.shape), *head, f"{flat.double().sum().item():.4f}")


for seed in [0, 42, 2**40 + 3]:
    torch.manual_seed(seed)
    print("seed", torch.initial_seed())
    for dtype in [torch.float32, torch.float64]:
        for size in [(1,), (5,), (16,), (4, 9), (100, 7)]:
            numbers("rand", torch.rand(size, dtype=dtype))
            numbers("randn", torch.randn(size, dtype=dtype))
        numbers("rand_like", torch.rand_like(torch.ones(3, dtype=dtype)))
        numbers("randn_like", torch.randn_like(torch.ones(17, dtype=dtype)))
        numbers("uniform_", torch.empty(9, dtype=dtype).uniform_(-0.3, 0.7))
        numbers("normal_", torch.empty(9, dtype=dtype).normal_(1.5, 0.3))
        numbers("normal_ of many", torch.empty(50, dtype=dtype).normal_(1.5, 0.3))
        numbers("bernoulli", torch.bernoulli(torch.full((12,), 0.3, dtype=dtype)))
        numbers("bernoulli_", torch.empty(12, dtype=dtype).bernoulli_(0.3))
        numbers("dropout", F.dropout(torch.ones(12, dtype=dtype), 0.4))
        numbers("exponential_", torch.empty(5, dtype=dtype).exponential_(2.0))
    for bounds in [(0, 10), (-5, 5), (0, 2**28), (0, 2**40), (7, 8)]:
        numbers("randint", torch.randint(*bounds, (6,)))
    numbers("randint of int32", torch.randint(0, 100, (6,), dtype=torch.int32))
    for n in [0, 1, 2, 10, 1000]:
        numbers("randperm", torch.randperm(n))
    numbers("normal", torch.normal(0.0, 1.0, (5,)))
    numbers("normal of means", torch.normal(torch.arange(5.0), 0.1))
    numbers("normal of deviations", torch.normal(torch.zeros(20), torch.arange(20.0)))
    weights = torch.tensor([[0.1, 0.5, 2.0, 1.0], [1.0, 0.4, 0.1, 0.0]])
    numbers("multinomial", torch.multinomial(weights[0], 6, replacement=True))
    numbers("multinomial of rows", torch.multinomial(weights, 5, replacement=True))
    numbers("multinomial once", torch.multinomial(weights, 1))
    numbers("multinomial without replacement", torch.multinomial(weights, 3))

# A generator of its own.
g = torch.Generator()
print(g.initial_seed())
numbers("fresh", torch.randn(3, generator=g))
g.manual_seed(7)
numbers("generator", torch.rand(3, generator=g))
state = g.get_state()
print(state.dtype, state.shape, state[:24].tolist(), state[5016:].tolist())
first = torch.randn(3, generator=g)
kept = g.get_state()
print(kept[5024:5044].tolist())
g.set_state(state)
print(torch.equal(first, torch.randn(3, generator=g)))
torch.manual_seed(3)
state = torch.get_rng_state()
first = torch.rand(1000)
torch.set_rng_state(state)
print(torch.equal(first, torch.rand(1000)))

# What is made of draws: first values of layers, ways of initialising, orders of data.
layers = {
    "Linear": lambda: nn.Linear(5, 3),
    "Linear without bias": lambda: nn.Linear(20, 30, bias=False),
    "Bilinear": lambda: nn.Bilinear(3, 4, 5),
    "Conv1d": lambda: nn.Conv1d(2, 3, 3),
    "Conv2d": lambda: nn.Conv2d(3, 8, 3),
    "ConvTranspose2d": lambda: nn.ConvTranspose2d(3, 4, 2),
    "Embedding": lambda: nn.Embedding(10, 3),
    "Embedding with padding": lambda: nn.Embedding(10, 3, padding_idx=2),
    "RNN": lambda: nn.RNN(3, 4),
    "LSTM": lambda: nn.LSTM(3, 4, num_layers=2),
    "GRU": lambda: nn.GRU(3, 4, bidirectional=True),
    "MultiheadAttention": lambda: nn.MultiheadAttention(8, 2),
    "TransformerEncoderLayer": lambda: nn.TransformerEncoderLayer(8, 2, 16),
    "Transformer": lambda: nn.Transformer(8, 2, 1, 1, 16),
    "Sequential": lambda: nn.Sequential(nn.Linear(28, 64), nn.ReLU(), nn.BatchNorm1d(64), nn.Linear(64, 10)),
}
for name, make in layers.items():
    torch.manual_seed(1)
    layer = make()
    for part, value in layer.named_parameters():
        numbers(f"{name} {part}", value)
for name in [
    "uniform_",
    "normal_",
    "xavier_uniform_",
    "xavier_normal_",
    "kaiming_uniform_",
    "kaiming_normal_",
]:
    torch.manual_seed(2)
    numbers(name, getattr(nn.init, name)(torch.empty(6, 5)))
torch.manual_seed(2)
numbers("sparse", (nn.init.sparse_(torch.empty(6, 5), 0.5) != 0).double().sum(0))
torch.manual_seed(2)
for size in [(4, 4), (4, 6), (6, 4)]:
    numbers("orthogonal", nn.init.orthogonal_(torch.empty(size)))
numbers("of a generator", nn.init.xavier_uniform_(torch.empty(2, 3), generator=torch.Generator().manual_seed(1)))

from torch.utils.data import DataLoader, RandomSampler, TensorDataset, WeightedRandomSampler, random_split

torch.manual_seed(4)
data = TensorDataset(torch.arange(20))
for epoch in range(2):
    print([batch[0].tolist() for batch in DataLoader(data, batch_size=6, shuffle=True)])
loader = DataLoader(data, batch_size=6, shuffle=True, generator=torch.Generator().manual_seed(5))
for epoch in range(2):
    print([batch[0].tolist() for batch in loader])
print([part.indices for part in random_split(data, [5, 15])])
print([list(part.indices) for part in random_split(data, [0.5, 0.5], generator=torch.Generator().manual_seed(42))])
print(list(RandomSampler(range(6))), list(RandomSampler(range(6), replacement=True, num_samples=8)))
print(list(WeightedRandomSampler([0.1, 0.9, 0.4], 6)))
numbers("after", torch.rand(2))

# A small training: losses to the fourth digit.
torch.manual_seed(0)
x = torch.randn(64, 8)
y = (x[:, 0] * x[:, 1] > 0).long()
net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Dropout(0.2), nn.Linear(16, 2))
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for epoch in range(3):
    for xb, yb in DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True):
        optimizer.zero_grad()
        loss = F.cross_entropy(net(xb), yb)
        loss.backward()
        optimizer.step()
    print(f"{loss.item():.4f}")

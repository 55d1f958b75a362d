"""Data loaders over tensors, with and without workers."""

from torch.utils.data import DataLoader, Dataset, RandomSampler, Subset, TensorDataset, WeightedRandomSampler, random_split

x, y = values(23, 2), torch.arange(23)
data = TensorDataset(x, y)


def epochs(workers, make):
    torch.manual_seed(7)
    found = []
    for epoch in range(2):
        for batch in make(workers):
            found.append([part.tolist() for part in batch])
            found.append(torch.rand(1).item())
    return found


loaders = {
    "in order": lambda workers: DataLoader(data, batch_size=4, num_workers=workers),
    "drop_last": lambda workers: DataLoader(data, batch_size=4, drop_last=True, num_workers=workers, **({"prefetch_factor": 1} if workers else {})),
    "shuffled": lambda workers: DataLoader(data, batch_size=5, shuffle=True, num_workers=workers),
    "again and again": lambda workers: DataLoader(data, batch_size=5, sampler=RandomSampler(data, num_samples=50), num_workers=workers),
    "drawn": lambda workers: DataLoader(data, batch_size=5, sampler=RandomSampler(data, True, 12), num_workers=workers),
    "weighted": lambda workers: DataLoader(data, batch_size=5, sampler=WeightedRandomSampler([1.0] * 23, 9), num_workers=workers),
    "subset": lambda workers: DataLoader(Subset(Subset(data, [20, 3, -1, 5, 6]), [4, 0, 2]), batch_size=2, num_workers=workers),
    "listed": lambda workers: DataLoader(data, batch_sampler=[[5], [1, -2, 3], []][:2], num_workers=workers),
}
for name, make in loaders.items():
    alone = epochs(0, make)
    print(name, len(alone), [epochs(workers, make) == alone for workers in [1, 3]])
    if name in ("in order", "drop_last", "subset", "listed"):
        for batch in make(0):
            show(name, batch)
first, second = random_split(data, [13, 10], generator=torch.Generator().manual_seed(3))
print(len(list(DataLoader(first, 4))), len(list(DataLoader(second, 4))))

print("# gradients flow")
leaf = values(6, 3).requires_grad_()
for batch in DataLoader(TensorDataset(leaf), batch_size=4):
    weigh(batch[0]).backward()
show("grad", leaf.grad)

print("# mistakes come with their batch")
for wrong in [[[0, 1], [2, 23], [3]], [[0, 1], [2, -24]]]:
    seen = 0
    try:
        for batch in DataLoader(data, batch_sampler=wrong):
            seen += 1
    except IndexError as error:
        print(seen, type(error).__name__)

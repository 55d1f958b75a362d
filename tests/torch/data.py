"""Data sets, samplers and loaders. What is random is shown by what must hold, since generators differ."""

from torch.utils.data import (
    BatchSampler,
    ChainDataset,
    ConcatDataset,
    DataLoader,
    Dataset,
    IterableDataset,
    RandomSampler,
    SequentialSampler,
    StackDataset,
    Subset,
    SubsetRandomSampler,
    TensorDataset,
    WeightedRandomSampler,
    random_split,
)


class Squares(Dataset):
    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        if index >= self.count:
            raise IndexError(index)
        return index, index * index


class Stream(IterableDataset):
    def __init__(self, start, end):
        self.start = start
        self.end = end

    def __iter__(self):
        return iter(range(self.start, self.end))


def mistake(make):
    try:
        make()
        print("no error")
    except Exception as error:
        print(type(error).__name__, error)


print("# data sets")
tensors = TensorDataset(values(5, 2), torch.arange(5))
print(len(tensors))
show("sample", tensors[3])
show("samples", tensors[1:3])
joined = ConcatDataset([Squares(3), Squares(4)])
print(len(joined), joined[2], joined[3], joined[-1], joined.cumulative_sizes)
print(len(Squares(2) + Squares(3)))
mistake(lambda: joined[-8])
part = Subset(Squares(10), [7, 2, 5])
print(len(part), part[0], [sample for sample in (part[i] for i in range(3))])
print(list(ChainDataset([Stream(0, 3), Stream(7, 9)])), list(Stream(0, 2) + Stream(5, 6)))
print(StackDataset(Squares(3), Squares(3))[1], StackDataset(a=Squares(3), b=Squares(3))[2])
mistake(lambda: TensorDataset(torch.zeros(2), torch.zeros(3)))
mistake(lambda: Dataset()[0])

print("# splits")
for lengths in [[6, 4], [0.5, 0.5], [0.55, 0.25, 0.2], [10]]:
    parts = random_split(Squares(10), lengths)
    print([len(part) for part in parts], sorted(index for part in parts for index in part.indices))
mistake(lambda: random_split(Squares(10), [5, 4]))
first, _ = random_split(Squares(20), [10, 10], generator=torch.Generator().manual_seed(3))
again, _ = random_split(Squares(20), [10, 10], generator=torch.Generator().manual_seed(3))
print(list(first.indices) == list(again.indices))

print("# samplers")
print(list(SequentialSampler(range(4))), len(SequentialSampler(range(4))))
order = list(RandomSampler(range(30)))
print(sorted(order) == list(range(30)), order != list(range(30)))
print(len(list(RandomSampler(range(5), replacement=True, num_samples=40))), len(RandomSampler(range(5), num_samples=12)))
print(sorted(RandomSampler(range(5), num_samples=10)))
print(sorted(SubsetRandomSampler([4, 8, 15, 16])))
drawn = list(WeightedRandomSampler([0.0, 1.0, 3.0, 0.0], 400))
print(sorted(set(drawn)), drawn.count(2) > drawn.count(1))
print(sorted(WeightedRandomSampler([0.1, 1.0, 3.0, 0.0], 3, replacement=False)))
print(list(BatchSampler(SequentialSampler(range(7)), 3, False)), len(BatchSampler(SequentialSampler(range(7)), 3, True)))
print(list(BatchSampler([5, 1, 2], batch_size=2, drop_last=True)))
mistake(lambda: BatchSampler([1], 0, False))
mistake(lambda: RandomSampler(range(3), num_samples=0))

print("# loaders")
loader = DataLoader(tensors, batch_size=2)
print(len(loader), loader.batch_size, type(loader.dataset).__name__)
for batch in loader:
    show(type(batch).__name__, batch)
for batch in DataLoader(Squares(5), batch_size=2, drop_last=True):
    show("dropped", batch)
print(len(DataLoader(Squares(5), 2, drop_last=True)), len(DataLoader(Squares(5), 2)), len(DataLoader(Squares(5))))
seen = [number for numbers, _ in DataLoader(Squares(10), batch_size=3, shuffle=True) for number in numbers.tolist()]
print(sorted(seen))
epochs = [[batch[0].tolist() for batch in DataLoader(Squares(10), 4, shuffle=True, generator=torch.Generator().manual_seed(1))] for _ in range(2)]
print(epochs[0] == epochs[1])
for batch in DataLoader([{"x": 1, "y": 2.5, "z": "a"}, {"x": 3, "y": 4.5, "z": "b"}], batch_size=2):
    show("dict", batch)
for batch in DataLoader([(1, [2.0, (3, "c")])] * 2, batch_size=2):
    show("nested", batch)
for batch in DataLoader([1, 2, 3], batch_size=2, collate_fn=lambda batch: sum(batch)):
    print("collated", batch)
for batch in DataLoader(Squares(3), batch_size=None):
    print("single", batch)
for batch in DataLoader(Squares(6), sampler=[4, 2, 0], batch_size=2):
    show("sampled", batch)
for batch in DataLoader(Squares(6), batch_sampler=[[5], [1, 2, 3]]):
    show("batches", batch)
for batch in DataLoader(Stream(0, 5), batch_size=2):
    show("stream", batch)
for batch in DataLoader(Stream(0, 5), batch_size=2, drop_last=True):
    show("stream", batch)
print(sum(1 for _ in DataLoader(Squares(9), batch_size=4, num_workers=0, pin_memory=False)))
iterator = iter(DataLoader(Squares(3)))
show("next", next(iterator))
mistake(lambda: DataLoader(Squares(3), shuffle=True, sampler=[1]))
mistake(lambda: DataLoader(Squares(3), batch_size=2, batch_sampler=[[1]]))
mistake(lambda: DataLoader(Squares(3), batch_size=0))
mistake(lambda: DataLoader(Squares(3), num_workers=-1))

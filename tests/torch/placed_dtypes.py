"""What is placed by tensors of indices has the dtype of where it goes; slices, single indices and one element behind a mask are converted."""


def placed(name, start, index, value):
    try:
        x = start.clone()
        x[index] = value
        show(name, x)
    except RuntimeError:
        print(name, "is refused")


for target in [torch.zeros(3), torch.zeros(3, dtype=torch.int64)]:
    for kind, index in [("indices", torch.tensor([0])), ("list", [0, 2]), ("mask", target == 0), ("index", torch.tensor(1)), ("slice", slice(0, 2))]:
        for value in [torch.tensor([1]), torch.tensor(1), torch.tensor([1.7]), torch.tensor(1.7), torch.tensor([1.7], dtype=torch.float64), 1.7]:
            what = value if isinstance(value, float) else f"{value.dtype} {list(value.shape)}"
            placed(f"{target.dtype} {kind} {what}", target, index, value)
    placed(f"{target.dtype} mask of three", target, target == 0, torch.tensor([1, 2, 3], dtype=torch.int32))
x = torch.zeros(2, 3)
placed("indices and slice", x, (torch.tensor([0]), slice(0, 2)), torch.tensor([1]))
placed("number and indices", x, (0, torch.tensor([0])), torch.tensor([1]))
placed("halves", x.half(), torch.tensor([0]), torch.tensor([1.0]))
refused("index_put", lambda: x.index_put((torch.tensor([0]),), torch.tensor([1])))
refused("index_put_", lambda: x.index_put_((torch.tensor([0]),), torch.tensor(1)))
refused("copysign", lambda: torch.copysign(3, x))
print(x.dtype is torch.float32, torch.half is torch.float16, torch.float is torch.float32, x.long().dtype is torch.int64, x.dtype is torch.float64)

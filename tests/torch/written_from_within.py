# What is written, or refused, through one view of some elements is seen through all others.


def rounds(name, write, dtype=torch.float32):
    w = torch.arange(12, dtype=dtype).reshape(4, 3)[1:3]
    d = w.data
    kept = None
    for i in range(8):
        w.data[i % 2] = float(i)
        x = w.detach()
        if kept is not None:
            try:
                write(kept, w, i)
            except RuntimeError:
                print("refused")
        if kept is None:
            kept = x.view(-1)[:3]
        show(f"{name} {i}", d)
        show(f"{name} {i}", w)


def moved(kept, w, i):
    kept.copy_(w.view(-1)[3:6])


def added(kept, w, i):
    kept.add_(w.view(-1)[3:6])


def written_out(kept, w, i):
    torch.add(w.view(-1)[:3], 1, out=kept)


def turned(kept, w, i):
    kept.copy_(kept.flip(0) + 1)
    w.t()[0] = w[:, 1] * 2


def other_size(kept, w, i):
    if i % 2 == 0:
        kept.add_(torch.ones(7))
    else:
        torch.zeros(3).add_(kept)


def other_kind(kept, w, i):
    if i % 2 == 0:
        kept.add_(1.5)
    else:
        torch.zeros(3).add_(kept)


def other_kind_out(kept, w, i):
    if i % 2 == 0:
        torch.add(w.view(-1)[:3], 1.5, out=kept)
    else:
        torch.zeros(3).add_(kept)


for it in (moved, added, written_out, turned, other_size):
    rounds(it.__name__, it)
for it in (other_size, other_kind, other_kind_out):
    rounds(it.__name__, it, torch.int32)

# An array of a detached tensor, written from both sides.
import numpy as np

w = torch.ones(2, 3)
d = w.detach().numpy()
for i in range(3):
    w.data.mul_(2)
    d += 1
    np.add(d, 1, out=d)
show("both", w)
print(d.tolist())

"""Truth values as indices: a new dimension, of size 1 where true and of size 0 where false; lists of several indices; several `...`."""

M = values(2, 3, 4)
T = torch.tensor
for name, index in {
    "True": True,
    "False": False,
    "true tensor": T(True),
    "false tensor": T(False),
    "True and a number": (True, 1),
    "a number and False": (1, False),
    "after a slice": (slice(None), True),
    "after dots": (..., True),
    "None and True": (None, True),
    "two": (True, True),
    "two of which one is false": (True, False),
    "beside a list": (True, [0, 1]),
    "in the middle, beside a list": (slice(None), True, [0, 2]),
    "apart from a list": (slice(None), True, slice(None), [0, 1]),
    "beside a mask": (True, T([True, False])),
    "list of lists": [[0, 1], [1, 2]],
    "list of one list of lists": [[[0, 1], [1, 0]]],
    "list with a list": [0, [1, 2]],
    "list of tensors": [T(0), T(1)],
    "list with None": [None, 0],
    "list with dots": [..., 0],
    "list of a tuple": [(0, 1)],
    "list of a range": [range(2)],
    "list of bools": [True, False],
    "dots twice": (..., ...),
    "dots after a number": (..., 0, ...),
    "dots that stand for nothing": (0, ..., 0, ..., 0),
}.items():
    print(name, list(M[index].shape))
    show(name, M[index])
refused("a false value beside a list", lambda: M[False, [0, 1]])
refused("dots twice and a number", lambda: M[..., ..., 0])
refused("a list of masks of the wrong size", lambda: M[[[True, False, True], [False, True, False]]])

for name, index in {"True": True, "False": False, "(True, 0)": (True, 0), "(0, False)": (0, False), "(:, True)": (slice(None), True),
                    "true tensor": T(True), "false tensor": T(False)}.items():
    for value in (5, torch.ones(3), torch.ones(1, 1, 1)):
        x = torch.zeros(2, 3)
        x[index] = value
        show(f"set {name}", x)
        x = torch.zeros(3, 2).t()
        kept = x.reshape(-1)
        x[index] = value
        show(f"set {name} of what lies otherwise", [x, kept])

zero = T(4.0)
show("0-d", [zero[zero > 5], zero[zero > 3], zero[True], zero[False]])
for limit in (3, 5):
    x = T(4.0)
    x[x > limit] = 9.0
    show("0-d set", x)
x = torch.zeros(3)
x[3 > 5] = 1
show("a comparison of numbers", x)

leaf = values(2, 3).requires_grad_()
y = leaf * 2
y[T(False)] = 0.0
y[T(True), 1] = 3.0
(y[True] * y[None]).sum().backward()
show("gradient", leaf.grad)
x = torch.zeros(2, 3)
part = x[0]
part[True] = 7.0
part[False] = 8.0
show("through a view", x)

base = torch.zeros(3)
base.expand(2, 3)[0, 1] = 1.0
base.expand(2, 3)[1] += 2.0
show("one row of an expanded view", base)

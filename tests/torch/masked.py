"""torch.masked: reductions and normalisations of the elements that a mask names: values, gradients, dtypes, rows without any, and errors."""

from torch import masked

x = values(3, 4)
mask = torch.tensor([[True, False, True, True], [False, False, False, False], [True, True, False, True]])
row = torch.tensor([1, 0, 2, 0])
counted = [masked.sum, masked.prod, masked.mean, masked.amax, masked.amin, masked.norm, masked.logsumexp]
for function in counted:
    print("#", function.__name__)
    for options in [{}, {"dim": 0}, {"dim": -1, "keepdim": True}, {"dim": (0, 1)}, {"dim": (), "keepdim": True}]:
        show("mask", function(x, mask=mask, **options))
        show("row", function(x, mask=row, **options))
        show("none", function(x, **options))
    graded("along rows", lambda it: function(it, dim=1, mask=row), x)
    graded("along columns", lambda it: function(it, dim=0, mask=mask), x)
for function in [masked.var, masked.std]:
    print("#", function.__name__)
    for options in [{}, {"dim": 0}, {"dim": 1, "keepdim": True}, {"dim": 0, "unbiased": False}, {"dim": 1, "correction": 2}, {"correction": 0}]:
        show("mask", function(x, mask=mask, **options))
        show("none", function(x, **options))
    graded("gradient", lambda it: function(it, dim=0, mask=row.reshape(1, 4) * 0 + torch.tensor([[1], [0], [1]])), x)
    attempt("both", lambda: function(x, 0, True, correction=1))
for function in [masked.softmax, masked.log_softmax, masked.softmin, masked.cumsum, masked.cumprod]:
    print("#", function.__name__)
    for dim in (0, 1, -1):
        show("mask", function(x, dim, mask=mask))
        show("row", function(x, dim, mask=row))
        show("none", function(x, dim))
    graded("gradient", lambda it: function(it, 1, mask=row), x)
    show("dtype", function(x, 1, mask=row, dtype=torch.float32))
print("# normalize")
for ord in (1.0, 2.0, 3, math.inf):
    show("mask", masked.normalize(x, ord, 1, mask=mask))
    show("none", masked.normalize(x, ord, 0, eps=10.0))
graded("gradient", lambda it: masked.normalize(it, 2.0, 1, mask=row), x)
print("# norm")
for ord in (0, 1, 3, math.inf, -math.inf):
    show("mask", masked.norm(x, ord, 1, mask=mask))
    show("all", masked.norm(x, ord, mask=row, keepdim=True))
print("# places")
for function in [masked.argmax, masked.argmin]:
    show("mask", function(x, mask=mask))
    show("dim", function(x, 0, mask=mask, keepdim=True))
    show("dtype", function(x, 1, mask=row, dtype=torch.int64))
    show("whole", function(torch.tensor([[3, 1, 2], [5, 9, 7]]), 1, mask=torch.tensor([True, False, True])))
print("# median")
show("mask", masked.median(x, mask=mask))
show("dim", masked.median(x, 0, keepdim=True, mask=mask))
show("whole", masked.median(torch.tensor([[3, 1, 2], [5, 9, 7]]), 1, mask=torch.tensor([True, False, True])))
graded("gradient", lambda it: masked.median(it, 1, mask=row), x)
attempt("no element", lambda: masked.median(torch.tensor([[3, 1]]), 1, mask=torch.tensor([False, False])))
print("# logaddexp")
y = values(3, 4, seed=4)
show("masks", masked.logaddexp(x, y, input_mask=mask, other_mask=row))
show("none", masked.logaddexp(x, y))
graded("gradient", lambda a, b: masked.logaddexp(a, b, other_mask=row), x, y)

print("# dtypes")
for dtype in [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16, torch.bfloat16, torch.float32]:
    it = torch.tensor([[1, 2, 3], [4, 5, 6]]).to(dtype)
    few = torch.tensor([[True, False, True], [False, False, False]])
    for function in [masked.sum, masked.prod, masked.amax, masked.amin, masked.argmax, masked.mean, masked.var, masked.std]:
        attempt(function.__name__, lambda: function(it, 1, mask=few))
    if not dtype.is_floating_point:
        refused("norm", lambda: masked.norm(it, 2, 1, mask=few))
    show("sum", masked.sum(it, mask=few, dtype=torch.float64))
truths = torch.tensor([[True, False], [True, True]])
show("truths", [masked.sum(truths, 0, mask=truths), masked.prod(truths, 0, mask=truths)])
number = torch.tensor(2.5)
show("no dimensions", [masked.sum(number, mask=torch.tensor(False)), masked.mean(number, mask=torch.tensor(True)), masked.amax(number, 0), masked.prod(number)])
z = torch.complex(x, y)
show("complex", [torch.view_as_real(masked.sum(z, 0, mask=mask)), torch.view_as_real(masked.mean(z, 1, mask=mask)), torch.view_as_real(masked.prod(z, 1, mask=row))])

show("complex spread", [masked.var(z, 0, mask=mask).real, masked.std(z, mask=row).real])
print("# errors")
attempt("largest of truths", lambda: masked.amax(truths, mask=truths))
attempt("mean of whole numbers", lambda: masked.mean(torch.tensor([1, 2])))
attempt("mean as whole numbers", lambda: masked.mean(x, dtype=torch.int64))
attempt("dim", lambda: masked.sum(x, 2, mask=mask))
attempt("dims", lambda: masked.sum(x, (0, 0), mask=mask))
attempt("dimensions of the mask", lambda: masked.sum(x, mask=torch.ones(2, 3, 4)))
refused("shape of the mask", lambda: masked.sum(x, mask=torch.ones(3)))
refused("no tensor", lambda: masked.sum(x, mask=[True, False]))
refused("mask by position", lambda: masked.sum(x, 0, mask))

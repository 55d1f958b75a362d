"""Writes engine/testdata/ops.json: what PyTorch gives for ops that are not elementwise, with gradients.

Run with a Python that has PyTorch: python tests/expected/generate_ops.py
A case is an op, its inputs (null where an optional tensor is absent), its attributes in the order of its row, the
outputs, and the gradients of sum(output * weight) for the inputs that `needs` names, where weight[i] = cos(i) per output.
"""

import json
import math
import pathlib

import torch
import torch.nn.functional as F

NAMES = {torch.float32: "f32", torch.float64: "f64", torch.int64: "i64", torch.int32: "i32", torch.uint8: "u8",
         torch.int8: "i8", torch.bool: "bool"}
CASES = []
torch.manual_seed(1)


def plain(x):
    """A tensor as JSON; floats that JSON lacks are words."""
    word = lambda v: v if not isinstance(v, float) or math.isfinite(v) else str(v)
    return {"dtype": NAMES[x.dtype], "shape": list(x.shape), "data": [word(v) for v in x.detach().flatten().tolist()]}


def attr(value):
    if isinstance(value, torch.dtype):
        return {"dtype": NAMES[value]}
    if isinstance(value, float):
        return {"float": value if math.isfinite(value) else str(value)}
    return list(value) if isinstance(value, tuple) else value


# Weights that PyTorch treats as constants, and running statistics.
FROZEN = {"batch_norm": (1, 2), "cross_entropy": (2,), "nll_loss": (2,), "binary_cross_entropy": (2,),
          "binary_cross_entropy_with_logits": (2, 3), "_mix_slices": (2,)}


def case(op, run, inputs, attrs=(), grad=True):
    free = lambda at, x: (grad and isinstance(x, torch.Tensor) and x.dtype == torch.float64
                          and at not in FROZEN.get(op, ()))
    inputs = [x.clone().requires_grad_() if free(at, x) else x for at, x in enumerate(inputs)]
    outputs = run(*inputs)
    outputs = list(outputs) if isinstance(outputs, (tuple, list)) else [outputs]
    wanted = [x for x in inputs if isinstance(x, torch.Tensor) and x.requires_grad]
    grads = None
    total = sum(((y * torch.cos(torch.arange(y.numel(), dtype=torch.float64)).reshape(y.shape)).sum()
                 for y in outputs if y.is_floating_point() and y.requires_grad), torch.zeros(()))
    if wanted and total.requires_grad:
        found = torch.autograd.grad(total, wanted, allow_unused=True)
        grads = [plain(g if g is not None else torch.zeros_like(x)) for g, x in zip(found, wanted)]
    CASES.append({"op": op, "inputs": [None if x is None else plain(x) for x in inputs],
                  "needs": [isinstance(x, torch.Tensor) and x.requires_grad for x in inputs],
                  "attrs": [attr(it) for it in attrs], "outputs": [plain(y) for y in outputs], "grads": grads})


def rand(*shape):
    return torch.randn(shape, dtype=torch.float64)


def whole(*shape, low=-5, high=6):
    return torch.randint(low, high, shape)


X, M, V = rand(2, 3, 4), rand(3, 4), rand(5)

# Shapes and views.
for shape in [(4, 6), (-1,), (2, 1, 12)]:
    case("reshape", lambda x: x.reshape(shape), [X], [shape])
case("reshape", lambda x: x.reshape(0, 7), [rand(0, 3)], [(0, 7)])
case("permute", lambda x: x.permute(2, 0, 1), [X], [(2, 0, -2)])
case("transpose", lambda x: x.transpose(0, -1), [X], [0, -1])
case("t", lambda x: x.t(), [M])
case("squeeze", lambda x: x.squeeze(), [rand(1, 3, 1)], [None])
case("squeeze", lambda x: x.squeeze(0), [rand(1, 3, 1)], [(0,)])
case("unsqueeze", lambda x: x.unsqueeze(-1), [M], [-1])
case("expand", lambda x: x.expand(2, 3, 4), [rand(3, 1)], [(2, -1, 4)])
case("expand", lambda x: x.expand(3), [rand()], [(3,)])
case("flatten", lambda x: x.flatten(1, 2), [X], [1, 2])
case("flatten", lambda x: x.flatten(), [rand()], [0, -1])
case("slice", lambda x: x[:, 1:4:2], [rand(2, 5)], [1, 1, 4, 2])
case("slice", lambda x: x[-2:], [V], [0, -2, None, 1])
case("slice", lambda x: x.flip(0)[::2], [V], [0, None, None, -2])
case("slice_scatter", lambda x, y: torch.slice_scatter(x, y, 1, 0, None, 2), [M, rand(3, 2)], [1, 0, None, 2])
case("narrow", lambda x: x.narrow(1, 1, 2), [M], [1, 1, 2])
case("select", lambda x: x.select(1, -1), [X], [1, -1])
case("cat", lambda *x: torch.cat(x, 1), [rand(2, 1), rand(2, 3), rand(2, 0)], [-1])
case("cat", lambda *x: torch.cat(x), [torch.tensor([1, 2]), rand(2)], [0])
case("stack", lambda *x: torch.stack(x, 1), [M, M * 2], [1])
case("split", lambda x: x.split(2), [V], [2, 0])
case("split", lambda x: x.split([1, 4]), [V], [(1, 4), 0])
case("chunk", lambda x: x.chunk(3), [V], [3, 0])
case("unbind", lambda x: x.unbind(1), [M], [1])
for pads, mode in [((1, 2), "constant"), ((1, -1, 0, 2), "constant"), ((2, 1), "reflect"), ((1, 2), "replicate"),
                   ((2, 1), "circular")]:
    case("pad", lambda x: F.pad(x, pads, mode), [X], [pads, mode, 0.0])
case("pad", lambda x: F.pad(x, (1, 0), value=2.5), [V], [(1, 0), "constant", 2.5])
case("flip", lambda x: x.flip(0, 2), [X], [(0, -1)])
case("roll", lambda x: x.roll(2), [M], [2, None])
case("roll", lambda x: x.roll((1, -1), (0, 1)), [M], [(1, -1), (0, 1)])
case("repeat", lambda x: x.repeat(2, 1, 3), [M], [(2, 1, 3)])
case("tile", lambda x: x.tile(2, 1, 3), [M], [(2, 1, 3)])
case("tile", lambda x: x.tile((2,)), [M], [(2,)])
case("sliding_windows", lambda x: x.unfold(1, 2, 1), [M], [1, 2, 1])
case("sliding_windows", lambda x: x.unfold(0, 2, 2), [torch.linspace(-1, 1, 10).reshape(5, 2)], [0, 2, 2])
case("repeat_interleave", lambda x: x.repeat_interleave(2, 1), [M], [2, 1])
case("tril", lambda x: x.tril(1), [X], [1])
case("triu", lambda x: x.triu(-1), [X], [-1])
for offset in (0, 2, -1):
    case("diagonal", lambda x: x.diagonal(offset, 1, 2), [X], [offset, 1, 2])
case("movedim", lambda x: x.movedim(0, 2), [X], [0, 2])

# Reductions.
for op in ("sum", "mean"):
    run = getattr(torch, op)
    case(op, run, [X], [None, False, None])
    for dims in [(0,), (1,), (2,), (0, 2), (-1, -2)]:
        case(op, lambda x: run(x, dims, True), [X], [dims, True, None])
        case(op, lambda x: run(x, dims), [X], [dims, False, None])
    case(op, run, [rand(0)], [None, False, None])
    case(op, run, [rand()], [None, False, None])
    case(op, lambda x: run(x, 0), [rand(2, 0)], [(0,), False, None])
case("sum", torch.sum, [torch.randn(3001, dtype=torch.float32)], [None, False, None])
case("sum", lambda x: x.sum(0), [torch.randn(200, 700, dtype=torch.float32)[:, :40]], [(0,), False, None])
case("sum", torch.sum, [whole(7)], [None, False, None])
case("sum", torch.sum, [torch.tensor([True, True])], [None, False, None])
case("sum", torch.sum, [torch.tensor([200, 100], dtype=torch.uint8)], [None, False, None])
for x in (M, torch.tensor([[0.0, 2.0, 3.0], [0.0, 0.0, 1.0], [4.0, 5.0, 6.0]], dtype=torch.float64)):
    case("prod", lambda x: x.prod(1), [x], [(1,), False, None])
case("prod", torch.prod, [whole(4)], [None, False, None])
TIES = torch.tensor([[1.0, 3.0, 3.0], [-2.0, -2.0, -5.0]], dtype=torch.float64)
for op in ("amax", "amin"):
    run = getattr(torch, op)
    for x in (TIES, M):
        case(op, lambda x: run(x, (1,)), [x], [(1,), False])
        case(op, lambda x: run(x, (0, 1)), [x], [None, False])
    case(op, run, [torch.tensor([1.0, math.nan, 2.0])], [None, False])
for op in ("max", "min"):
    run = getattr(torch, op)
    case(op, lambda x: run(x), [M], [None, False])
    case(op, lambda x: tuple(run(x, 0)), [M], [0, False])
    case(op, lambda x: tuple(run(x, 2, True)), [X], [-1, True])
    case(op, lambda x: tuple(run(x, 0)), [torch.tensor([1.0, math.nan, 2.0])], [0, False])
    case("arg" + op, lambda x: getattr(torch, "arg" + op)(x, 1), [X], [1, False])
    case("arg" + op, lambda x: getattr(torch, "arg" + op)(x), [whole(3, 3)], [None, False])
    case("arg" + op, lambda x: getattr(torch, "arg" + op)(x), [torch.tensor([1.0, math.nan, 2.0])], [None, False])
case("all", lambda x: x.all(1), [whole(3, 4, low=0)], [(1,), False])
case("any", lambda x: x.any(0), [whole(3, 4, low=0, high=2)], [(0,), False])
case("all", torch.all, [rand(0)], [None, False])
case("count_nonzero", lambda x: x.count_nonzero(1), [whole(3, 4, low=0, high=2)], [(1,)])
for op in ("var", "std"):
    run = getattr(torch, op)
    case(op, lambda x: run(x, (1,), correction=1), [M], [(1,), 1, False])
    case(op, lambda x: run(x, (0, 2), correction=0, keepdim=True), [X], [(0, 2), 0, True])
    case(op, lambda x: run(x, None, correction=1), [V], [None, 1, False])
case("logsumexp", lambda x: x.logsumexp(1), [X], [(1,), False])
case("logsumexp", lambda x: x.logsumexp((0, 1)), [M * 300], [(0, 1), False])
case("logsumexp", lambda x: x.logsumexp(0), [torch.tensor([-math.inf, -math.inf])], [(0,), False], grad=False)
for p in (2.0, 1.0, 3.0, 0.5, 0.0, math.inf):
    case("norm", lambda x: torch.linalg.vector_norm(x, p, (1,)), [M], [p, (1,), False])
case("norm", lambda x: torch.linalg.vector_norm(x, 2.0), [torch.zeros(2, dtype=torch.float64)], [2.0, None, False])
case("cumsum", lambda x: x.cumsum(1), [X], [1, None])
case("cumsum", lambda x: x.cumsum(0), [whole(4)], [0, None])
case("cumprod", lambda x: x.cumprod(-1), [M], [-1, None])

# Products.
for a, b in [((3, 4), (4, 2)), ((4,), (4,)), ((4,), (4, 2)), ((3, 4), (4,)), ((2, 3, 4), (4, 5)), ((2, 3, 4), (2, 4, 1)),
             ((2, 1, 3, 4), (5, 4, 2)), ((4,), (2, 4, 3)), ((2, 3, 4), (4,)), ((0, 4), (4, 2)), ((3, 0), (0, 2))]:
    case("matmul", torch.matmul, [rand(*a), rand(*b)])
case("matmul", torch.matmul, [torch.randn(70, 130), torch.randn(130, 90)], grad=False)
case("matmul", torch.matmul, [whole(3, 4), whole(4, 2)])
for shape in [(5, 4), (2, 3, 4), (4,), (0, 4)]:
    case("linear", F.linear, [rand(*shape), rand(3, 4), rand(3)])
    case("linear", lambda x, w, b: F.linear(x, w), [rand(*shape), rand(3, 4), None])
case("dot", torch.dot, [V, rand(5)])
case("outer", torch.outer, [V, rand(3)])
case("addmm", lambda a, b, c: torch.addmm(a, b, c, beta=0.5, alpha=2.0), [rand(2), M, rand(4, 2)], [0.5, 2.0])

# Indexing.
case("gather", lambda x, i: x.gather(1, i), [M, torch.tensor([[0, 0, 3], [1, 2, 2]])], [1])
case("gather", lambda x, i: x.gather(0, i), [M, torch.tensor([[0, 2, 1, 0]])], [-2])
case("scatter", lambda x, i, s: x.scatter(1, i, s), [M, torch.tensor([[0, 3], [1, 2]]), rand(2, 2)], [1])
case("scatter_add", lambda x, i, s: x.scatter_add(0, i, s), [M, torch.tensor([[0, 0, 1, 2], [0, 0, 1, 1]]), rand(2, 4)], [0])
for reduce in ("sum", "prod", "mean", "amax", "amin"):
    for own in (True, False):
        run = lambda x, i, s: x.scatter_reduce(0, i, s, reduce, include_self=own)
        # Zeros and ties; a source larger than the index.
        tied = torch.tensor([[2.0, 0.0, 1.0, 3.0], [2.0, 0.0, 0.0, -1.0]], dtype=M.dtype)
        case("scatter_reduce", run, [M, torch.tensor([[0, 0, 1, 2], [0, 0, 1, 1]]), tied], [0, reduce, own])
        case("scatter_reduce", run, [torch.arange(-6, 6).reshape(3, 4), torch.tensor([[2, 0, 2], [2, 0, 1]]), torch.arange(8).reshape(2, 4) - 5], [0, reduce, own])
case("index_select", lambda x, i: x.index_select(1, i), [X, torch.tensor([2, 0, 0])], [1])
case("index_add", lambda x, i, s: x.index_add(1, i, s), [X, torch.tensor([2, 0, 0]), rand(2, 3, 4)], [1])
case("index", lambda x, i, j: x[i, j], [X, torch.tensor([[0], [1]]), torch.tensor([0, -1, 0])])
case("index_put", lambda x, v, i: x.index_put((i,), v), [M, rand(2, 4), torch.tensor([2, 0])], [False])
case("index_put", lambda x, v, i: x.index_put((i,), v, True), [M, rand(1, 4), torch.tensor([2, 0, 2])], [True])
case("embedding", lambda i, w: F.embedding(i, w, 1), [torch.tensor([[0, 1], [2, 0]]), M], [1])
case("one_hot", lambda i: F.one_hot(i, 4), [torch.tensor([[0, 3], [1, 1]])], [4])
case("nonzero", torch.nonzero, [whole(3, 3, low=0, high=2)])
case("masked_select", torch.masked_select, [M, M > 0])
case("take_along_dim", lambda x, i: torch.take_along_dim(x, i, 1), [M, torch.tensor([[0], [3], [1]])], [1])

# Softmax, normalisation and losses.
for op in ("softmax", "log_softmax"):
    run = getattr(F, op)
    for dim in (0, 1, -1):
        case(op, lambda x: run(x, dim), [X * 5], [dim, None])
    case(op, lambda x: run(x, 0), [torch.tensor([1e4, -1e4, 0.0, 1.5, 2.25])], [0, None])
case("layer_norm", lambda x, w, b: F.layer_norm(x, (3, 4), w, b), [X, rand(3, 4), rand(3, 4)], [(3, 4), 1e-5])
case("layer_norm", lambda x, w, b: F.layer_norm(x, (4,)), [X, None, None], [(4,), 1e-5])
case("group_norm", lambda x, w, b: F.group_norm(x, 2, w, b), [rand(2, 4, 3), rand(4), rand(4)], [2, 1e-5])
case("batch_norm", lambda x, m, v, w, b: F.batch_norm(x, m, v, w, b), [X, rand(3), rand(3) ** 2, rand(3), rand(3)],
     [False, 0.1, 1e-5])
case("batch_norm", lambda x, m, v, w, b: (F.batch_norm(x, None, None, w, b, True), x.mean((0, 2)).detach(),
     x.var((0, 2)).detach()), [X, None, None, rand(3), rand(3)], [True, 0.1, 1e-5])
case("normalize", lambda x: F.normalize(x, 2.0, 1), [M], [2.0, 1, 1e-12])
case("cosine_similarity", lambda a, b: F.cosine_similarity(a, b, 1), [M, rand(3, 4)], [1, 1e-8])
CLASSES = torch.tensor([1, 0, 3])
for how in ("mean", "sum", "none"):
    case("cross_entropy", lambda x, t, w: F.cross_entropy(x, t, reduction=how), [M, CLASSES, None], [-100, how, 0.0])
    case("cross_entropy", lambda x, t, w: F.cross_entropy(x, t, w, ignore_index=0, reduction=how, label_smoothing=0.2),
         [M, CLASSES, rand(4).abs()], [0, how, 0.2])
    case("cross_entropy", lambda x, t, w: F.cross_entropy(x, t, reduction=how, ignore_index=3), [M, CLASSES, None], [3, how, 0.0])
    case("nll_loss", lambda x, t, w: F.nll_loss(x, t, w, reduction=how), [M, CLASSES, rand(4).abs()], [-100, how])
    case("mse_loss", lambda x, t: F.mse_loss(x, t, reduction=how), [M, rand(3, 4)], [how])
    case("l1_loss", lambda x, t: F.l1_loss(x, t, reduction=how), [M, rand(3, 4)], [how])
case("cross_entropy", lambda x, t, w: F.cross_entropy(x, t), [rand(2, 3, 4), whole(2, 4, low=0, high=3), None], [-100, "mean", 0.0])
case("cross_entropy", lambda x, t, w: F.cross_entropy(x, t), [rand(3), torch.tensor(1), None], [-100, "mean", 0.0])
case("cross_entropy", lambda x, t, w: F.cross_entropy(x, t, w, label_smoothing=0.1), [M, M.softmax(1), rand(4).abs()],
     [-100, "mean", 0.1])
case("smooth_l1_loss", lambda x, t: F.smooth_l1_loss(x, t, beta=0.7), [M, rand(3, 4)], ["mean", 0.7])
case("huber_loss", lambda x, t: F.huber_loss(x, t, delta=0.7), [M, rand(3, 4)], ["mean", 0.7])
P = M.sigmoid()
case("binary_cross_entropy", lambda x, t, w: F.binary_cross_entropy(x, t, w), [P, (M > 0).double() * 0.75 + 0.125, rand(3, 4).abs()], ["mean"])
case("binary_cross_entropy_with_logits", lambda x, t, w, p: F.binary_cross_entropy_with_logits(x, t, w, pos_weight=p),
     [M * 20, (M > 0).double() * 0.9, rand(4).abs(), rand(4).abs()], ["mean"])
case("kl_div", lambda x, t: F.kl_div(x, t, reduction="batchmean"), [M, M.softmax(1)], ["batchmean", False])
case("kl_div", lambda x, t: F.kl_div(x, t, log_target=True), [M, M.log_softmax(1)], ["mean", True])

# Images.
for groups, stride, padding, dilation, bias in [(1, 1, 0, 1, True), (2, 2, 1, 1, False), (1, (2, 1), (1, 2), (1, 2), True),
                                               (4, 1, 1, 1, True)]:
    x, w = rand(2, 4, 7, 6), rand(4, 4 // groups, 3, 3)
    case("conv2d", lambda x, w, b: F.conv2d(x, w, b, stride, padding, dilation, groups), [x, w, rand(4) if bias else None],
         [stride, padding, dilation, groups])
case("conv2d", lambda x, w, b: F.conv2d(x, w, b), [rand(2, 5, 5), rand(3, 2, 2, 2), rand(3)], [(1,), (0,), (1,), 1])
case("conv_transpose2d", lambda x, w, b: F.conv_transpose2d(x, w, b, 2, 1, 1, 2, 1), [rand(2, 4, 3, 3), rand(4, 3, 3, 3), rand(6)],
     [2, 1, 1, 2, 1])
case("conv1d", lambda x, w, b: F.conv1d(x, w, b, 2, 1), [rand(2, 3, 9), rand(4, 3, 3), rand(4)], [2, 1, 1, 1])
case("max_pool2d", lambda x: F.max_pool2d(x, 2), [rand(2, 3, 5, 4)], [2, None, 0, 1, False, False])
case("max_pool2d", lambda x: F.max_pool2d(x, 3, 2, 1, 1, True, True), [rand(3, 6, 7)], [3, 2, 1, 1, True, True])
case("avg_pool2d", lambda x: F.avg_pool2d(x, 2), [rand(2, 3, 5, 4)], [2, None, 0, False, True, None])
case("avg_pool2d", lambda x: F.avg_pool2d(x, 3, 2, 1, True, False), [rand(1, 3, 6, 7)], [3, 2, 1, True, False, None])
case("adaptive_avg_pool2d", lambda x: F.adaptive_avg_pool2d(x, (3, 2)), [rand(2, 3, 7, 5)], [(3, 2)])

# Sorting.
for descending in (False, True):
    case("sort", lambda x: tuple(x.sort(dim=1, descending=descending, stable=True)), [X], [1, descending, True])
case("argsort", lambda x: x.argsort(dim=0, stable=True), [whole(6)], [0, False, True])
case("topk", lambda x: tuple(x.topk(2, 1)), [M], [2, 1, True, True])
case("topk", lambda x: tuple(x.topk(2, 0, False)), [M], [2, 0, False, True])
case("topk", lambda x: tuple(x.topk(0)), [torch.tensor(5.0, dtype=torch.float64)], [0, -1, True, True])
case("median", lambda x: tuple(x.median(1)), [M], [1, False])
case("median", torch.median, [V], [None, False])
case("unique", lambda x: torch.unique(x, True, True, True), [whole(9)], [True, True, True])
case("searchsorted", lambda a, b: torch.searchsorted(a, b, right=True), [torch.tensor([1, 3, 3, 5]), whole(6)], [True])
case("searchsorted", torch.searchsorted, [torch.tensor([[1.0, 3.0, 5.0], [2.0, 4.0, 6.0]]), torch.tensor([[3.0, 9.0], [6.0, 0.0]])])
case("bincount", lambda x: torch.bincount(x, minlength=9), [whole(9, low=0)], [9])

# Where a factor is 0, and where there is no direction.
for line in ([2.0, 0.0, 3.0, 0.5], [2.0, 0.0, 3.0, 0.0, 4.0], [0.0, 0.0], [0.0, 5.0]):
    case("cumprod", lambda x: x.cumprod(0), [torch.tensor(line, dtype=torch.float64)], [0, None])
case("cumprod", lambda x: x.cumprod(0), [M * torch.tensor([1.0, 0.0, 1.0, 1.0])], [0, None])
case("atan2", torch.atan2, [torch.tensor([0.0, 1.0, 0.0], dtype=torch.float64), torch.tensor([0.0, 0.0, 2.0], dtype=torch.float64)])

# Rows behind other rows.
def scanned(a, b):
    rows = [b[0]]
    for x, y in zip(a[1:], b[1:]):
        rows.append(y + x * rows[-1])
    return torch.stack(rows)


case("linear_scan", scanned, [rand(5), rand(5)], [0])
case("linear_scan", scanned, [rand(4, 3), rand(4, 3)], [0])
case("slice_backward", lambda x: torch.ops.aten.slice_backward(x, [6, 4], 0, 1, 6, 2), [rand(3, 4)], [0, 1, 6, 2, (6, 4)])
for dim in [(0, 2), (1, 2)]:
    def standardized(x, dim=dim):
        mean, var = x.mean(dim, True), x.var(dim, correction=0, keepdim=True)
        return (x - mean) / (var + 1e-5).sqrt(), mean, var
    case("standardize", standardized, [X], [dim, 1e-5])
case("convolution", lambda x, w, b: F.conv2d(x, w, b, 2, 1, 1, 2), [rand(2, 4, 6, 5), rand(4, 2, 3, 2), rand(4)], [2, 1, 1, 2])
for stride, padding, dilation in [((1,), (0,), (1,)), ((2, 1), (1, 0), (1, 2))]:
    x, w = rand(2, 4, 7, 6), rand(6, 2, 3, 2)
    dy = rand(*F.conv2d(x, w, None, stride, padding, dilation, 2).shape)
    how = (stride * 2 if len(stride) == 1 else stride, padding * 2 if len(padding) == 1 else padding,
           dilation * 2 if len(dilation) == 1 else dilation)

    def backward(x, w, dy, which, how=how):
        return torch.ops.aten.convolution_backward(dy, x, w, None, *how, False, [0, 0], 2, [which == 0, which == 1, False])[which]
    case("conv2d_input_grad", lambda dy, w: backward(x, w, dy, 0), [dy, w], [(7, 6), stride, padding, dilation, 2])
    case("conv2d_weight_grad", lambda x, dy: backward(x, w, dy, 1), [x, dy], [(3, 2), stride, padding, dilation, 2])


def pooled_back(pool, shape):
    """The gradient of a pooling, which is linear, as a function of the gradient of its output."""
    x = torch.zeros(shape, dtype=torch.float64, requires_grad=True)
    return lambda dy: torch.autograd.grad(pool(x), x, dy, create_graph=True)[0]


case("avg_pool2d_backward", pooled_back(lambda x: F.avg_pool2d(x, 3, 2, 1, True, False), (2, 3, 6, 7)), [rand(2, 3, 4, 4)],
     [3, 2, 1, True, False, None, (2, 3, 6, 7)])
case("adaptive_avg_pool2d_backward", pooled_back(lambda x: F.adaptive_avg_pool2d(x, (3, 2)), (2, 7, 5)), [rand(2, 3, 2)],
     [(3, 2), (2, 7, 5)])
case("max_pool2d_with_indices", lambda x: F.max_pool2d(x, 3, 2, 1, 1, True, True), [rand(2, 3, 6, 7)], [3, 2, 1, 1, True])
S, T = rand(4, 5), torch.tensor([0, 4, -100, 2])
counted = lambda s, t: (F.cross_entropy(s, t), torch.tensor(3.0, dtype=torch.float64))
case("softmax_cross_entropy", counted, [S, T], [-100, "mean"])
case("softmax_cross_entropy", lambda s, t: (F.cross_entropy(s, t, reduction="none"), torch.tensor(1.0, dtype=torch.float64)), [S, T],
     [-100, "none"])
case("softmax_cross_entropy_backward",
     lambda s, t, c: (s.softmax(1) - F.one_hot(t.clamp(0), 5)) * c[:, None] * (t != -100)[:, None], [S, T, rand(4)], [-100])
case("dropout", lambda x: F.dropout(x, 0.5, False), [M], [0.5, False])
case("dropout", lambda x: F.dropout(x, 0.0), [M], [0.0, True])

# Numbers alone.
case("arange", lambda: torch.arange(1, 10, 3), [], [1, 10, 3, None])
case("linspace", lambda: torch.linspace(0, 1, 5), [], [0.0, 1.0, 5, None])
case("eye", lambda: torch.eye(2, 3), [], [2, 3, None])
case("full", lambda: torch.full((2, 2), 1.5), [], [(2, 2), 1.5, None])
case("zeros", lambda: torch.zeros(2, 3), [], [(2, 3), None])
case("ones", lambda: torch.ones(2, 3, dtype=torch.int64), [], [(2, 3), torch.int64])

# Smaller ones.
number = torch.tensor(-1.5, dtype=torch.float64)
case("masked_fill", lambda x, m, v: x.masked_fill(m, v), [M, M > 0.3, number])
case("masked_fill", lambda x, m, v: x.masked_fill(m, v), [whole(3, 4), M[0] > 0, torch.tensor(7)])
case("addcmul", lambda x, a, b: torch.addcmul(x, a, b, value=0.7), [M, rand(3, 4), rand(4)], [0.7])
case("addcdiv", lambda x, a, b: torch.addcdiv(x, a, b, value=0.7), [M, rand(3, 4), rand(4) + 3], [0.7])
case("xlogy", torch.xlogy, [torch.tensor([0.0, 1.5, 2.0], dtype=torch.float64), torch.tensor([0.5, 2.0, 0.1], dtype=torch.float64)])
odd = torch.tensor([math.nan, math.inf, -math.inf, 1.5], dtype=torch.float64)
case("nan_to_num", torch.nan_to_num, [odd], [0.0, None, None], grad=False)
case("nan_to_num", lambda x: torch.nan_to_num(x, 1.0, 2.0, 3.0), [odd], [1.0, 2.0, 3.0])
case("nan_to_num", lambda x: torch.nan_to_num(x, 1.0, 2.0, 3.0), [odd.float()], [1.0, 2.0, 3.0])
case("nan_to_num", torch.nan_to_num, [whole(3)], [0.0, None, None])
case("cross", lambda a, b: torch.linalg.cross(a, b), [rand(4, 3), rand(4, 3)], [-1])
case("cross", lambda a, b: torch.linalg.cross(a, b, dim=0), [rand(3, 2), rand(3, 2)], [0])
for p in (2.0, 1.0, 3.0):
    case("cdist", lambda a, b: torch.cdist(a, b, p), [rand(4, 3), rand(2, 3)], [p])
case("cdist", torch.cdist, [rand(2, 3, 4), rand(2, 5, 4)], [2.0])
case("cdist", torch.cdist, [torch.linspace(-2, 3, 60).sin().reshape(30, 2), torch.linspace(-1, 2, 6).reshape(3, 2)], [2.0])
case("logcumsumexp", lambda x: x.logcumsumexp(1), [M], [1])
case("logcumsumexp", lambda x: x.logcumsumexp(0), [M * 100], [0])
for op, run in (("cummax", torch.cummax), ("cummin", torch.cummin)):
    case(op, lambda x: tuple(run(x, 1)), [X], [1])
    case(op, lambda x: tuple(run(x, 0)), [whole(6)], [0])
for op, run in (("var_mean", torch.var_mean), ("std_mean", torch.std_mean)):
    case(op, lambda x: run(x, 1, correction=0, keepdim=True), [X], [1, 0, True])
    case(op, run, [M], [None, 1, False])
case("diag_embed", lambda x: torch.diag_embed(x, -1), [M], [-1, -2, -1])
case("diag_embed", torch.diag_embed, [M], [0, -2, -1])
case("diag", lambda x: torch.diag(x, 1), [V], [1])
case("diag", lambda x: torch.diag(x, -1), [M], [-1])
case("histc", lambda x: torch.histc(x, 5, -1.0, 1.0), [M], [5, -1.0, 1.0], grad=False)
case("histc", lambda x: torch.histc(x, 4), [M], [4, 0.0, 0.0], grad=False)
factor = torch.tensor(-0.7, dtype=torch.float64)
case("axpy", lambda x, y, alpha: x + y * alpha, [M, rand(4), factor])
case("axpy", lambda x, y, alpha: torch.add(x, y, alpha=alpha.item()), [whole(3, 4), whole(4), torch.tensor(-3)])

case("pick_class", lambda s, t: s[range(4), t.clamp(0)] * (t != -100), [S, T], [-100])
case("binary_cross_entropy", F.binary_cross_entropy, [torch.tensor([0.0, 1.0, 0.25]), torch.tensor([0.0, 1.0, 1.0]), None], ["mean"], grad=False)
case("probabilities", lambda p: p.clone(), [torch.tensor([[0.25, 0.5], [0.75, 0.125]], dtype=torch.float64)], ["input"])
case("probabilities", lambda p: p.clone(), [torch.tensor([0.0, 1.0], dtype=torch.float64)], ["input"], grad=False)

path = pathlib.Path(__file__).parents[2] / "engine" / "testdata" / "ops.json"
# Corners: zeros, NaN, what is multiplied by 0, narrow shapes, corrections of every kind.
for op in ("var", "std"):
    run = getattr(torch, op)
    for correction in (0.5, None, 3):
        case(op, lambda x: run(x, (1,), correction=correction), [M], [(1,), correction, False])
for p in (2.0, 1.5, 1.0, 3.0, math.inf, -1.0):
    case("norm", lambda x: torch.linalg.vector_norm(x, p, (1,)),
         [torch.tensor([[0.0, 0.0], [3.0, -4.0], [0.0, 2.0]], dtype=torch.float64)], [p, (1,), False])
A, B, NANS = rand(2, 3, 4), rand(2, 4, 5), torch.full((3, 5), math.nan, dtype=torch.float64)
case("mm", torch.mm, [M, rand(4, 2)])
case("mm", torch.mm, [whole(3, 4), whole(4, 2)])
case("bmm", torch.bmm, [A, B])
case("mv", torch.mv, [M, rand(4)])
for beta, alpha in ((0.0, 1.0), (0.5, -2.0)):
    case("addmm", lambda x, a, b: torch.addmm(x, a, b, beta=beta, alpha=alpha), [NANS if beta == 0 else rand(3, 5), M, rand(4, 5)], [beta, alpha])
    case("baddbmm", lambda x, a, b: torch.baddbmm(x, a, b, beta=beta, alpha=alpha), [NANS.expand(2, 3, 5) if beta == 0 else rand(5), A, B], [beta, alpha])
    case("addbmm", lambda x, a, b: torch.addbmm(x, a, b, beta=beta, alpha=alpha), [NANS if beta == 0 else rand(3, 1), A, B], [beta, alpha])
    case("addmv", lambda x, a, b: torch.addmv(x, a, b, beta=beta, alpha=alpha), [NANS[:, 0] if beta == 0 else rand(3), M, rand(4)], [beta, alpha])
    case("addr", lambda x, a, b: torch.addr(x, a, b, beta=beta, alpha=alpha), [NANS if beta == 0 else rand(3, 5), rand(3), V], [beta, alpha])
case("addmm", lambda x, a, b: torch.addmm(x, a, b, beta=2, alpha=3), [whole(3, 5), whole(3, 4), whole(4, 5)], [2, 3])
HOLES = torch.tensor([[1.0, math.nan, 3.0], [4.0, 2.0, 9.0], [math.nan, math.nan, 0.0]], dtype=torch.float64)
for op in ("median", "nanmedian"):
    case(op, lambda x: tuple(getattr(torch, op)(x, 1)), [HOLES], [1, False])
    case(op, lambda x: tuple(getattr(torch, op)(x, 0, True)), [HOLES], [0, True])
    case(op, getattr(torch, op), [HOLES], [None, False])
    case("middle", getattr(torch, op), [HOLES], [op == "nanmedian"])
    case("middle", getattr(torch, op), [torch.tensor([2.0, 1.0, 2.0, 3.0], dtype=torch.float64)], [op == "nanmedian"])
case("cosine_similarity", lambda a, b: F.cosine_similarity(a, b, 1), [rand(3, 1, 4), rand(2, 4)], [1, 1e-8])
case("cosine_similarity", lambda a, b: F.cosine_similarity(a, b, 0), [M, rand(4)], [0, 1e-8])
for pads in [(-1, 2), (2, -1), (-1, -2), (1, -1, -1, 2)]:
    case("pad", lambda x: F.pad(x, pads, "circular"), [rand(1, 1, 3, 5) if len(pads) == 4 else rand(1, 2, 5)], [pads, "circular", 0.0])
for divisor in (3, -2):
    case("avg_pool2d", lambda x: F.avg_pool2d(x, 3, 2, 1, True, False, divisor), [rand(1, 3, 6, 7)], [3, 2, 1, True, False, divisor])
case("avg_pool2d_backward", pooled_back(lambda x: F.avg_pool2d(x, 3, 2, 1, True, False, 5), (2, 3, 6, 7)), [rand(2, 3, 4, 4)],
     [3, 2, 1, True, False, 5, (2, 3, 6, 7)])
case("conv_transpose2d", lambda x, w, _: F.conv_transpose2d(x, w, None, 2, 1), [rand(3, 5, 4), rand(3, 2, 3, 3), None], [2, 1, 0, 1, 1])
case("cat", lambda *x: torch.cat(x), [rand(0), rand(0)], [0])
case("take_along_dim", lambda x, i: torch.take_along_dim(x, i, 1), [M, torch.tensor([[-1], [0], [-4]])], [1])

# Layer norm and its gradient, which is differentiated, too.
ROWS, SLOPES, GAINS, SHIFTS = rand(5, 6), rand(5, 6), rand(6), rand(6)
case("layer_norm", lambda x, w, b: F.layer_norm(x, (6,), w, b), [ROWS, None, SHIFTS], [(6,), 1e-5])
case("native_layer_norm", lambda x, w, b: F.layer_norm(x, (6,), w, b), [ROWS, GAINS, SHIFTS], [(6,), 1e-5])
case("native_layer_norm", lambda x, w: F.layer_norm(x, (3, 4), w), [X, rand(3, 4)], [(3, 4), 1e-5])
case("native_layer_norm", lambda x: F.layer_norm(x, (4,), eps=0.1), [X], [(4,), 0.1])


def layer_norm_back(shape, count):
    def run(dy, x, w=None):
        weight = torch.ones(shape, dtype=torch.float64, requires_grad=True) if w is None else w
        bias = torch.zeros(shape, dtype=torch.float64, requires_grad=True)
        y = F.layer_norm(x, shape, weight, bias, 0.01)
        return torch.autograd.grad(y, [x, weight, bias][:count], dy, create_graph=True)
    return run


case("native_layer_norm_backward", layer_norm_back((6,), 3), [SLOPES, ROWS, GAINS], [(6,), 0.01, True])
case("native_layer_norm_backward", layer_norm_back((6,), 1), [SLOPES, ROWS, GAINS], [(6,), 0.01, False])
case("native_layer_norm_backward", layer_norm_back((3, 4), 3), [rand(2, 3, 4), X], [(3, 4), 0.01, True])
case("native_layer_norm_backward", layer_norm_back((4,), 1), [rand(2, 3, 4), X], [(4,), 0.01, False])


def softmax_back(dim):
    return lambda dy, y: y * (dy - (dy * y).sum(dim, True))


case("softmax_backward", lambda dy, y: torch.ops.aten._softmax_backward_data(dy, y, 2, torch.float64), [rand(2, 3, 4), X.softmax(2)], [2], grad=False)
for dim in (0, 1, -1):
    case("softmax_backward", softmax_back(dim), [rand(2, 3, 4), X.softmax(dim)], [dim])


# Attention and its gradient, which is differentiated, too.
def masks(*shape):
    """Numbers to add to scores, some of them minus infinity, never all of a row."""
    return rand(*shape).masked_fill(torch.arange(math.prod(shape)).reshape(shape) % 5 == 3, -math.inf)


def attention(scale, causal):
    def run(q, k, v, mask=None):
        scores = q * scale @ k.mT + (0 if mask is None else mask)
        if causal:
            scores = scores.masked_fill(torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1), -math.inf)
        return F.scaled_dot_product_attention(q, k, v, mask, 0.0, causal, scale=scale), scores.logsumexp(-1)
    return run


def attention_back(scale, causal):
    def run(dy, q, k, v, out, sums, mask=None):
        scores = q * scale @ k.mT + (0 if mask is None else mask)
        p = (scores - sums[..., None]).exp()
        if causal:
            p = p.tril()
        slopes = p * (dy @ v.mT - (dy * out).sum(-1, True))
        return slopes @ k * scale, slopes.mT @ q * scale, p.mT @ dy
    return run


def attention_grads(scale, causal):
    """By PyTorch's own gradient, for results that belong to the operands."""
    def run(dy, q, k, v, out, sums, mask=None):
        given = [it.clone().requires_grad_() for it in (q, k, v)]
        y = F.scaled_dot_product_attention(*given, mask, 0.0, causal, scale=scale)
        return torch.autograd.grad(y, given, dy)
    return run


for batch, (l, s), causal, masked in [((2, 3), (4, 5), False, False), ((2,), (5, 3), True, False), ((), (3, 6), True, False),
                                      ((1, 2), (4, 6), False, True), ((2, 0), (3, 4), False, False), ((2,), (0, 4), False, False)]:
    given = [rand(*batch, l, 3), rand(*batch, s, 3), rand(*batch, s, 2)] + ([masks(*batch, l, s)] if masked else [])
    case("native_attention", attention(0.6, causal), given, [0.6, causal])
    out, sums = attention(0.6, causal)(*given)
    slopes = rand(*batch, l, 2)
    case("native_attention_backward", attention_grads(0.6, causal), [slopes, *given[:3], out, sums, *given[3:]], [0.6, causal], grad=False)
    case("native_attention_backward", attention_back(0.6, causal), [slopes, *given[:3], rand(*out.shape), sums + 1, *given[3:]], [0.6, causal])
HIDDEN = torch.zeros(3, 4, dtype=torch.float64)
HIDDEN[1] = -math.inf
case("native_attention", attention(0.5, False), [rand(3, 2), rand(4, 2), rand(4, 2), HIDDEN], [0.5, False], grad=False)
case("native_attention", lambda q, k, v: (torch.zeros(2, 3, dtype=torch.float64), torch.full((2,), -math.inf, dtype=torch.float64)),
     [rand(2, 3), rand(0, 3), rand(0, 3)], [0.5, False], grad=False)

QUERY, KEY, VALUE = rand(2, 4, 3, 2), rand(2, 4, 5, 2), rand(2, 4, 5, 3)
for mask, options in [(None, {}), (None, {"is_causal": True}), (None, {"scale": 2.0}), (masks(3, 5), {}), (masks(2, 1, 3, 5), {}),
                      (torch.arange(15).reshape(3, 5) % 3 > 0, {}), (torch.arange(5) > torch.tensor([[1], [9], [2]]), {"scale": 0.3})]:
    case("scaled_dot_product_attention", lambda q, k, v, m: F.scaled_dot_product_attention(q, k, v, m, **options), [QUERY, KEY, VALUE, mask],
         [options.get("is_causal", False), options.get("scale"), False])
for query, key, value in [((3, 2), (5, 2), (5, 4)), ((2, 3, 2), (5, 2), (4, 1, 5, 2)), ((4, 1, 3, 2), (1, 2, 3, 2), (2, 3, 1))]:
    case("scaled_dot_product_attention", lambda q, k, v, m: F.scaled_dot_product_attention(q, k, v), [rand(*query), rand(*key), rand(*value), None],
         [False, None, False])
for mask in (None, masks(3, 5), masks(4, 3, 5)):
    case("scaled_dot_product_attention", lambda q, k, v, m: F.scaled_dot_product_attention(q, k, v, m, enable_gqa=True),
         [QUERY, rand(2, 2, 5, 2), rand(2, 2, 5, 3), mask], [False, None, True])


def turned(vectors, *others):
    """Columns of which the largest element is positive (of those that are as large but for rounding the first), and rows of `others` with them."""
    if not vectors.numel():
        return [vectors, *others]
    large = vectors.abs() >= 0.99 * vectors.abs().amax(-2, True)
    first = vectors.gather(-2, large.to(torch.uint8).argmax(-2, True))
    phase = (first / first.abs()).conj().detach()
    return [vectors * phase] + [other * phase.mT.conj() for other in others]


def found(a):
    return torch.zeros(a.shape[:-2], dtype=torch.int32)


def eigh(a, uplo="L"):
    values, vectors = torch.linalg.eigh(a, uplo)
    return values, turned(vectors)[0], found(a)


def svd(a):
    u, s, vh = torch.linalg.svd(a, False)
    u, vh = turned(u, vh)
    return u, s, vh, found(a)


def full_svd(a):
    u, s, vh = torch.linalg.svd(a)
    k = s.shape[-1]
    first, rows = turned(u[..., :k], vh[..., :k, :])
    more, below = turned(u[..., k:])[0] if u.shape[-1] > k else u[..., k:], vh[..., k:, :]
    below = turned(below.mT)[0].mT if vh.shape[-2] > k else below
    return torch.cat([first, more], -1), s, torch.cat([rows, below], -2), found(a)


def eig(a):
    values, vectors = torch.linalg.eig(a)
    vectors = turned(vectors)[0]
    return values.real, values.imag, vectors.real, vectors.imag.detach(), found(a)


def eigvals(a):
    values = torch.linalg.eigvals(a)
    return values.real, values.imag, found(a)


def definite(*shape):
    a = rand(*shape)
    return a @ a.mT + torch.eye(shape[-1], dtype=torch.float64)


def factors(a):
    return torch.linalg.lu_factor_ex(a)


NO_MATRIX, NO_BATCH = torch.zeros(0, 0, dtype=torch.float64), torch.zeros(0, 2, 2, dtype=torch.float64)
SINGULAR = torch.tensor([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [1.0, 0.5, 2.0]], dtype=torch.float64)
for shape in [(3, 3), (2, 4, 4), (1, 1), (2, 1, 3, 3)]:
    case("linalg_cholesky_ex", lambda a: torch.linalg.cholesky_ex(a), [definite(*shape)], [False])
case("linalg_cholesky_ex", lambda a: torch.linalg.cholesky_ex(a, upper=True), [definite(3, 3)], [True])
for empty in (NO_MATRIX, NO_BATCH):
    case("linalg_cholesky_ex", lambda a: torch.linalg.cholesky_ex(a), [empty], [False], grad=False)
    case("linalg_lu_factor_ex", factors, [empty], grad=False)
    case("linalg_eigh", eigh, [empty], ["L"], grad=False)
    case("linalg_svd", lambda a: (*torch.linalg.svd(a), found(a)), [empty], [True], grad=False)
    case("linalg_det", lambda a: (torch.linalg.det(a), *factors(a)[:2]), [empty], grad=False)
    case("linalg_qr", lambda a: torch.linalg.qr(a), [empty], ["reduced"], grad=False)
for shape in [(3, 3), (2, 4, 4), (3, 5), (5, 3), (2, 2, 3), (1, 1)]:
    case("linalg_lu_factor_ex", factors, [rand(*shape)])
case("linalg_lu_factor_ex", factors, [SINGULAR], grad=False)
case("linalg_lu_factor_ex", factors, [torch.zeros(2, 3, dtype=torch.float64)], grad=False)
for pivots, size in [([[2, 3, 3]], 3), ([[3, 2, 3], [1, 3, 3]], 4), ([[1]], 1)]:
    order = lambda p: torch.lu_unpack(torch.zeros(len(p), size, p.shape[-1]), p)[0].argmax(-2)
    case("lu_permutation", order, [torch.tensor(pivots, dtype=torch.int32)], [size])
for adjoint in (False, True):
    for shape, k in [((3, 3), 2), ((2, 4, 4), 1), ((2, 3, 3), 0)]:
        lu, pivots, _ = factors(rand(*shape))
        case("linalg_lu_solve", lambda a, p, b: torch.linalg.lu_solve(a, p, b, adjoint=adjoint),
             [lu, pivots, rand(*shape[:-1], k)], [adjoint])
for shape, k in [((3, 3), 2), ((2, 4, 4), 1), ((2, 2, 2), 3), ((1, 1), 1), ((3, 3), 0)]:
    case("linalg_solve_ex", lambda a, b: (torch.linalg.solve(a, b), *factors(a)), [rand(*shape), rand(*shape[:-1], k)])
for shape in [(3, 3), (2, 4, 4), (1, 1)]:
    case("linalg_det", lambda a: (torch.linalg.det(a), *factors(a)[:2]), [rand(*shape)])
case("linalg_det", lambda a: (torch.linalg.det(a), *factors(a)[:2]), [SINGULAR], grad=False)
for upper in (False, True):
    for unit in (False, True):
        for left, a, b in [(True, (3, 3), (3, 2)), (False, (2, 3, 3), (2, 2, 3)), (True, (2, 4, 4), (2, 4, 1))]:
            case("linalg_solve_triangular",
                 lambda a, b: torch.linalg.solve_triangular(a, b, upper=upper, left=left, unitriangular=unit),
                 [rand(*a) + 2 * torch.eye(a[-1], dtype=torch.float64), rand(*b)], [upper, left, unit])
for shape in [(4, 3), (3, 3), (3, 5), (2, 4, 2), (1, 1)]:
    case("linalg_qr", lambda a: torch.linalg.qr(a), [rand(*shape)], ["reduced"])
case("linalg_qr", lambda a: torch.linalg.qr(a, "complete"), [rand(2, 3, 4)], ["complete"])
case("linalg_qr", lambda a: torch.linalg.qr(a, "complete"), [rand(4, 2)], ["complete"], grad=False)
case("linalg_qr", lambda a: torch.linalg.qr(a, "r"), [rand(2, 4, 3)], ["r"], grad=False)
for shape in [(3, 3), (2, 4, 4), (1, 1)]:
    case("linalg_eigh", eigh, [definite(*shape)], ["L"])
    case("linalg_eigvalsh", lambda a: (torch.linalg.eigvalsh(a), found(a)), [definite(*shape)], ["L"])
case("linalg_eigh", lambda a: eigh(a, "U"), [rand(4, 4)], ["U"], grad=False)
case("linalg_eigvalsh", lambda a: (torch.linalg.eigvalsh(a, "U"), found(a)), [rand(4, 4)], ["U"], grad=False)
for shape in [(3, 3), (4, 2), (2, 3, 4), (1, 1)]:
    case("linalg_svd", svd, [rand(*shape)], [False])
    case("linalg_svdvals", lambda a: (torch.linalg.svdvals(a), found(a)), [rand(*shape)])
for shape in [(4, 3), (2, 3), (3, 3)]:
    case("linalg_svd", full_svd, [rand(*shape)], [True], grad=False)
for size in (1e-30, 1e30):
    case("linalg_svdvals", lambda a: (torch.linalg.svdvals(a), found(a)), [rand(3, 3) * size], grad=False)
    case("linalg_eigvalsh", lambda a: (torch.linalg.eigvalsh(a), found(a)), [definite(3, 3) * size], ["L"], grad=False)
# Whose eigenvalues every algorithm gives in the same order.
REAL = torch.tensor([[4.5, 0.75, 1.0], [1.5, 2.5, 0.25], [1.0, 1.5, -2.5]], dtype=torch.float64)
TRIANGLE = torch.tensor([[1.0, 2.0, 0.5], [0.0, 3.0, 1.0], [0.0, 0.0, -2.0]], dtype=torch.float64)
case("linalg_eig", eig, [REAL])
case("linalg_eig", eig, [torch.stack([REAL, TRIANGLE])])
case("linalg_eig", eig, [torch.tensor([[0.0, -2.0, 0.5], [2.0, 0.5, 0.0], [0.0, 1.0, 3.0]], dtype=torch.float64)], grad=False)
case("linalg_eigvals", eigvals, [REAL])
case("linalg_eigvals", eigvals, [torch.tensor([[0.0, -2.0, 0.5], [2.0, 0.5, 0.0], [0.0, 1.0, 3.0]], dtype=torch.float64)])


for ends in ([math.inf, 0.0], [math.inf, math.inf, 1.0], [-math.inf, -math.inf], [0.0, -math.inf]):
    for name in ("softmax", "log_softmax"):
        case(name, lambda x: getattr(x, name)(0), [torch.tensor(ends, dtype=torch.float64)], [0, None], grad=False)

# Fourier transforms of pairs of floats.
def pairs_of(x, dims, backward, scale):
    run = torch.fft.ifftn if backward else torch.fft.fftn
    z = run(torch.view_as_complex(x.contiguous()), dim=dims, norm="forward" if backward else "backward") if dims else torch.view_as_complex(x.contiguous())
    return torch.view_as_real(z * scale)


for shape, dims in [((5, 2), (0,)), ((3, 4, 2), (1,)), ((3, 4, 2), (0,)), ((2, 3, 4, 2), (0, -1)), ((1, 2), (0,)), ((70, 2), (0,)), ((3, 2), ())]:
    for backward in (False, True):
        case("fft_pairs", lambda x: pairs_of(x, dims, backward, 0.5), [rand(*shape)], [dims, backward, 0.5])
for shape, dim in [((6,), 0), ((5,), 0), ((1,), 0), ((2,), 0), ((3, 4), 0), ((2, 3, 7), 1), ((2, 3, 7), -1)]:
    case("fft_half", lambda x: torch.view_as_real(torch.fft.rfft(x, dim=dim) * 0.5), [rand(*shape)], [dim, 0.5])
    half = torch.fft.rfft(rand(*shape), dim=dim)
    n = shape[dim]
    run = lambda x: torch.fft.irfft(torch.view_as_complex(x.contiguous()), n=n, dim=dim, norm="forward") * 0.5
    case("fft_whole", run, [rand(*half.shape, 2)], [dim % len(shape), n, 0.5])


# Batch norm and its gradient.
def batch_normed(eps):
    def run(x, w=None, b=None):
        dims = [it for it in range(x.dim()) if it != 1]
        y = F.batch_norm(x, None, None, w, b, True, 0.0, eps)
        return y, x.mean(dims), x.var(dims, correction=0)
    return run


def batch_norm_back(eps, count):
    """In training, by PyTorch's operator."""
    def run(dy, x, mean, var, w=None):
        wanted = [True, count > 1, count > 1]
        weight = torch.ones(x.shape[1], dtype=x.dtype) if w is None else w
        found = torch.ops.aten.native_batch_norm_backward(dy, x, weight, None, None, mean, (var + eps).rsqrt(), True, eps, wanted)
        return list(found)[:count]
    return run


def batch_norm_back_of_parts(eps, count):
    """The same as a function of all operands, statistics among them."""
    def run(dy, x, mean, var, w=None):
        dims = [it for it in range(x.dim()) if it != 1]
        wide = lambda it: it.reshape([-1 if dim == 1 else 1 for dim in range(1, x.dim())])
        c, r = x - wide(mean), wide(var + eps).rsqrt()
        dx = r * (dy - dy.mean(dims, True) - c * r * r * (dy * c).mean(dims, True))
        weight, bias = ((dy * c * r).sum(dims), dy.sum(dims))
        return [dx if w is None else dx * wide(w), weight, bias][:count]
    return run


IMAGES = rand(2, 3, 4, 5)
case("native_batch_norm", batch_normed(1e-5), [X, rand(3), rand(3)], [1e-5])
case("native_batch_norm", batch_normed(0.1), [IMAGES, rand(3)], [0.1])
case("native_batch_norm", batch_normed(1e-5), [rand(5, 4), rand(4), rand(4)], [1e-5])
case("native_batch_norm", batch_normed(1e-5), [rand(1, 3, 4)], [1e-5])
for x, weight, count in [(X, rand(3), 3), (IMAGES, rand(3), 1), (rand(5, 4), rand(4), 3), (IMAGES, None, 3), (rand(5, 4), None, 1)]:
    dims = [it for it in range(x.dim()) if it != 1]
    operands = [rand(*x.shape), x, x.mean(dims), x.var(dims, correction=0)] + ([] if weight is None else [weight])
    attrs = [0.01, count > 1]
    case("native_batch_norm_backward", batch_norm_back(0.01, count), operands, attrs, grad=False)
    case("native_batch_norm_backward", batch_norm_back_of_parts(0.01, count), operands, attrs)


def bytes_of(*shape):
    return torch.randint(-128, 128, shape, dtype=torch.int8)


for m, k, n in [(3, 4, 5), (1, 1, 1), (17, 33, 9), (20, 64, 40), (2, 0, 3), (0, 4, 3), (5, 4, 0)]:
    case("_int_mm", torch._int_mm, [bytes_of(m, k), bytes_of(k, n)])
case("_int_mm", torch._int_mm, [torch.full((2, 70), -128, dtype=torch.int8), torch.full((70, 3), -128, dtype=torch.int8)])

case("masked_fill", lambda x, m, v: x.masked_fill(m, v), [whole(3, 4), M[0] > 0, torch.tensor(-2.75)])
case("where", torch.where, [(whole(3, 4) > 0).to(torch.uint8) * 2, whole(3, 4), torch.tensor(7)])


# Views of memory by steps, and of its bits as another dtype.
STRIDED = rand(3, 4)
for size, stride, start in [((2, 3), (4, 1), 0), ((3, 2), (1, 1), 2), ((4,), (3,), 1), ((2, 2, 2), (0, 5, 2), 0), ((0, 3), (4, 1), 0), ((), (), 7)]:
    case("_as_strided", lambda x: torch.as_strided(x, size, stride, start), [STRIDED], [size, stride, start])
case("_as_strided", lambda x: torch.as_strided(x, (3, 3), (2, 1), 1), [torch.arange(9)], [(3, 3), (2, 1), 1])
FLOATS = torch.tensor([[1.0, -2.5, 0.1, 3e9], [-0.0, 7.0, 1e-20, -1e5]])
for dtype in [torch.int32, torch.int8, torch.uint8, torch.int64, torch.float32]:
    case("_view_dtype", lambda x: x.view(dtype), [FLOATS], [dtype])
case("_view_dtype", lambda x: x.view(torch.float64), [torch.tensor([[0, 1072693248, 5, 1074266112]], dtype=torch.int32)], [torch.float64])
case("_view_dtype", lambda x: x.view(torch.int64), [torch.tensor(-1.5, dtype=torch.float64)], [torch.int64])
case("_view_dtype", lambda x: x.view(torch.uint8), [torch.tensor([True, False, True])], [torch.uint8])
case("_view_dtype", lambda x: x.view(torch.int32), [torch.zeros(2, 0)], [torch.int32])

BYTES = torch.tensor([[0, 3, 255], [0, 0, 0], [1, 1, 1]], dtype=torch.uint8)
for name in ["any", "all"]:
    for dims, keep in [((1,), False), ((0,), True), ((0, 1), False)]:
        case(name, lambda x: getattr(torch, name)(x, dim=dims, keepdim=keep), [BYTES], [dims, keep])


GAMMAS = [("lgamma", torch.lgamma), ("digamma", torch.digamma), ("_trigamma", lambda x: torch.polygamma(1, x))]
BESSEL = [(f"_{it}", getattr(torch.special, it)) for it in ["i0", "i0e", "i1", "i1e"]]
WIDE = torch.tensor([0.05, 0.3, 0.499, 0.5, 0.7, 0.999, 1.0, 1.3, 1.4616, 1.7, 2.0, 2.6, 3.4, 3.999, 4.0, 5.5, 9.0, 20.0, 300.0, 1e5], dtype=torch.float64)
BELOW = torch.tensor([-1e-3, -0.4, -0.6, -1.3, -2.45, -2.6, -7.8, -20.25, -101.7], dtype=torch.float64)
for name, run in GAMMAS:
    for x in [torch.cat([WIDE, BELOW]), torch.cat([WIDE, BELOW]).float()]:
        case(name, run, [x], grad=False)
    case(name, run, [torch.cat([WIDE[4:16], BELOW[1:6]])])
for name, run in BESSEL:
    x = torch.cat([WIDE[:-2], -WIDE[:-2], torch.tensor([7.9, 8.0, 8.1, 50.0], dtype=torch.float64)])
    for at in [x, x.float()]:
        case(name, run, [at], grad=False)
    case(name, run, [torch.cat([WIDE[:12], -WIDE[:12]])])
case("_trigamma", lambda x: torch.polygamma(1, x), [whole(3, 4, low=1, high=9)])
case("_i0", torch.i0, [whole(3, 4)])

def strided_scatter(size, stride, start):
    """A write in place: the gradient of torch.as_strided_scatter itself goes to the places that are replaced, not to the others."""
    def run(x, y):
        z = x.clone()
        torch.as_strided(z, size, stride, start).copy_(y)
        return z
    return run


for size, stride, start in [((2, 3), (4, 1), 0), ((3, 2), (1, 4), 2), ((4,), (3,), 1), ((2, 2, 2), (1, 6, 2), 1), ((0, 3), (4, 1), 0), ((), (), 7)]:
    case("as_strided_scatter", strided_scatter(size, stride, start), [STRIDED, rand(*size)], [size, stride, start])
case("as_strided_scatter", lambda x, y: torch.as_strided_scatter(x, y, (3,), (3,), 2), [torch.arange(9), torch.tensor([7, 8, 9])], [(3,), (3,), 2])


def mixed(dim):
    """Slices that are picked along a dimension, weighed and summed."""
    def run(x, index, weights):
        sizes = [1] * x.ndim
        sizes[dim] = -1
        return sum(x.index_select(dim, places) * w.reshape(sizes) for places, w in zip(index.t(), weights.t()))
    return run


for dim, n, terms in [(0, 3, 2), (1, 5, 2), (2, 6, 2), (-1, 4, 3), (1, 2, 5), (0, 4, 1), (2, 0, 2)]:
    index = torch.randint(0, X.shape[dim], (n, terms))
    case("_mix_slices", mixed(dim), [X, index, rand(n, terms)], [dim])
case("_mix_slices", mixed(0), [V.float(), torch.tensor([[4, 0], [1, 1]], dtype=torch.int32), torch.tensor([[0.25, 0.75], [1.0, 2.0]])], [0])

# What refuses gives 0 where nothing is wrong.
for wrong, told in [([0, 0, 0], [5, 6, 7]), ([False, False], [True, False]), ([], [])]:
    case("refuse_where", lambda *_: torch.zeros((), dtype=torch.int64), [torch.tensor(wrong, dtype=None if wrong else torch.int64), torch.tensor(told, dtype=None if wrong else torch.int64)], ["_LinAlgError", "{place}it's {told}"])


def with_slice(part):
    def run(x, y):
        z = torch.zeros_like(x)
        z[part] = y
        return x + z
    return run


ROW, EVEN = (slice(None), slice(1, 4)), (slice(None, None, 2),)
case("slice_add", with_slice(ROW), [M, rand(3, 3)], [1, 1, 4, 1])
case("slice_add", with_slice(EVEN), [X, rand(1, 3, 4)], [0, 0, None, 2])
case("slice_add", lambda x, y: x + y.flip(0), [V, rand(5)], [0, None, None, -1])
case("slice_add", lambda x, y: x + F.pad(y, (2, 0)), [torch.arange(8).reshape(2, 4), torch.tensor([[5, 6], [7, 8]])], [1, 2, None, 1])


def standard_back(dims):
    def run(dy, y, variance):
        mean = lambda it: it.mean(dims, True)
        return (dy - mean(dy) - y * mean(dy * y)) / (variance + 0.01).sqrt()
    return run


for dims, sizes in [((2,), (2, 3, 1)), ((1, 2), (2, 1, 1)), ((0, 1, 2), (1, 1, 1))]:
    case("standardize_backward", standard_back(dims), [rand(2, 3, 4), X, rand(*sizes).abs() + 0.5], [dims, 0.01])

case("log_softmax_backward", lambda dy, y: torch.ops.aten._log_softmax_backward_data(dy, y, 2, torch.float64), [rand(2, 3, 4), X.log_softmax(2)], [], grad=False)
case("log_softmax_backward", lambda dy, y: dy - y.exp() * dy.sum(-1, True), [rand(3, 7), rand(3, 7)], [])
case("pick_class_backward", lambda g, t: torch.zeros(4, 5, dtype=torch.float64).scatter(1, t.clamp(0)[:, None], (g * (t != -100))[:, None]),
     [rand(4), torch.tensor([0, 4, -100, 2])], [5, -100])

path.write_text("[\n" + ",\n".join(json.dumps(it) for it in CASES) + "\n]\n")
print(len(CASES), "cases")

"""Calls that few programs make: old flags, lists in place of letters, arguments in odd places, and empty batches."""

T = torch.tensor
x, X = torch.ones(2, 3, dtype=torch.float64), torch.arange(6.0, dtype=torch.float64).reshape(2, 3)

for dtype in (torch.uint8, torch.int8, torch.int32):
    a = torch.full((1, 1, 3, 3), 100).to(dtype)
    show("tensordot", torch.tensordot(a, a))
    show("tensordot of one and several", torch.tensordot(torch.full((1, 3), 100).to(dtype), torch.ones(2, 3, dtype=dtype), ([0, 1], [0, 1])))
show("fold of bools", F.fold(torch.ones(1, 4, 4, dtype=torch.bool), 3, 2))
show("fold of bools apart", F.fold(torch.eye(4).bool().reshape(1, 4, 4), 4, 2, stride=2))

for alpha in (True, False, 2, 0.5, 0):
    for start in (T([True, False]), T([1, 2]), T([1.0, 2.0])):
        source = start[:1]
        show(f"index_add {alpha}", start.index_add(0, T([1]), source, alpha=alpha))

vector = x[0]
show("softmax", [F.softmax(vector, 0, 3), F.softmax(vector, 0, 3, torch.float32), F.softmax(vector, 0, _stacklevel=5)])
show("log_softmax", [F.log_softmax(vector, 0, 3), F.log_softmax(vector, dim=0, _stacklevel=3, dtype=torch.float32)])
show("softmin", F.softmin(vector, 0, 3))
refused("torch.softmax with a number", lambda: torch.softmax(vector, 0, torch.ones(1)))

for loss in (F.mse_loss, F.l1_loss, F.huber_loss):
    for reduction in ("mean", "sum", "none"):
        graded(f"{loss.__name__} with weights", lambda a, b, w: loss(a, b, weight=w, reduction=reduction), x, X + 0.25, X + 1)
    refused("weights of another size", lambda: loss(x, X, weight=X[0]))
for average in (None, True, False):
    for reduce in (None, True, False):
        old = {"size_average": average, "reduce": reduce}
        half = x / 2
        classes, signs = T([0, 2]), T([1.0, -1.0], dtype=torch.float64)
        show(f"{average} {reduce}", [
            F.mse_loss(x, X, **old), F.l1_loss(x, X, **old), F.smooth_l1_loss(x, X, **old),
            F.cross_entropy(X, classes, **old), F.nll_loss(X, classes, **old), F.kl_div(X, half, **old),
            F.binary_cross_entropy(half, half, **old), F.binary_cross_entropy_with_logits(X, half, **old),
            F.poisson_nll_loss(X, x, **old), F.hinge_embedding_loss(X, x, **old), F.soft_margin_loss(X, x, **old),
            F.cosine_embedding_loss(x, X, signs, **old), F.margin_ranking_loss(X[0], x[0], x[0], **old),
            F.multilabel_soft_margin_loss(X, half, **old), F.multi_margin_loss(X, classes, **old),
            F.multilabel_margin_loss(X, T([[0, -1, 1], [2, 1, 0]]), **old), F.triplet_margin_loss(X, x, -X, **old),
        ])
show("flags in place", [F.mse_loss(x, X, False), F.mse_loss(x, X, None, False), F.l1_loss(x, X, False, True), F.mse_loss(x, X, True, None, "mean", X + 1)])

for dims in ((0, 0, 2), (1, 0, 1), (0, 1, 0), (-1, 0, 1), (1, 1, 0), (0, -1, -3)):
    graded(f"diag_embed {dims}", lambda it: torch.diag_embed(it, *dims), X)
show("diag_embed by name", X.diag_embed(offset=-1, dim1=0, dim2=1))
refused("diag_embed of one dimension", lambda: torch.diag_embed(X, 0, 1, 1))
refused("diag_embed of none", lambda: torch.diag_embed(X, 0, 0, 3))

show("einsum", [
    torch.einsum(X, [0, 1], [0]), torch.einsum(X, [0, 1], X, [0, 2], [1, 2]), torch.einsum(X, [0, 1], X, [0, 2]),
    torch.einsum(X, [..., 1], [...]), torch.einsum(X, [30, 2]),
])
refused("einsum of a number without a letter", lambda: torch.einsum(X, [60, 2]))

for shape in ((0, 2), (0, 2, 4), (1, 2, 0)):
    layer = nn.BatchNorm1d(2)
    with torch.no_grad():
        layer.running_mean.fill_(0.5)
    found = layer(torch.zeros(shape))
    found.sum().backward()
    show("batch_norm of nothing", [found, layer.running_mean, layer.running_var, layer.num_batches_tracked, layer.weight.grad, layer.bias.grad])
show("batch_norm of nothing, without statistics", F.batch_norm(torch.zeros(0, 2), None, None, training=True))
refused("batch_norm of one", lambda: F.batch_norm(torch.zeros(1, 2), None, None, training=True))

show("pad", [F.pad(x, (1, 1), value=None), F.pad(x, (1, 1), "constant", None), F.pad(x[None], (1, 1), "reflect", None)])

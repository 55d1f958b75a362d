# Functions of torch that torch.nn.functional has, too, but called in another way.
x, y = values(2, 3).abs(), values(2, 3, seed=2).abs()
one, zero, sign = torch.ones(3, dtype=torch.float64), torch.zeros(3, dtype=torch.float64), torch.tensor([1.0, -1.0], dtype=torch.float64)
w, index = values(4, 2), torch.tensor([0, 2, 3])
show("kl_div", [torch.kl_div(x, y), torch.kl_div(x, y, 0), torch.kl_div(x, y, 1), torch.kl_div(x, y, reduction=2, log_target=True), torch.kl_div(x, y, 3)])
show("binary_cross_entropy_with_logits", [torch.binary_cross_entropy_with_logits(x, y), torch.binary_cross_entropy_with_logits(x, y, one, one * 2, 1)])
show("binary_cross_entropy_with_logits", torch.binary_cross_entropy_with_logits(x, y, reduction=2))
show("cosine_embedding_loss", [torch.cosine_embedding_loss(x, y, sign), torch.cosine_embedding_loss(x, y, sign, 0.1, 1), torch.cosine_embedding_loss(x, y, sign, reduction=2)])
show("hinge_embedding_loss", [torch.hinge_embedding_loss(x[:, 0], sign), torch.hinge_embedding_loss(x[:, 0], sign, 0.5, 1)])
show("margin_ranking_loss", [torch.margin_ranking_loss(x[:, 0], y[:, 0], sign), torch.margin_ranking_loss(x[:, 0], y[:, 0], sign, 0.5, 2)])
show("triplet_margin_loss", [torch.triplet_margin_loss(x, y, x + 0.1), torch.triplet_margin_loss(x, y, x + 0.1, 2.0, 1.0, 1e-6, True, 1)])
show("poisson_nll_loss", [torch.poisson_nll_loss(x, y, True, False, 1e-8, 0), torch.poisson_nll_loss(x, y, False, True, 1e-8, 1)])
scores = values(4, 2, 3).log_softmax(2)
show("ctc_loss", [torch.ctc_loss(scores, torch.tensor([[1, 2], [1, 1]]), [4, 3], [2, 1]), torch.ctc_loss(scores, torch.tensor([1, 2, 1]), torch.tensor([4, 3]), torch.tensor([2, 1]), 0, 1, True)])
for name, function in [
    ("words", lambda: torch.kl_div(x, y, reduction="mean")),
    ("words", lambda: torch.binary_cross_entropy_with_logits(x, y, reduction="sum")),
    ("no rate", lambda: torch.dropout(x)),
    ("no word of training", lambda: torch.dropout(x, 0.5)),
    ("no word of training", lambda: torch.alpha_dropout(x, 0.5)),
    ("no momentum", lambda: torch.batch_norm(x, zero, one)),
    ("indices first", lambda: torch.embedding(index, w)),
]:
    refused(name, function)
show("dropout", [torch.dropout(x, 0.5, False), torch.dropout(x, p=0.0, train=True), torch.alpha_dropout(x, 0.5, False), torch.feature_alpha_dropout(x, 0.5, train=False), torch.feature_dropout(x, 0.5, False)])
show("batch_norm", [torch.batch_norm(x, one * 2, zero, zero, one, False, 0.1, 1e-5, False), torch.batch_norm(x, None, None, None, None, True, 0.1, 1e-5, True)])
show("instance_norm", torch.instance_norm(x.unsqueeze(0), None, None, None, None, True, 0.1, 1e-5, True))
show("layer_norm, group_norm", [torch.layer_norm(x, [3], one * 2, zero, 1e-5, True), torch.group_norm(values(2, 4, 3), 2, None, None, 1e-5, False)])
show("rrelu", [torch.rrelu(x - 0.5), torch.rrelu(x - 0.5, 0.1, 0.3)])
show("embedding", [torch.embedding(w, index), torch.embedding(weight=w, indices=index, padding_idx=2)])
show("pools", [torch.adaptive_max_pool1d(values(2, 6), 2), torch.max_pool1d_with_indices(values(2, 6), 2), torch.max_pool1d_with_indices(values(2, 6), 3, 1, 1)])
torch.manual_seed(3)
show("feature_alpha_dropout", [F.feature_alpha_dropout(values(2, 3, 2), 0.5, True), torch.feature_alpha_dropout(values(4, 2), 0.25, True)])
show("feature_alpha_dropout", [F.feature_alpha_dropout(x), F.feature_alpha_dropout(x, 1.0, True)])
refused("one dimension", lambda: F.feature_alpha_dropout(one, 0.5, True))
refused("a rate of 1.5", lambda: F.feature_alpha_dropout(x, 1.5))

# Without a dimension torch.cross takes the first of size 3, torch.linalg.cross the last.
a, b = values(3, 3), values(3, 3, seed=2)
show("cross", [torch.cross(a, b), a.cross(b), torch.cross(a, b, dim=1), torch.linalg.cross(a, b), torch.cross(values(3, 4), values(3, 4, seed=2)), torch.cross(values(2, 3, 3), values(2, 3, 3, seed=2))])
refused("no size 3", lambda: torch.cross(values(2, 4), values(2, 4)))
attempt("margin_ranking_loss of whole numbers", lambda: F.margin_ranking_loss(torch.tensor([1, 2]), torch.tensor([2, 4]), torch.tensor([1, 1])))
attempt("margin_ranking_loss of whole numbers", lambda: F.margin_ranking_loss(torch.tensor([1, 2]), torch.tensor([2, 4]), torch.tensor([1, 1]), reduction="none"))
for function in (torch.atleast_1d, torch.atleast_2d, torch.atleast_3d):
    show("at least", [function(torch.tensor(1), torch.tensor([2, 3])), function([torch.tensor(1)]), function(torch.ones(2, 2)), function(()), function()])
for function in (torch.fft.fftn, torch.fft.ifftn, torch.fft.rfftn, torch.fft.irfftn, torch.fft.hfftn, torch.fft.ihfftn):
    attempt("one size", lambda: list(function(torch.arange(6.0).reshape(2, 3), 2).shape))
    attempt("one size", lambda: list(function(torch.arange(6.0).reshape(2, 3), 4, 0).shape))
show("fftn", torch.fft.rfftn(torch.arange(6.0).reshape(2, 3), 2).real)
refused("one size of two", lambda: torch.fft.fft2(a, 1))
for bias in (torch.ones(3, 3), torch.ones(1, 3), torch.full((3, 1), 2.0), torch.tensor(2.0)):
    graded("linear", lambda x, w, b: F.linear(x, w, b), a, b, bias.double())
graded("linear of a batch", lambda x, w, b: F.linear(x, w, b), values(2, 3, 3), b, values(3, 3))
refused("a bias that makes more of it", lambda: F.linear(a[0], b, torch.ones(3, 3).double()))
graded("tensordot", lambda x, y: torch.tensordot(x, y, dims=([1], [0])), values(2, 1), values(3, 2))
graded("tensordot", lambda x, y: torch.tensordot(x, y, 1), values(2, 3), values(1, 2))
refused("tensordot", lambda: torch.tensordot(values(2, 3), values(2, 2), 1))
z = torch.complex(values(2, 3), values(2, 3, seed=4))
for function in (torch.var_mean, torch.std_mean):
    for found in (function(z), function(z, 1), function(z, (0, 1), correction=0, keepdim=True)):
        show("spread", [found[0], torch.view_as_real(found[1])])
attempt("empty_strided", lambda: (torch.empty_strided((2, 3), (1, 2)).stride(), torch.empty_strided((2, 0), (5, 1), dtype=torch.int32).dtype, torch.empty_strided((2, 3), (0, 1)).stride()))
attempt("empty_strided", lambda: torch.empty_strided((2, 3), (4, 1), requires_grad=True).requires_grad)
attempt("empty_strided", lambda: torch.empty_strided((2, 3), (5,)))
refused("steps backwards", lambda: torch.empty_strided((2, 3), (-5, 1)))
for function in (torch.exp, torch.sin, torch.sum, torch.mean, torch.abs, torch.relu, F.relu, torch.max):
    attempt("a number", lambda: function(1.5))
attempt("a list", lambda: torch.sin([1.0]))
attempt("two numbers", lambda: torch.add(1.0, 2))
refused("edge", lambda: F.pad(torch.ones(1, 1, 3), (1, 1), mode="edge"))
attempt("edge", lambda: F.pad(torch.ones(1, 1, 3), (1, 1), mode="edge"))
for kind in (float, int, bool, complex, list, "float"):
    attempt("type", lambda: torch.tensor([1.0, 0.0]).type(kind))
attempt("type", lambda: torch.tensor([1.0, 0.0]).type("torch.IntTensor"))
m = torch.zeros(5, 10)
refused("copy_ of fewer", lambda: m[3].copy_(m[4][:7]))

# Connectionist temporal classification: one text, texts in one row, no text, no time, and lengths that are too large.
for reduction in ("none", "mean", "sum"):
    show("one text", [F.ctc_loss(scores[:, 0], torch.tensor([1, 2]), torch.tensor(4), torch.tensor(2), reduction=reduction), F.ctc_loss(scores[:, 0], torch.tensor([1, 2]), (4,), (2,), reduction=reduction)])
    show("no text", F.ctc_loss(scores, torch.tensor([[1, 2], [1, 1]]), torch.tensor([4, 4]), torch.tensor([0, 2]), reduction=reduction))
show("no time", F.ctc_loss(scores, torch.tensor([[1, 2], [1, 1]]), torch.tensor([0, 4]), torch.tensor([1, 2]), reduction="none"))
show("neither", F.ctc_loss(scores, torch.tensor([[1, 2], [1, 1]]), torch.tensor([0, 4]), torch.tensor([0, 2]), reduction="none"))
show("too long", F.ctc_loss(scores, torch.tensor([[1, 2, 1], [1, 1, 1]]), torch.tensor([2, 4]), torch.tensor([3, 3]), reduction="none", zero_infinity=True))
for inputs, targets in (([5, 4], [2, 2]), ([4, 4], [3, 2]), ([4, 4], [-1, 2]), ([-4, 4], [1, 2])):
    attempt("lengths", lambda: F.ctc_loss(scores, torch.tensor([[1, 2], [1, 1]]), torch.tensor(inputs), torch.tensor(targets)))
attempt("lengths", lambda: F.ctc_loss(scores, torch.tensor([1, 2, 1]), torch.tensor([4, 3]), torch.tensor([2, 2])))

# Bags of vectors.
bag, table = torch.tensor([0, 3, 1, 1, 2]), values(4, 3)
for mode in ("sum", "mean", "max"):
    graded(mode, lambda w: F.embedding_bag(bag, w, torch.tensor([0, 2, 2]), mode=mode), table)
    graded(mode + " to the last", lambda w: F.embedding_bag(bag, w, torch.tensor([0, 2, 4]), mode=mode, include_last_offset=True), table)
    graded(mode + " of rows", lambda w: F.embedding_bag(bag[:4].reshape(2, 2), w, mode=mode, padding_idx=1), table)
    graded(mode + " without some", lambda w: F.embedding_bag(bag, w, torch.tensor([0, 3]), mode=mode, padding_idx=-3), table)
graded("weighed", lambda w, s: F.embedding_bag(bag, w, torch.tensor([0, 2, 2]), mode="sum", per_sample_weights=s), table, values(5))
graded("by frequency", lambda w: F.embedding_bag(bag, w, torch.tensor([0, 2]), mode="sum", scale_grad_by_freq=True), table)
refused("an offset beyond", lambda: F.embedding_bag(bag, table, torch.tensor([0, 6])))
refused("a first offset", lambda: F.embedding_bag(bag, table, torch.tensor([1, 2])))

for function in (torch.tril_indices, torch.triu_indices):
    show("triangles", [function(rows, columns, offset) for rows, columns, offset in [(3, 3, 0), (3, 3, 1), (2, 4, -1), (4, 2, 1), (0, 3, 0), (3, 0, 0), (3, 3, -5), (3, 3, 5), (5, 2, -2)]])

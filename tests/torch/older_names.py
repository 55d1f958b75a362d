"""Functions of torch that others stand for today, or that layers are made of, and settings that programs make."""

import warnings

warnings.simplefilter("ignore")

print("# range")
show("range", [torch.range(1, 4), torch.range(0, 1, 0.3), torch.range(5, 1, -2), torch.range(1, 2, 0.25, dtype=torch.float64)])
attempt("no step", lambda: torch.range(1, 4, 0))
attempt("wrong way", lambda: torch.range(1, 4, -1))

print("# steps of recurrent layers")
x, h, c = values(2, 3), values(2, 4, seed=2), values(2, 4, seed=3)
for name, rows in (("rnn_tanh_cell", 4), ("rnn_relu_cell", 4), ("gru_cell", 12)):
    weights = [values(rows, 3, seed=4), values(rows, 4, seed=5), values(rows, seed=6), values(rows, seed=7)]
    graded(name, getattr(torch, name), x, h, *weights)
    show("without biases", getattr(torch, name)(x, h, *weights[:2]))
weights = [values(16, 3, seed=4), values(16, 4, seed=5), values(16, seed=6), values(16, seed=7)]
graded("lstm_cell", lambda x, h, c, *w: torch.lstm_cell(x, (h, c), *w), x, h, c, *weights)
refused("one state", lambda: torch.lstm_cell(x, h, *weights))
show("without biases", torch.lstm_cell(x, [h, c], *weights[:2]))

print("# norms")
m = values(2, 3, 4)
graded("frobenius_norm", lambda m: torch.frobenius_norm(m, (1, 2)), m)
show("frobenius_norm", [torch.frobenius_norm(m, ()), torch.frobenius_norm(m[0], (0, 1), True), torch.frobenius_norm(m, -1)])
show("nuclear_norm", [torch.nuclear_norm(m[0]), torch.nuclear_norm(m, (0, 2), True), torch.nuclear_norm(m[0], True)])
for dim in (0, 1, 2, -1):
    graded(f"norm_except_dim {dim}", lambda m: torch.norm_except_dim(m, 2, dim), m)
show("norm_except_dim 1", torch.norm_except_dim(m, 1, 1))

print("# parts and places")
show("split_with_sizes", [torch.split_with_sizes(m, [1, 2], 1), torch.unsafe_split(m, 2, -1), torch.unsafe_chunk(m, 2, 2), torch.unsafe_split_with_sizes(m, [1, 1])])
refused("sizes", lambda: torch.split_with_sizes(m, [1, 1], 1))
show("constant_pad_nd", [torch.constant_pad_nd(m[0], (1, 0)), torch.constant_pad_nd(m[0], (0, 1, 2, 0), 7)])
graded("conv_tbc", lambda x, w, b: torch.conv_tbc(x, w, b, 1), values(5, 2, 3), values(3, 3, 4, seed=2), values(4, seed=3))
show("conv_tbc", torch.conv_tbc(values(5, 2, 3), values(3, 3, 4, seed=2), values(4, seed=3)))
mask = torch.tensor([[1, 0, 3], [0, 2, 5]])
show("nonzero_static", [torch.nonzero_static(mask, size=size) for size in (0, 2, 4, 6)])
show("nonzero_static", [torch.nonzero_static(mask.bool()[0], size=4, fill_value=9), torch.nonzero_static(torch.tensor(2.0), size=2), torch.nonzero_static(torch.zeros(0, 3), size=2)])
attempt("nonzero_static", lambda: torch.nonzero_static(mask, size=-1))
show("fill", [torch.fill(m[0], 3), torch.fill(mask, 2)])
w = values(3).requires_grad_()
print(torch.detach(w).requires_grad, torch.is_neg(w), torch.is_signed(w), torch.is_signed(mask.byte()), torch.is_same_size(m, m + 1), torch.is_same_size(m, mask), torch.get_device(m))
show("resolve_neg", torch.resolve_neg(m[0]))

print("# binomial")
torch.manual_seed(0)
counts = torch.tensor([[0.0, 5.0, 40.0]]).expand(4000, 3)
drawn = torch.binomial(counts, torch.tensor([0.5, 0.2, 0.9]).expand(4000, 3))
print(drawn.shape, drawn.dtype, bool((drawn <= counts).all()), bool((drawn == drawn.round()).all()), drawn[:, 0].sum().item())
print([abs(drawn[:, at].mean().item() - mean) < 0.1 for at, mean in ((1, 1.0), (2, 36.0))], [abs(drawn[:, at].var().item() - var) < 0.4 for at, var in ((1, 0.8), (2, 3.6))])
refused("whole counts", lambda: torch.binomial(torch.tensor([3]), torch.tensor([0.5])))
refused("other dtype", lambda: torch.binomial(torch.tensor([3.0]), torch.tensor([0.5], dtype=torch.float64)))

print("# grids")
image, grid, volume = values(1, 2, 4, 5), values(1, 3, 3, 2, seed=2) * 1.3, values(1, 2, 3, 4, 5)
for mode in (0, 1, 2):
    for padding in (0, 1, 2):
        show(f"grid_sampler {mode} {padding}", torch.grid_sampler(image, grid, mode, padding, padding == 1))
show("grid_sampler_2d", torch.grid_sampler_2d(image, grid, 0, 0, False))
show("grid_sampler_3d", torch.grid_sampler_3d(volume, values(1, 2, 2, 2, 3), 0, 0, True))
show("affine_grid_generator", torch.affine_grid_generator(values(1, 2, 3), (1, 2, 3, 4), True))

print("# factors")
torch.manual_seed(0)
low = values(7, 2) @ values(2, 5, seed=2)
for matrix, less in ((low, None), (low.T, None), (torch.stack([low, low * 2]), None), (low + 1, torch.ones(7, 5, dtype=torch.float64)), (low.T + 1, torch.ones(1, 7, dtype=torch.float64))):
    U, S, V = torch.svd_lowrank(matrix, q=3, M=less)
    print(list(U.shape), list(S.shape), list(V.shape))
    show("S", S[..., :2])
    show("product", U @ torch.diag_embed(S) @ V.mH)
    show("orthonormal", [U.mH @ U, V.mH @ V])
U, S, V = torch.pca_lowrank(low + 3, q=2)
show("pca", [S, (U * S) @ V.T])
print([list(it.shape) for it in torch.pca_lowrank(low.float())], [list(it.shape) for it in torch.svd_lowrank(values(8, 9))])
show("not centred", torch.pca_lowrank(low, 2, center=False)[1])
attempt("q", lambda: torch.pca_lowrank(low, 6))
attempt("niter", lambda: torch.pca_lowrank(low, 2, niter=-1))
factors, tau = torch.geqrf(values(4, 3))
for left, other in ((True, values(4, 2, seed=3)), (False, values(2, 4, seed=3))):
    for transpose in (False, True):
        graded(f"ormqr {left} {transpose}", lambda a, t, b: torch.ormqr(a, t, b, left, transpose), factors, tau, other)
z = torch.complex(values(3, 3), values(3, 3, seed=2))
factors, tau = torch.geqrf(z)
show("complex", [torch.view_as_real(torch.ormqr(factors, tau, z.mH.contiguous(), left, transpose)) for left in (True, False) for transpose in (False, True)])
refused("ormqr", lambda: torch.ormqr(factors, tau, values(4, 2)))

print("# histogramdd")
points, amounts = values(20, 2), values(20, seed=2).abs()
for bins, options in (([3, 2], {}), (4, {"weight": amounts}), ([2, 3], {"range": [-1.0, 1.0, 0.0, 0.5], "density": True}), ([torch.tensor([-1.0, 0.0, 0.5, 1.0], dtype=torch.float64), torch.tensor([-0.5, 0.5], dtype=torch.float64)], {"weight": amounts, "density": True})):
    hist, edges = torch.histogramdd(points, bins, **options)
    show("hist", hist)
    show("edges", edges)
print(torch.histogramdd(torch.tensor([[0.0, 1.0], [1.0, 0.0], [2.0, 0.0], [2.0, 2.0]]), bins=[3, 3]))
refused("bins", lambda: torch.histogramdd(points, [3]))
refused("whole numbers", lambda: torch.histogramdd(points.long(), 3))
refused("range", lambda: torch.histogramdd(points, 3, range=[0.0, 1.0]))

print("# settings")
print(torch.get_float32_matmul_precision(), torch.backends.cuda.matmul.allow_tf32)
for precision in ("high", "medium", "highest", "other"):
    torch.set_float32_matmul_precision(precision)
    print(torch.get_float32_matmul_precision(), torch.backends.cuda.matmul.allow_tf32)
print(torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled(), torch.get_deterministic_debug_mode())
torch.use_deterministic_algorithms(True)
print(torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled(), torch.get_deterministic_debug_mode())
torch.use_deterministic_algorithms(True, warn_only=True)
print(torch.are_deterministic_algorithms_enabled(), torch.is_deterministic_algorithms_warn_only_enabled(), torch.get_deterministic_debug_mode())
for mode in ("error", 1, "default", 2, 0):
    torch.set_deterministic_debug_mode(mode)
    print(torch.are_deterministic_algorithms_enabled(), torch.get_deterministic_debug_mode())
attempt("mode", lambda: torch.set_deterministic_debug_mode("often"))
attempt("mode", lambda: torch.set_deterministic_debug_mode(3))
attempt("mode", lambda: torch.set_deterministic_debug_mode(None))
print(torch.clear_autocast_cache(), isinstance(torch.seed(), int))
for it in (3, "a", None, torch.zeros(2), torch.zeros(2).long(), nn.Linear, nn.Linear(1, 1), nn.Parameter(torch.zeros(2))):
    print(torch.typename(it))

print(torch.newaxis, torch.ones(3)[:, torch.newaxis].shape)

print("# branches and loops")
print(torch.cond(torch.tensor(True), lambda a: a + 1, lambda a: a - 1, (torch.ones(2),)), torch.cond(False, lambda: torch.zeros(1), lambda: torch.ones(1)))
graded("cond", lambda a: torch.cond(a.sum() > 0, lambda a: a * 2, lambda a: a * 3, (a,)), values(3))
print(torch.while_loop(lambda i, a: i < 4, lambda i, a: (i + 1, a * 2), (torch.tensor(0), torch.ones(2))))
refused("no function", lambda: torch.cond(True, 3, 4))
refused("several", lambda: torch.cond(torch.tensor([True, False]), lambda: 1, lambda: 2))

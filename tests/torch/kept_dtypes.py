"""Which dtypes come out under autocast: of products with vectors, linear algebra, transforms and recurrent layers; and dtypes of truths."""

a = torch.eye(3) * 2 + 0.1
v, h = torch.ones(3), a.bfloat16()
L = torch.linalg
functions = {
    "mv": lambda: torch.mv(a, v),
    "dot": lambda: torch.dot(v, v),
    "vdot": lambda: torch.vdot(v, v),
    "inner": lambda: torch.inner(v, v),
    "mv of halves": lambda: torch.mv(h, v.bfloat16()),
    "matmul": lambda: a @ a,
    "addmv": lambda: torch.addmv(v, a, v),
    "outer": lambda: torch.outer(v, v),
    "inv": lambda: L.inv(h),
    "inverse": lambda: torch.inverse(h),
    "det": lambda: L.det(a),
    "solve": lambda: L.solve(h, v.bfloat16()),
    "cholesky": lambda: L.cholesky(h),
    "qr": lambda: L.qr(h),
    "svd": lambda: L.svd(h),
    "svdvals": lambda: L.svdvals(h),
    "eigh": lambda: L.eigh(h),
    "eigvalsh": lambda: L.eigvalsh(h),
    "eig": lambda: L.eig(h),
    "eigvals": lambda: L.eigvals(h),
    "matrix_rank": lambda: L.matrix_rank(h),
    "cond": lambda: L.cond(h),
    "cholesky_inverse": lambda: torch.cholesky_inverse(h),
    "cholesky_solve": lambda: torch.cholesky_solve(h, h),
    "torch.svd": lambda: torch.svd(h),
    "norm": lambda: L.norm(h),
    "fft": lambda: torch.fft.fft(v.bfloat16()),
    "rfft": lambda: torch.fft.rfft(v.bfloat16()),
    "irfft": lambda: torch.fft.irfft(v.bfloat16()),
    "fft2": lambda: torch.fft.fft2(h),
    "hfft": lambda: torch.fft.hfft(v.bfloat16()),
    "stft": lambda: torch.stft(torch.ones(16).bfloat16(), 4, return_complex=True),
    "view_as_complex": lambda: torch.view_as_complex(h[:, :2].contiguous()),
    "grid_sample": lambda: F.grid_sample(h[None, None], torch.zeros(1, 2, 2, 2), align_corners=False),
    "index_copy": lambda: torch.index_copy(a, 0, torch.tensor([0]), h[:1]),
    "max_unpool2d": lambda: F.max_unpool2d(h[None], torch.arange(9).reshape(1, 3, 3), 1),
}


def dtypes(value):
    return [dtypes(item) for item in value] if isinstance(value, (tuple, list)) else value.dtype


for name, function in functions.items():
    with torch.autocast("cpu", dtype=torch.bfloat16):
        print(name, dtypes(function()))
for name in ("det", "inv", "lu", "solve_triangular"):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        print(name, dtypes(getattr(L, name)(a, *[a] * (name == "solve_triangular"), **{"upper": True} if name == "solve_triangular" else {})))
for layer in (nn.RNN(3, 4), nn.GRU(3, 4), nn.LSTM(3, 4), nn.LSTM(3, 4, num_layers=2, bidirectional=True, batch_first=True)):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        output = layer(a[:, None])
    output[0].float().sum().backward()
    print(type(layer).__name__, dtypes(output), layer.weight_ih_l0.grad.dtype)
state = torch.zeros(1, 1, 4)
with torch.autocast("cpu", dtype=torch.bfloat16):
    print(dtypes(nn.LSTM(3, 4)(a[:, None], (state, state))), dtypes(nn.GRU(3, 4)(a[:, None], state)))
    print(nn.LSTM(3, 4)(nn.utils.rnn.pack_sequence([a, a[:1]]))[0].data.dtype, dtypes(nn.LSTM(3, 4).double()(a[:, None].double())))

# Truths about bytes are bytes.
bytes = torch.tensor([[1, 0], [2, 3]], dtype=torch.uint8)
attempt("any", lambda: (bytes.any(), bytes.any(0), torch.any(bytes, 1, keepdim=True)))
attempt("all", lambda: (bytes.all(), bytes.all(dim=1), bytes.all(dim=(0, 1)), bytes[:, :0].all(1)))
for dtype in (torch.bool, torch.int8, torch.int64, torch.float16, torch.complex64):
    print(dtype, bytes.to(dtype).any().dtype, bytes.to(dtype).all(0))

# What a mask takes in place.
mask, other = torch.tensor([True, False, True, False]), torch.tensor([True, True, False, False])


def changed(by):
    it = mask.clone()
    by(it)
    return it


attempt("or", lambda: changed(lambda it: it.add_(other)))
attempt("and", lambda: changed(lambda it: it.mul_(other)))
attempt("add True", lambda: changed(lambda it: it.add_(True)))
attempt("bits", lambda: changed(lambda it: it.logical_xor_(other)))
for value in (torch.tensor([1, 0, 2, 0]), torch.tensor([1, 0, 2, 0], dtype=torch.uint8), torch.ones(4), torch.tensor(2), 2, 2.0):
    for name in ("add_", "mul_", "sub_", "div_", "bitwise_or_", "bitwise_and_"):
        refused(f"{name} {value!r}", lambda: changed(lambda it: getattr(it, name)(value)))
refused("sub_", lambda: changed(lambda it: it.sub_(other)))
refused("a product", lambda: mask.reshape(2, 2) @ mask.reshape(2, 2))
refused("a dot product", lambda: torch.dot(mask, other))
refused("a complex value", lambda: torch.ones(2).masked_fill(torch.tensor([True, False]), 1j))
attempt("into complex numbers", lambda: torch.tensor([1 + 1j, 2]).masked_fill(torch.tensor([True, False]), 3j))

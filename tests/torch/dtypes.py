# Narrow integers and halves: what they hold, how they combine, and what comes of arithmetic, sums and products in them.
HALVES = [torch.float16, torch.bfloat16]

for dtype in [torch.int8, torch.int16, torch.uint16, torch.float16, torch.bfloat16]:
    x = torch.tensor([0, 1, 2, 100], dtype=dtype)
    print(x, x.dtype, x.element_size(), x.type(), x.tolist(), x[1].item(), x.sum().dtype)
    print(dtype.is_floating_point, dtype.itemsize, dtype.is_signed, x.is_floating_point(), x.numel(), torch.zeros(2, dtype=dtype))

print(torch.tensor([1.5, -2.25], dtype=torch.half), torch.tensor([1.5, -2.25]).bfloat16(), torch.tensor([1, 2]).half())
print(torch.tensor([300, -200, 70000]).char(), torch.tensor([70000, -3]).short(), torch.tensor([3.9, -3.9]).to(torch.int8))
print(torch.tensor(0.1, dtype=torch.float16).item(), torch.tensor(0.1, dtype=torch.bfloat16).item())
print(torch.tensor([65504.0, 65519.0, 65520.0, -70000.0]).half(), torch.tensor([3.4e38, 1e-40]).bfloat16())
print(torch.tensor([1e-8, 6e-8, 1e-7, 6.1e-5]).half(), torch.tensor([float("nan"), float("inf"), -0.0]).half())
print(torch.tensor([1 / 3, 1000.5, 1e-3], dtype=torch.float16), torch.tensor([1 / 3, 1000.5, 1e-3], dtype=torch.bfloat16))
print(torch.HalfTensor([1, 2]), torch.CharTensor([1, 2]), torch.ShortTensor([1, 2]), torch.BFloat16Tensor([1, 2]))
for dtype in HALVES:
    it = torch.finfo(dtype)
    print(it.bits, it.eps, it.max, it.min, it.tiny, it.smallest_normal, it.resolution, it.dtype)
for dtype in [torch.int8, torch.int16, torch.uint8, torch.uint16]:
    it = torch.iinfo(dtype)
    print(it.bits, it.max, it.min, it.dtype)

# Which dtype two have in common.
ALL = [torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16, torch.bfloat16, torch.float32, torch.float64]
for a in ALL:
    print(str(a), [str(torch.promote_types(a, b))[6:] for b in ALL])
    print([str((torch.ones(1, dtype=a) + torch.ones((), dtype=b)).dtype)[6:] for b in ALL])
    print(str((torch.ones(1, dtype=a) * 2).dtype), str((torch.ones(1, dtype=a) * 2.5).dtype), str(torch.result_type(torch.ones((), dtype=a), 1.5)))

def each(*values):
    """Every value on lines of its own."""
    for value in values:
        print(value)


# Integers wrap; halves are computed in float32 and rounded once.
a, b = torch.tensor([100, -100, 127, 5], dtype=torch.int8), torch.tensor([100, -100, 1, -3], dtype=torch.int8)
each(a + b, a - b, a * b, a // b, a % b, a / b, a**2, -a, a.abs(), ~a, a & b, a | b, a ^ b, a << 1, a >> 1)
each(a > b, a == b, a.clamp(-50, 50), torch.maximum(a, b), a.float() / 3, a * 1.5, a + 1000, a.sign(), a.sqrt())
s = torch.tensor([30000, -30000, 3], dtype=torch.int16)
each(s + s, s * 2, s * s, s // 7, s.sum(), s.prod(), s.cumsum(0), s.max(), s.argmin(), s.sort(), s.unique())
def image_of(m):
    return torch.stack([m.T, m.T + 1])


for dtype in HALVES:
    x = torch.tensor([0.1, 0.2, 0.3, 1000.0, -7.5], dtype=dtype)
    y = torch.tensor([3.0, -0.7, 0.001, 0.01, 2.0], dtype=dtype)
    each(x + y, x - y, x * y, x / y, x // y, x % y, x**2, -x, x.abs())
    each(x + 1, x * 0.1, 1 / y, 2 - x, x > y, x == x, torch.maximum(x, y), torch.where(x > y, x, y), x.clamp(-1, 1))
    each(x.exp(), y.sin(), x.tanh(), x.sigmoid(), y.abs().sqrt(), y.abs().log(), x.relu(), F.gelu(x), F.silu(x), x.floor(), x.round())
    each(x.sum(), x.mean(), x.max(), x.argmax(), x.cumsum(0), x.norm(), x.var(), x.std(), x.sort().values, x.topk(2).values)
    each(x.sum(dtype=torch.float32), x.mean(dtype=torch.float64), x.isnan(), x.isfinite(), x.logsumexp(0), x.softmax(0), x.log_softmax(0))
    m = torch.arange(12, dtype=dtype).reshape(3, 4) / 7
    n = torch.arange(8, dtype=dtype).reshape(4, 2) / 3 - 1
    each(m @ n, m.T, m[1], m[:, 2:], m @ n[:, 0], m.reshape(2, 6), torch.cat([m, m]), torch.stack([m[0], m[1]]), m.sum(0), m.mean(1))
    each(F.linear(m, n.T, n[:2, 0]), torch.addmm(torch.ones(3, 2, dtype=dtype), m, n), F.layer_norm(m, (4,)), F.softmax(m, -1))
    # Parameters of norms may stay in float32.
    ones, zeros = torch.linspace(0.5, 2, 4), torch.linspace(-1, 1, 4)
    each(F.layer_norm(m, (4,), ones, zeros), F.batch_norm(m, zeros, ones, ones, zeros), F.batch_norm(m, zeros.clone(), ones.clone(), ones, zeros, training=True), F.group_norm(m, 2, ones, zeros), F.instance_norm(image_of(m), weight=ones, bias=zeros))
    each(m[torch.tensor([2, 0])], m[m > 0.5], m.gather(1, torch.tensor([[0], [1], [2]])), m.index_select(0, torch.tensor([1])), m.tril())
    image = torch.arange(2 * 5 * 5, dtype=dtype).reshape(1, 2, 5, 5) / 10 - 2
    kernel = torch.arange(3 * 2 * 9, dtype=dtype).reshape(3, 2, 3, 3) / 50 - 0.5
    each(F.conv2d(image, kernel, padding=1)[0, 0], F.max_pool2d(image, 2), F.avg_pool2d(image, 2), F.adaptive_avg_pool2d(image, 1))
    each(F.pad(m, (1, 0)), m.flip(0), m.roll(1, 0), m.repeat(1, 2)[0], m.unsqueeze(0).shape, F.one_hot(torch.tensor([1, 0])).to(dtype))
    each(F.mse_loss(x, y), F.l1_loss(x, y), F.smooth_l1_loss(x, y))
    z = torch.zeros(3, dtype=dtype)
    z[1], z[2] = 0.1, 5
    z += 1
    each(z, z.mul_(3), z.add_(0.5), z.fill_(0.3), torch.full((2,), 0.3, dtype=dtype), torch.arange(3, dtype=dtype), torch.linspace(0, 1, 4, dtype=dtype))
    each(z.to(torch.float32), z.double(), z.long(), z.bool(), z.to(torch.bfloat16), z.half(), z.clone(), z.numpy().dtype if dtype == torch.float16 else "")

# Gradients have the dtype of what they are the gradient of.
for dtype in HALVES:
    x = torch.tensor([[0.5, -1.5, 2.0], [1.0, 0.25, -3.0]], dtype=dtype, requires_grad=True)
    w = torch.tensor([[0.1, 0.2, 0.3], [0.4, -0.5, 0.6]], dtype=dtype, requires_grad=True)
    loss = (F.linear(x, w).relu() ** 2).sum()
    loss.backward()
    each(loss, x.grad, w.grad)
    x.grad = None
    (x.float() * 3).sum().backward()
    each(x.grad, x.grad.dtype)
    layer = nn.Linear(3, 2).to(dtype)
    with torch.no_grad():
        layer.weight.copy_(torch.tensor([[1.0, 2.0, 3.0], [0.1, 0.2, 0.3]]))
        layer.bias.fill_(0.5)
    out = layer(x)
    each(out, layer.weight.dtype, layer.state_dict()["bias"])
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.125, momentum=0.9)
    out.sum().backward()
    optimizer.step()
    each(layer.weight, layer.bias)

model = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 2))
each([str(it.dtype) for it in model.half().parameters()], [str(it.dtype) for it in model.bfloat16().parameters()], next(model.float().parameters()).dtype)

# What does not fit is refused.
def refused(what):
    try:
        print(what())
    except (RuntimeError, TypeError, ValueError, OverflowError) as error:
        print("RuntimeError" if isinstance(error, RuntimeError) else type(error).__name__)


# Products, convolutions and norms do not promote.
one, half, double = torch.ones(2, 2), torch.ones(2, 2).half(), torch.ones(2, 2).double()
image, filters = torch.ones(1, 2, 4, 4), torch.ones(3, 2, 3, 3)
refused(lambda: torch.addmm(half, one, one))
refused(lambda: torch.addmm(one, half, one))
refused(lambda: torch.baddbmm(half[None], one[None], one[None]))
refused(lambda: torch.addmv(one[0], one, half[0]))
refused(lambda: F.conv2d(image.half(), filters))
refused(lambda: F.conv2d(image, filters, torch.ones(3).half()))
refused(lambda: F.conv1d(image[:, :, 0], torch.ones(3, 2, 3).double()))
refused(lambda: F.conv_transpose2d(image, filters.transpose(0, 1).bfloat16()))
refused(lambda: F.layer_norm(one, (2,), half[0]))
refused(lambda: F.layer_norm(half, (2,), double[0]))
refused(lambda: F.batch_norm(one, one[0], one[0], half[0]))


# A number is compared as the nearest half; uint8 picks as bools do.
for dtype in HALVES:
    x = torch.tensor([0.1, 2049.0, 3.0], dtype=dtype)
    each(x == 0.1, x >= 0.1, x != 0.1, 0.1 == x, x == 2049, x > 2.999, x.eq(torch.tensor(0.1)), x[(x > 1).byte()])
    print(torch.finfo(dtype))
print(torch.arange(5.0)[torch.tensor([1, 0, 0, 1, 0], dtype=torch.uint8)])
refused(lambda: torch.ones(3, dtype=torch.int64, requires_grad=True))
refused(lambda: nn.Linear(2, 2).to(torch.int8))

u, i8 = torch.tensor([1, 2, 250], dtype=torch.uint8), torch.tensor([1, -2, 100], dtype=torch.int8)
mask = torch.tensor([True, False, True])
for x, number in [(u, 300), (u, -1), (u, -300), (i8, 128), (i8, -129), (i8, 100)]:
    refused(lambda: x.masked_fill(mask, number))
    refused(lambda: torch.where(mask, x, number))
    refused(lambda: x.index_fill(0, torch.tensor([0]), number))
    refused(lambda: x.clone().fill_(number))
    refused(lambda: torch.full_like(x, number))
    refused(lambda: x.new_full((2,), number))
    refused(lambda: torch.tensor([number], dtype=x.dtype))
    refused(lambda: x.scatter(0, torch.tensor([0]), number))
    refused(lambda: x.clamp(max=number))
    refused(lambda: x.clamp(min=number))
    refused(lambda: torch.tensor(number).to(x.dtype))
    refused(lambda: x + number)

    def written(place):
        copy = x.clone()
        copy[place] = number
        return copy

    refused(lambda: written(0))
    refused(lambda: written(mask))
    refused(lambda: written(slice(1, None)))
h = torch.tensor([1.0, 2.0], dtype=torch.float16)
refused(lambda: h.masked_fill(torch.tensor([True, False]), -1e9))
refused(lambda: h.masked_fill(torch.tensor([True, False]), float("-inf")))
refused(lambda: torch.full((2,), 1e9, dtype=torch.float16))
refused(lambda: h.bfloat16().masked_fill(torch.tensor([True, False]), -1e9))
refused(lambda: h.bfloat16().numpy())
refused(lambda: F.linear(torch.ones(1, 2), torch.ones(1, 2, dtype=torch.float16)))
refused(lambda: torch.ones(2, 2, dtype=torch.bfloat16) @ torch.ones(2, 2))

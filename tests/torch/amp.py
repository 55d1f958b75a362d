"""torch.amp on the CPU: which ops autocast lowers, which it lifts, and scaled losses."""

import warnings

x, w, b = values(3, 4, seed=1).float(), values(5, 4, seed=2).float(), values(5, seed=3).float()
image, kernel = values(1, 2, 6, 6, seed=4).float(), values(3, 2, 3, 3, seed=5).float()
target, classes = values(3, 5, seed=6).float(), torch.tensor([1, 0, 4])
CALLS = {
    "matmul": lambda: x @ w.T, "mm": lambda: torch.mm(x, w.T), "linear": lambda: F.linear(x, w, b), "bmm": lambda: torch.bmm(x[None], w.T[None]),
    "addmm": lambda: torch.addmm(b, x, w.T), "baddbmm": lambda: torch.baddbmm(b, x[None], w.T[None]), "conv2d": lambda: F.conv2d(image, kernel),
    "conv1d": lambda: F.conv1d(image[:, :, 0], kernel[..., 0]), "conv_transpose2d": lambda: F.conv_transpose2d(image, kernel.transpose(0, 1)),
    "attention": lambda: F.scaled_dot_product_attention(x[None], x[None], x[None]), "add": lambda: x + 1, "relu": lambda: x.relu(), "exp": lambda: x.exp(),
    "softmax": lambda: F.softmax(x, -1), "layer_norm": lambda: F.layer_norm(x, (4,)), "sum": lambda: x.sum(), "cat": lambda: torch.cat([x, x.bfloat16()]),
    "prod": lambda: x.bfloat16().prod(), "mse_loss": lambda: F.mse_loss(x.bfloat16(), x * 2), "cross_entropy": lambda: F.cross_entropy(F.linear(x, w, b), classes),
    "nll_loss": lambda: F.nll_loss(F.linear(x, w).log_softmax(-1), classes), "l1_loss": lambda: F.l1_loss(x.bfloat16(), x), "huber_loss": lambda: F.huber_loss(x.bfloat16(), x),
    "smooth_l1_loss": lambda: F.smooth_l1_loss(x.bfloat16(), x), "kl_div": lambda: F.kl_div(x.bfloat16(), x.abs(), reduction="batchmean"),
    "bce_with_logits": lambda: F.binary_cross_entropy_with_logits(x.bfloat16(), x.sigmoid()), "bce": lambda: F.binary_cross_entropy(x.bfloat16().sigmoid(), x.sigmoid()),
    "cdist": lambda: torch.cdist(x.bfloat16(), w.bfloat16()), "double": lambda: x.double() @ w.T.double(), "ints": lambda: torch.ones(2, 2).long() @ torch.ones(2, 2).long(),
    "half operand": lambda: F.linear(x.bfloat16(), w, b), "mean": lambda: x.bfloat16().mean(), "mul": lambda: x.bfloat16() * x,
}
for dtype in (torch.bfloat16, torch.float16):
    with torch.autocast("cpu", dtype=dtype):
        print(torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu"))
        for name, call in CALLS.items():
            print(dtype, name, call().dtype)
        with torch.autocast("cpu", enabled=False):
            print(torch.is_autocast_enabled("cpu"), (x @ w.T).dtype)
        print((x @ w.T).dtype)
    print(torch.is_autocast_enabled("cpu"), (x @ w.T).dtype)


@torch.autocast("cpu")
def lowered(x):
    return x @ w.T


print(lowered(x), lowered(x).dtype)
try:
    with torch.autocast("cpu"):
        raise KeyError("out")
except KeyError:
    print(torch.is_autocast_enabled("cpu"))

# A model whose parameters stay float32: products are in bfloat16, gradients arrive in float32.
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 5))
with torch.no_grad():
    for at, parameter in enumerate(model.parameters()):
        parameter.copy_(values(*parameter.shape, seed=10 + at) / 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
for step in range(3):
    optimizer.zero_grad()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        scores = model(x)
        loss = F.cross_entropy(scores, classes)
    loss.backward()
    optimizer.step()
    print(scores.dtype, loss.dtype, [str(it.grad.dtype) for it in model.parameters()], f"{loss.item():.2f}")

# Norms leave what comes from a product in its dtype.
norm = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4), torch.nn.LayerNorm(4))
with torch.autocast("cpu"):
    y = norm(torch.ones(2, 3) * torch.tensor([[1.0], [3.0]]))
y.float().sum().backward()
print(y.dtype, [str(it.grad.dtype) for it in norm.parameters()], norm[1].running_mean.dtype)

# Scaled losses: a step that overflows is left out and the scale halved.
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0, growth_interval=2)
weight = torch.tensor([2.0, -1.0], requires_grad=True)
optimizer = torch.optim.SGD([weight], lr=0.25)
for factor in (1.0, float("inf"), 2.0, 3.0, float("nan"), 0.5):
    optimizer.zero_grad()
    loss = (weight * torch.tensor([1.0, 0.5])).sum() * factor
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    print(weight.grad, end=" ")
    scaler.step(optimizer)
    scaler.update()
    print(weight.data, scaler.get_scale())
print(scaler.is_enabled(), scaler.state_dict())

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    with torch.autocast("cpu", dtype=torch.float32):
        print((x @ w.T).dtype)
    print(len(caught))

# Before a loss is scaled there is no scale; and what else is called at a wrong time.
def told(name, call):
    try:
        print(name, call())
    except (AssertionError, RuntimeError, ValueError) as error:
        print(name, type(error).__name__, *str(error).split()[:6])


def optimizer_of(*grads):
    parameters = [nn.Parameter(torch.ones(2)) for _ in range(2)]
    for parameter, grad in zip(parameters, grads):
        parameter.grad = torch.full((2,), grad)
    return torch.optim.SGD(parameters, lr=0.5)


def begun(**options):
    scaler = torch.amp.GradScaler("cpu", init_scale=4.0, **options)
    print(scaler.scale(torch.ones(2)))
    return scaler


def calls(scaler, optimizer, *names):
    for name in names[:-1]:
        getattr(scaler, name)(optimizer)
    return getattr(scaler, names[-1])(optimizer)


for name, arguments in (("step", [optimizer_of(1.0)]), ("unscale_", [optimizer_of(1.0)]), ("update", [])):
    fresh = torch.amp.GradScaler("cpu", init_scale=4.0)
    told(f"{name} before scale", lambda: getattr(fresh, name)(*arguments))
    told(f"{name} of one that is switched off", lambda: getattr(begun(enabled=False), name)(*arguments))
told("update of a number before scale", lambda: torch.amp.GradScaler("cpu").update(2.0))
fresh = torch.amp.GradScaler("cpu")
fresh.load_state_dict(torch.amp.GradScaler("cpu", init_scale=8.0, growth_interval=1).state_dict())
told("a loaded scale", lambda: (fresh.get_scale(), fresh.state_dict()))
told("step with a loaded scale before scale", lambda: fresh.step(optimizer_of(1.0)))
told("scale with a loaded scale", lambda: fresh.scale([torch.ones(1), (torch.ones(2),)]))
told("load again", lambda: fresh.load_state_dict(torch.amp.GradScaler("cpu", init_scale=16.0).state_dict()) or fresh.get_scale())
told("step without gradients", lambda: calls(begun(), optimizer_of(), "step"))
scaler, optimizer = begun(), optimizer_of()
scaler.unscale_(optimizer)
told("update without gradients", scaler.update)
told("update of a number without gradients", lambda: scaler.update(2.0) or scaler.get_scale())
told("step twice", lambda: calls(begun(), optimizer_of(1.0), "step", "step"))
told("unscale_ twice", lambda: calls(begun(), optimizer_of(1.0), "unscale_", "unscale_"))
told("unscale_ after step", lambda: calls(begun(), optimizer_of(1.0), "step", "unscale_"))
told("step with a closure", lambda: begun().step(optimizer_of(1.0), closure=lambda: torch.ones(1)))
told("scale of a number", lambda: begun().scale(2.0))
told("update at once", lambda: begun().update())
# Of several optimisers one is without gradients, and one overflows.
scaler, optimizers = begun(), [optimizer_of(4.0), optimizer_of(4.0, float("inf")), optimizer_of()]
for optimizer in optimizers:
    told("step", lambda: scaler.step(optimizer))
scaler.update()
print(scaler.get_scale(), [it.param_groups[0]["params"][0].data for it in optimizers])

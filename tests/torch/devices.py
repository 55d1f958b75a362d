"""Devices: tensors of `meta` have shapes and dtypes and no elements; what is made where; what cannot go from one to another."""


import numpy


def said(name, function):
    """What a call gives, or the error that it ends with."""
    try:
        print(name, repr(function()))
    except Exception as error:
        print(name, "!", type(error).__name__, str(error).split("\n")[0])


x = torch.zeros(3, device="meta")
c = torch.ones(3)
number = torch.tensor(2.0)

print("# text")
for made in [
    x,
    torch.zeros(3, dtype=torch.int64, device="meta"),
    torch.zeros((), dtype=torch.float64, device="meta"),
    torch.zeros(0, 2, device="meta"),
    torch.zeros(2, 3, dtype=torch.bool, device=torch.device("meta")),
    torch.zeros(2, requires_grad=True, device="meta"),
    torch.zeros(2, requires_grad=True, device="meta") * 2,
    nn.Parameter(x),
    nn.Linear(2, 3, device="meta").weight,
]:
    print(made)

print("# made there")
said("tensor", lambda: torch.tensor([1, 2], device="meta"))
said("as_tensor", lambda: torch.as_tensor([1.0], device="meta"))
said("as_tensor of a tensor", lambda: torch.as_tensor(c, device="meta"))
said("ones", lambda: torch.ones(2, 3, device="meta"))
said("full", lambda: torch.full((2,), 3.0, device="meta"))
said("empty", lambda: torch.empty(2, device="meta"))
said("arange", lambda: torch.arange(5, device="meta"))
said("linspace", lambda: torch.linspace(0, 1, 3, device="meta"))
said("eye", lambda: torch.eye(2, device="meta"))
said("huge", lambda: torch.empty(10**6, 10**7, device="meta").T.shape)
for name in ["rand", "randn"]:
    said(name, lambda: getattr(torch, name)(2, device="meta"))
said("randint", lambda: torch.randint(0, 5, (2,), device="meta"))
said("randperm", lambda: torch.randperm(4, device="meta"))
for name in ["zeros_like", "ones_like", "empty_like", "rand_like", "randn_like"]:
    said(name, lambda: getattr(torch, name)(x))
    said(name + " there", lambda: getattr(torch, name)(c, device="meta"))
said("zeros_like here", lambda: torch.zeros_like(x, device="cpu"))
said("full_like", lambda: torch.full_like(x, 2))
for name in ["new_zeros", "new_ones", "new_empty"]:
    said(name, lambda: getattr(x, name)(2))
    said(name + " there", lambda: getattr(c, name)((2, 3), device="meta"))
said("new_full", lambda: x.new_full((2,), 1))
said("new_tensor", lambda: c.new_tensor([1.0], device="meta"))

print("# random numbers are not drawn")
torch.manual_seed(3)
torch.rand(100, device="meta")
nn.Linear(30, 30, device="meta")
print(f"{torch.rand(1).item():.6f}")

print("# ops")
said("mul", lambda: x * 2)
said("rmul", lambda: 2 - x)
said("add", lambda: x + x.double())
said("with a single element", lambda: x + number)
said("the other way", lambda: number * x)
said("compare", lambda: x == x)
said("matmul", lambda: torch.ones(2, 3, device="meta") @ torch.ones(3, 4, device="meta"))
said("sum", lambda: x.sum())
said("max", lambda: x.max())
said("argmax", lambda: x.argmax())
said("softmax", lambda: x.softmax(0))
said("cat", lambda: torch.cat([x, x]))
said("stack", lambda: torch.stack([x, x]))
said("where", lambda: torch.where(x > 0, x, x))
said("index", lambda: x[0])
said("slice", lambda: x[1:])
said("pick", lambda: x[torch.tensor([0, 1])])
said("views", lambda: x.expand(2, 3).T.unsqueeze(0))
said("reshape", lambda: torch.ones(2, 6, device="meta").reshape(3, -1).T.reshape(12))
said("view", lambda: torch.ones(2, 6, device="meta").T.is_contiguous())
said("dtype", lambda: x.to(torch.float64))
said("clone", lambda: x.clone())
said("detach", lambda: x.detach())
said("len", lambda: len(x))
said("rows", lambda: [row.shape for row in torch.ones(2, 3, device="meta")])
said("conv", lambda: F.conv2d(torch.ones(1, 3, 8, 8, device="meta"), torch.ones(4, 3, 3, 3, device="meta")).shape)
said("dropout", lambda: F.dropout(x))
said("cross_entropy", lambda: F.cross_entropy(torch.ones(4, 3, device="meta"), torch.zeros(4, dtype=torch.long, device="meta")))
said("layer_norm", lambda: F.layer_norm(torch.ones(2, 3, device="meta"), (3,)))
said("shapes", lambda: torch.ones(2, 3, device="meta").sum(1).shape)

print("# in place")
y = torch.zeros(3, device="meta")
y += 1
y[0] = 1
y[1:] = 2
y.zero_()
y.fill_(3)
y.uniform_()
y.copy_(c)
y.clamp_(0, 1)
print(y)

print("# what has no elements")
said("item", lambda: x.sum().item())
said("bool", lambda: bool(x.sum()))
said("float", lambda: float(x[0]))
said("cpu", lambda: x.cpu())
said("to", lambda: x.to("cpu"))
said("tolist", lambda: x.tolist())
said("numpy", lambda: x.numpy())
said("copy_", lambda: c.copy_(x))

print("# two devices")
said("add", lambda: x + c)
said("add", lambda: c + x)
said("matmul", lambda: c @ x)
said("cat", lambda: torch.cat([x, c]))
said("where", lambda: torch.where(x > 0, x, c))

print("# going there")
said("to", lambda: c.to("meta"))
said("to another", lambda: c.to(x))
said("to and dtype", lambda: c.to("meta", torch.float64))
said("is_meta", lambda: (x.is_meta, c.is_meta, x.is_cuda))
said("device", lambda: (x.device, str(x.device), x.device.type, x.device.index, c.device))

print("# gradients")
w = torch.zeros(3, requires_grad=True, device="meta")
(w * 2 + w.exp()).sum().backward()
print(w.grad)
layer = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(16, 2)).to("meta")
loss = F.cross_entropy(layer(torch.ones(2, 3, 4, 4, device="meta")), torch.zeros(2, dtype=torch.long, device="meta"))
loss.backward()
print([str(parameter.grad.device) + str(list(parameter.grad.shape)) for parameter in layer.parameters()])
optimizer = torch.optim.SGD(layer.parameters(), lr=0.1, momentum=0.9)
optimizer.step()
print(layer[0].weight.device)

print("# modules")
m = nn.Linear(3, 2, device="meta")
said("call", lambda: m(torch.ones(4, 3, device="meta")))
said("call of another", lambda: m(torch.ones(4, 3)))
said("to", lambda: m.to("cpu"))
for made in [
    nn.Conv2d(1, 2, 3, device="meta"),
    nn.BatchNorm1d(3, device="meta"),
    nn.LayerNorm(3, device="meta"),
    nn.GroupNorm(1, 3, device="meta"),
    nn.Embedding(3, 2, device="meta"),
    nn.LSTM(2, 3, device="meta"),
    nn.GRUCell(2, 3, device="meta"),
    nn.PReLU(device="meta"),
    nn.MultiheadAttention(4, 2, device="meta"),
    nn.TransformerEncoderLayer(4, 2, 8, device="meta"),
    nn.Bilinear(2, 2, 2, device="meta"),
]:
    print(type(made).__name__, {str(it.device) for it in made.state_dict().values()})
source = nn.Linear(3, 2)
m.load_state_dict(source.state_dict(), assign=True)
print(m.weight.device, torch.equal(m.weight, source.weight), isinstance(m.weight, nn.Parameter))
m = nn.BatchNorm1d(3, device="meta").to_empty(device="cpu")
print({str(it.device) for it in m.state_dict().values()}, m.num_batches_tracked.dtype)
m = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2)).to("meta")
print({str(it.device) for it in m.state_dict().values()}, m[1].num_batches_tracked.dtype)

print("# where tensors are made")
with torch.device("meta"):
    inside = [nn.Linear(2, 2).weight, torch.zeros(2), torch.tensor([1.0]), torch.rand(2), torch.zeros(2, device="cpu")]
    with torch.device("cpu"):
        inside.append(torch.ones(1))
    inside.append(torch.arange(3))
inside.append(torch.arange(3))
print([str(it.device) for it in inside])
print(torch.get_default_device())
torch.set_default_device("meta")
print(torch.get_default_device(), torch.zeros(2), torch.zeros(2, device="cpu"), torch.from_numpy(c.numpy()))
print(numpy.zeros(2), numpy.arange(3) + 1, numpy.array([1.0]), numpy.linspace(0, 1, 3), numpy.eye(2).sum())
torch.set_default_device(None)
print(torch.get_default_device(), torch.zeros(2).device)

print("# names")
for text in ["cpu", "cpu:0", "cuda", "cuda:1", "meta", "mps"]:
    made = torch.device(text)
    print(repr(made), str(made), made.type, made.index, torch.device(made) == made)
said("index", lambda: torch.device("cuda", 0))
said("equal", lambda: (torch.device("cpu") == torch.device("cpu:0"), torch.device("cuda:0") == torch.device("cuda", 0)))
said("unknown", lambda: torch.device("warp"))
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
print(c.to(device).device, torch.zeros(1, device=device).device, nn.Linear(1, 1).to(device).weight.device)


def is_refused(function):
    try:
        function()
        return False
    except (RuntimeError, AssertionError, NotImplementedError):
        return True


if not torch.cuda.is_available():
    print(is_refused(lambda: c.to("cuda")), is_refused(lambda: torch.zeros(2, device="cuda")), is_refused(lambda: c.cuda()))
    print(is_refused(lambda: nn.Linear(2, 2, device="cuda:0")), is_refused(lambda: torch.Generator(device="meta")))

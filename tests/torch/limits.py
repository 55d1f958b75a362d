"""Distances, windows, repetitions, limits and extremes, with gradients and with the signs of zeros."""

for p in (0, 0.5, 1, 2, 3, math.inf):
    graded(f"cdist {p}", lambda x,y: torch.cdist(x,y,p=p), values(4,3), values(2,3,seed=3))
graded("cdist b", torch.cdist, values(2,4,3), values(2,2,3,seed=3))
graded("cdist bc", torch.cdist, values(4,3), values(2,2,3,seed=3))
graded("cdist same", lambda x: torch.cdist(x,x), values(4,3))
graded("cdist mode", lambda x: torch.cdist(x,x,2.0,'donot_use_mm_for_euclid_dist'), values(4,3))
graded("pdist", lambda x: F.pdist(x), values(4,3))
graded("pairwise", lambda x,y: F.pairwise_distance(x,y), values(4,3), values(4,3,seed=2))
for args in ((0,2,1),(1,3,2),(-1,2,2),(0,4,1)):
    graded(f"unfold {args}", lambda x: x.unfold(*args), values(4,5))
graded("unfold2", lambda x: x.unfold(0,2,1).unfold(1,2,2), values(4,5))
graded("tile", lambda x: x.tile((2,)), values(2,3))
graded("tile", lambda x: torch.tile(x,(2,1,2)), values(2,3))
graded("tile", lambda x: x.tile(2,2), values(2,3))
graded("repeat", lambda x: x.repeat(2,1,2), values(2,3))
graded("repeat0", lambda x: x.repeat(2,0), values(2,3))
graded("repeat", lambda x: x.repeat(()), torch.tensor(3.,dtype=torch.float64))
graded("ri", lambda x: x.repeat_interleave(2, 1), values(2,3))
graded("ri", lambda x: x.repeat_interleave(torch.tensor([1,2]), dim=0), values(2,3))
lo, hi = torch.tensor([-0.5,0.,0.2],dtype=torch.float64), torch.tensor([0.5,0.1,0.1],dtype=torch.float64)
graded("clamp t", lambda x,l,h: x.clamp(l,h), values(2,3), lo, hi)
graded("clamp t", lambda x,l: torch.clamp(x, min=l), values(2,3), lo)
graded("clamp t", lambda x,h: torch.clamp(x, max=h), values(2,3), hi)
graded("clip", lambda x,h: torch.clip(x, -0.1, 0.2), values(2,3), hi)
graded("clamp_min", lambda x,h: x.clamp_min(h), values(2,3), hi)
graded("clamp_max", lambda x,h: x.clamp_max(0.3), values(2,3), hi)
graded("clamp_ eq", lambda x: x.clamp(0.,0.), torch.tensor([0.,-0.,1.],dtype=torch.float64))

attempt("no limit", lambda: torch.ones(2).clamp())
attempt("limits of integers", lambda: [torch.arange(4).clamp(1, 2), torch.arange(4).clamp(torch.tensor(1), torch.tensor(2)), torch.arange(4).clamp(torch.tensor(1.5))])
attempt("limits that cross", lambda: [torch.ones(2).clamp(2, 1), torch.ones(2).clamp(torch.tensor(2.0), torch.tensor(1.0))])
zeros = torch.tensor([0.0, -0.0, 0.0, -0.0, 1.0, -1.0, math.inf], dtype=torch.float64)
others = torch.tensor([-0.0, 0.0, 0.0, -0.0, -0.0, 0.0, 0.0], dtype=torch.float64)
signed = lambda x: [str(it) for it in x.reshape(-1).tolist()]
for name in "maximum minimum fmax fmin".split():
    x, y = zeros.clone().requires_grad_(), others.clone().requires_grad_()
    found = getattr(torch, name)(x, y)
    found.sum().backward()
    # Which zero it is depends on the number of elements in PyTorch.
    print(name, signed(found.detach() + 0.0), signed(x.grad), signed(y.grad))
nan = torch.tensor([math.nan, 1.0, math.nan])
print(torch.fmax(nan, nan.flip(0) * 2), torch.fmin(nan, torch.zeros(3)), torch.maximum(nan, torch.zeros(3)))
for name, function in {
    "relu": torch.relu, "relu6": F.relu6, "clamp": lambda x: x.clamp(0, 1), "clamp of zeros": lambda x: x.clamp(-0.0, 0.0),
    "from": lambda x: x.clamp(min=0), "to": lambda x: x.clamp(max=0), "leaky": F.leaky_relu, "hardtanh": F.hardtanh,
    "threshold": lambda x: F.threshold(x, 0.0, 0.0), "elu": F.elu, "selu": F.selu, "hardshrink": F.hardshrink,
    "by tensors": lambda x: x.clamp(torch.tensor(0.0), torch.tensor(1.0)), "abs": torch.abs, "sign": torch.sign, "round": torch.round,
    "ceil": torch.ceil, "floor": torch.floor, "neg": torch.neg, "cummax": lambda x: x.cummax(0)[0],
    "prelu": lambda x: F.prelu(x, torch.tensor([0.1], dtype=torch.float64)), "remainder": lambda x: torch.remainder(x[:6], 2.0),
}.items():
    x = zeros.clone().requires_grad_()
    found = function(x)
    found.sum().backward()
    print(name, signed(found.detach()), signed(x.grad))
torch.manual_seed(0)
weights, count = torch.tensor([0.1, 0.2, 0.3, 0.4]), 20000
drawn = torch.bincount(torch.multinomial(weights, count, replacement=True), minlength=4) / count
pairs = torch.stack([torch.multinomial(weights, 2) for _ in range(count // 4)])
both = torch.zeros(4, 4).index_put((pairs[:, 0], pairs[:, 1]), torch.tensor(4 / count), accumulate=True)
wanted = weights.unsqueeze(1) * weights / (1 - weights.unsqueeze(1)) * (1 - torch.eye(4))
print("multinomial", bool((drawn - weights).abs().max() < 0.02), bool((both - wanted).abs().max() < 0.02), bool((pairs[:, 0] != pairs[:, 1]).all()))
print(torch.multinomial(torch.tensor([[1.0, 0, 0], [0, 0, 5.0]]), 1))

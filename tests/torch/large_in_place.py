# Tensors of so many elements that they are written piece by piece.
import math
import torch
import torch.nn as nn
import torch.nn.functional as F


def told(name, *tensors):
    for it in tensors:
        flat = it.detach().double().reshape(-1)
        places = [at for at in (0, 1, 15, 16, 16383, 16384, 65535, 65536, 131071, 131072, 131073, 200006) if at < flat.numel()] + [-2, -1]
        print(name, [round(flat[at].item(), 7) for at in places], round(flat.abs().mean().item(), 6))


def numbers(seed, count=200007):
    return ((torch.arange(count) * 37 + seed) % 1009 / 1009 - 0.5) * 3


print("# drawn")
for count in (65536 + 3, 131072, 131072 + 5, 200007):
    torch.manual_seed(3)
    told("trunc_normal_", nn.init.trunc_normal_(torch.empty(count), std=1.2))
    torch.manual_seed(4)
    told("dropout", F.dropout(numbers(1, count), 0.3, inplace=True))
    print(round(torch.rand(1).item(), 5))

print("# in place")
x, y = numbers(1), numbers(2)
for name in ("gt_", "ge_", "lt_", "le_", "eq_", "ne_", "logical_and_", "logical_xor_", "copysign_", "nextafter_", "heaviside_"):
    told(name, getattr(x.clone(), name)(y))
told("add_", x.clone().add_(y.double()))
told("gt_", x.clone().gt_(0.25), x.clone().eq_(x[5]))
for source in (y, numbers(5, 300001), y.view(-1, 3).t()):
    told("masked_scatter_", x.clone().masked_scatter_(y > 0.3, source), x.clone().view(3, -1).masked_scatter_(y[:66669] > 0.3, source))
told("masked_scatter_ of itself", (lambda it: it.masked_scatter_(it > 0.3, it.clone()))(x.clone()))
refused("masked_scatter_ of too few", lambda: x.clone().masked_scatter_(y > 0.3, y[:100]))
whole = (numbers(3) * 40).long()
told("gcd_", whole.clone().gcd_(whole.flip(0) + 1), whole.clone().lcm_(whole.flip(0) + 1))
told("gt_", whole.clone().gt_(whole.flip(0)))
told("copysign_", x.clone().copysign_(torch.tensor(-1.0)))
z = numbers(4)
told("of a part", z[1:].copysign_(z[:-1].clone()), z)

print("# diagonals")
for shape in ((500, 400), (400, 500), (60, 60, 60)):
    for wrap in (False, True):
        told("fill_diagonal_", torch.zeros(shape).fill_diagonal_(3.0, wrap=wrap))
        print(torch.zeros(shape).fill_diagonal_(3.0, wrap=wrap).sum().item())

print("# optimisers")
made = [
    ("ASGD", dict(t0=1)),
    ("ASGD", dict(weight_decay=0.1)),
    ("Adadelta", {}),
    ("Adagrad", dict(lr_decay=0.1, weight_decay=0.1)),
    ("Adam", dict(amsgrad=True)),
    ("AdamW", {}),
    ("Adamax", dict(weight_decay=0.1)),
    ("NAdam", {}),
    ("RAdam", {}),
    ("RMSprop", dict(centered=True, momentum=0.9)),
    ("Rprop", {}),
]
for name, options in made:
    param = nn.Parameter(numbers(5))
    optimizer = getattr(torch.optim, name)([param], lr=0.02, **options)
    for step in range(8):
        optimizer.zero_grad()
        (param.square() * numbers(step)).sum().backward()
        optimizer.step()
    told(name, param, *[it for it in optimizer.state[param].values() if isinstance(it, torch.Tensor) and it.ndim > 0])

print("# clipping")
for order in (math.inf, 2.0):
    param = nn.Parameter(numbers(6))
    param.grad = numbers(7)
    print(round(nn.utils.clip_grad_norm_([param], 0.5, norm_type=order).item(), 4))
    told("clipped", param.grad)
param.grad[100000] = math.nan
print(nn.utils.clip_grad_norm_([param], 0.5, norm_type=math.inf).item())

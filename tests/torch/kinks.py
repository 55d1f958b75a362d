"""Second derivatives where a formula has branches, or parts that are not smooth, and the whole is."""

from torch.autograd.functional import hessian


def settled(value):
    return torch.round(value, decimals=6) + 0.0


double = dict(dtype=torch.float64)
zeros = torch.zeros(3, **double)
at_kinks = torch.tensor([0.0, -0.0, 1.5], **double)
targets = torch.tensor([0.0, 1.0, 0.5], **double)
for name, function in [
    ("logsigmoid", lambda x: F.logsigmoid(x).sum()),
    ("softplus", lambda x: F.softplus(x).sum()),
    ("binary_cross_entropy_with_logits", lambda x: F.binary_cross_entropy_with_logits(x, targets)),
    ("with weights", lambda x: F.binary_cross_entropy_with_logits(x, targets, targets + 1, pos_weight=targets + 2)),
    ("multilabel_soft_margin_loss", lambda x: F.multilabel_soft_margin_loss(x[None], targets[None])),
    ("logaddexp", lambda x: torch.logaddexp(x, at_kinks * 1.0).sum()),
    ("logaddexp2", lambda x: torch.logaddexp2(x, at_kinks * 1.0).sum()),
    ("logaddexp of one", lambda x: torch.logaddexp(x, x.flip(0)).sum()),
    ("Bernoulli", lambda x: torch.distributions.Bernoulli(logits=x).log_prob(torch.ones(3, **double)).sum()),
    ("mish", lambda x: F.mish(x).sum()),
]:
    for words, x in (("zeros", zeros), ("kinks", at_kinks)):
        show(f"hessian of {name} at {words}", settled(hessian(function, x)))
x = zeros.clone().requires_grad_()
first = torch.autograd.grad(F.mish(x).sum(), x, create_graph=True)[0]
second = torch.autograd.grad(first.sum(), x, create_graph=True)[0]
show("third of mish at 0", torch.autograd.grad(second.sum(), x)[0])
for numbers in ([0.0, 2.0, 3.0], [0.0, 0.0, 3.0], [0.0, 0.0, 0.0], [1.0, 2.0, 3.0]):
    show(f"hessian of prod {numbers}", hessian(lambda x: x.prod(), torch.tensor(numbers, **double)))
table = torch.tensor([[0.0, 2.0, 3.0], [1.0, 0.0, 0.0]], **double)
for dim in (0, 1, -1):
    show(f"hessian of prod along {dim}", hessian(lambda x: (x.prod(dim) * x.sum(dim)).sum(), table))
    show(f"hessian of prod along {dim}, kept", hessian(lambda x: x.prod(dim, keepdim=True).sum(), table))
show("hessian of one number", hessian(lambda x: x.prod(), torch.tensor(2.0, **double)))
for numbers in ([[1.0, 2.0], [2.0, 4.0]], [[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [1.0, 0.0, 1.0]], [[3.0]]):
    show(f"hessian of det {numbers}", settled(hessian(torch.linalg.det, torch.tensor(numbers, **double))))
stacked = values(2, 3, 3) + torch.eye(3, **double)
show("hessian of dets", settled(hessian(lambda x: torch.linalg.det(x).sum(), stacked)))
show("hessian of a large det", settled(hessian(torch.linalg.det, values(17, 17) + 2 * torch.eye(17, **double))[0, 0]))

# The first derivative is the same, whether a second is to follow or not.
def firsts(name, function, x):
    x = x.clone().requires_grad_()
    for again in (False, True):
        (found,) = torch.autograd.grad(function(x), x, create_graph=again)
        show(f"{name}, create_graph={again}", found)


nan, inf = math.nan, math.inf
firsts("logaddexp of NaN", lambda x: torch.logaddexp(x, torch.ones(3, **double)).sum(), torch.tensor([nan, inf, -inf], **double))
firsts("logaddexp with NaN", lambda x: torch.logaddexp(torch.tensor([nan, 2.0, 1.0], **double), x).sum(), torch.ones(3, **double))
firsts("prod of large and small", lambda x: x.prod(), torch.tensor([1e-100] * 3 + [2e100] * 3, **double))
firsts("prod with zeros", lambda x: x.prod(1).sum(), torch.tensor([[0.0, 2.0, 3.0], [0.0, 4.0, 0.0], [2.0, 3.0, 4.0]], **double))
firsts("det", lambda x: torch.linalg.det(x).sum(), stacked)
firsts("det of a large matrix", torch.linalg.det, values(6, 6) + 2 * torch.eye(6, **double))

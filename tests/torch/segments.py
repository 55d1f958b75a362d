# Reductions by index and by segment.
m, src = values(4, 5), values(3, 5, seed=7)
at = torch.tensor([1, 3, 1])
for how in ("prod", "mean", "amax", "amin"):
    for keep in (True, False):
        show(how, torch.index_reduce(m, 0, at, src, how, include_self=keep))
        show(how, torch.index_reduce(m, -1, at, values(4, 3), how, include_self=keep))
        graded(how, lambda m, s: torch.index_reduce(m, 0, at, s, how, include_self=keep), m, src)
d = values(7, 2)
for how in ("sum", "mean", "prod", "max", "min"):
    for first in (None, 2.0):
        show(how, torch.segment_reduce(d, how, lengths=torch.tensor([2, 0, 4, 1]), initial=first))
        show(how, torch.segment_reduce(d.t().contiguous(), how, lengths=torch.tensor([[2, 0, 4, 1], [1, 1, 2, 3]]), axis=1, initial=first))
        show(how, torch.segment_reduce(d, how, offsets=torch.tensor([0, 2, 2, 7]), initial=first))
    graded(how, lambda d: torch.segment_reduce(d, how, lengths=torch.tensor([2, 4, 1])), d)
n = m.clone()
print(n.index_reduce_(0, at, src, "prod") is n, n.equal(m.index_reduce(0, at, src, "prod")), n.equal(m))
for bad in (lambda: torch.index_reduce(m, 0, at, src, "sum"), lambda: torch.segment_reduce(d, "sum", lengths=torch.tensor([3, 3])), lambda: torch.segment_reduce(d, "sum"), lambda: torch.segment_reduce(d, "sum", lengths=torch.tensor([9, -2]))):
    attempt("refused", bad)

"""Conjugates are views: what is written to them is seen, conjugated, in what they were taken of."""

real = torch.view_as_real


def fresh():
    return torch.complex(values(2, 3), values(2, 3, seed=2))


q = fresh()
c = q.conj()
c[0] = 1j
show("row", [real(q), real(c.resolve_conj())])
q[1, 2] = 3 - 1j
show("seen", real(c.resolve_conj()))
c += 2j
c.mul_(2)
show("in place", [real(q), real(c.resolve_conj())])
q.conj()[:, 1:].fill_(5 + 1j)
show("part", real(q))
q = fresh()
q.mH[0] = 2j
show("mH", real(q))
q.H[:, 1] = torch.tensor([1j, 2j, 3j])
show("H", real(q))
q.conj().conj()[0, 0] = 7 + 1j
show("twice", real(q))
q.t().conj()[0].zero_()
show("of a view", real(q))
part = q[1]
part.conj().copy_(torch.tensor([1 + 1j, 2 + 2j, 3 + 3j]))
show("of a row", [real(q), real(part)])
torch.conj(q).mul_(3)
show("function", real(q))
p = q.conj_physical() if hasattr(q, "conj_physical") else torch.conj_physical(q)
p[0] = 1
show("conj_physical", [real(q), real(torch.conj_physical(q).resolve_conj())])
r = values(3)
r.conj()[0] = 9.0
show("real", r)
leaf = fresh().requires_grad_()
x = leaf * 2
x.conj()[0] = 1j
(x * x.conj()).real.sum().backward()
show("gradient", [real(x), real(leaf.grad.resolve_conj())])
leaf.grad = None
(leaf.conj() * (1 + 2j)).imag.sum().backward()
show("gradient of a conjugate", real(leaf.grad.resolve_conj()))

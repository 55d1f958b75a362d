# Draws for a seed that are tried and taken or not: gamma and what stands on it, binomial counts.

from torch import distributions as D


def drawn(name, make, *shape):
    torch.manual_seed(1)
    d = make()
    show(name, d.sample(shape))
    show(name + " again", d.sample((2,)))
    show(name + " next", torch.rand(2))


for a in (0.1, 0.5, 1.0, 2.0, 10.0, 300.0):
    drawn(f"gamma {a}", lambda: D.Gamma(torch.tensor(a), 1.0), 12)
    drawn(f"gamma64 {a}", lambda: D.Gamma(torch.tensor(a, dtype=torch.float64), torch.tensor(2.0, dtype=torch.float64)), 12)
drawn("gammas", lambda: D.Gamma(torch.tensor([[0.2, 1.5], [3.0, 40.0]]), torch.tensor([1.0, 5.0])), 4)
drawn("chi2", lambda: D.Chi2(torch.tensor([1.0, 4.0])), 5)
drawn("inverse", lambda: D.InverseGamma(torch.tensor([1.5, 4.0]), 2.0), 5)
for n in (1, 2, 3):
    drawn(f"beta {n}", lambda: D.Beta(2.0, 3.0), n)
    drawn(f"dirichlet {n}", lambda: D.Dirichlet(torch.ones(n + 1)))
drawn("betas", lambda: D.Beta(torch.tensor([0.2, 2.0]), torch.tensor([0.3, 7.0])), 5)
drawn("small dirichlet", lambda: D.Dirichlet(torch.tensor([0.01, 0.02, 0.1])), 5)
drawn("student", lambda: D.StudentT(torch.tensor([3.0, 9.0]), 1.0, 2.0), 5)
drawn("fisher", lambda: D.FisherSnedecor(torch.tensor([3.0, 9.0]), torch.tensor([5.0, 2.0])), 5)
drawn("negative binomial", lambda: D.NegativeBinomial(torch.tensor([3.0, 20.0]), torch.tensor([0.2, 0.7])), 6)
for count, p in ((5.0, 0.3), (20.0, 0.5), (40.0, 0.4), (100.0, 0.9), (1000.0, 0.02), (2000.0, 0.6), (7.0, 0.95)):
    drawn(f"binomial {count} {p}", lambda: D.Binomial(count, torch.tensor(p)), 20)
    drawn(f"binomial64 {count} {p}", lambda: D.Binomial(count, torch.tensor(p, dtype=torch.float64)), 20)
drawn("binomials", lambda: D.Binomial(torch.tensor([0.0, 3.0, 50.0]), torch.tensor([0.5, 0.0, 1.0])), 3)
torch.manual_seed(3)
show("torch.binomial", torch.binomial(torch.tensor([[5.0], [60.0]]).expand(2, 4), torch.full((2, 4), 0.35)))
torch.manual_seed(3)
show("torch._standard_gamma", torch._standard_gamma(torch.tensor([[0.5], [6.0]]).expand(2, 4)))

a = torch.tensor([0.7, 4.0], requires_grad=True)
torch.manual_seed(5)
D.Gamma(a, torch.tensor([1.0, 2.0])).rsample().sum().backward()
show("gradient", (a.grad * 1000).round() / 1000)

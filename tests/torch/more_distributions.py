"""Gamma, Chi2, Beta, Dirichlet, Binomial and StudentT: densities, entropies, moments, gradients, divergences, and samples."""

from torch import distributions as D
from torch.distributions import kl_divergence

shape, rate, seen = values(2, 3).abs() * 3 + 0.2, values(3, seed=2).abs() + 0.5, values(2, 3, seed=4).abs() + 0.1
describe_distribution("Gamma", D.Gamma, [shape, rate], seen)
describe_distribution("Chi2", D.Chi2, [shape], seen)
describe_distribution("Beta", D.Beta, [shape, rate], seen / 2)
describe_distribution("Dirichlet", D.Dirichlet, [shape], torch.softmax(values(2, 3, seed=5), -1))
describe_distribution("StudentT", D.StudentT, [shape + 2, values(3, seed=6), rate], values(2, 3, seed=7) * 3)
counts = torch.tensor([[0.0, 2.0, 5.0], [1.0, 4.0, 3.0]], dtype=torch.float64)
describe_distribution("Binomial", lambda p: D.Binomial(5, p), [values(2, 3).sigmoid()], counts)
describe_distribution("Binomial of logits", lambda p: D.Binomial(5, logits=p), [values(2, 3) * 3], counts)

print("# more of them")
show("cdf", D.Gamma(shape, rate).cdf(seen))
show("modes", [D.Gamma(shape, rate).mode, D.Beta(shape + 1, rate + 1).mode, D.Dirichlet(shape + 1).mode, D.StudentT(rate).mode])
show("corners", D.Dirichlet(torch.tensor([[0.5, 0.4], [0.5, 2.0]])).mode)
show("of counts", [D.Binomial(5, shape / 4).mode, D.Binomial(torch.tensor([2.0, 9.0]), torch.tensor([0.5, 0.1])).mean])
show("support", [D.Binomial(3, torch.tensor([0.5, 0.1])).enumerate_support(), D.Binomial(2, 0.5).enumerate_support(False)])
show("wide", [D.StudentT(torch.tensor([0.5, 1.5, 3.0])).mean, D.StudentT(torch.tensor([0.5, 1.5, 3.0])).variance])
show("numbers", [D.Gamma(2.0, 3.0).mean, D.Beta(2.0, 3.0).variance, D.Chi2(4.0).df, D.Binomial(7, 0.25).variance])
print(D.Gamma(1.0, 2.0), D.Chi2(3.0), D.Beta(1.0, 2.0), D.Dirichlet(torch.ones(3)), D.StudentT(2.0), D.Binomial(3, 0.5))
print([d.support for d in (D.Gamma(1.0, 1.0), D.Chi2(1.0), D.Beta(1.0, 1.0), D.Dirichlet(torch.ones(2)), D.StudentT(1.0))])
print(D.Beta.__module__, D.Chi2.__module__, D.StudentT.__module__, D.Dirichlet.__module__)

print("# divergences")
a, b = values(2, 4).exp().requires_grad_(), values(2, 4, seed=3).exp().requires_grad_()
pairs = {
    "gamma": lambda a, b: kl_divergence(D.Gamma(a, b), D.Gamma(b, a)),
    "chi2": lambda a, b: kl_divergence(D.Chi2(a), D.Chi2(b)),
    "beta": lambda a, b: kl_divergence(D.Beta(a, b), D.Beta(b, a)),
    "dirichlet": lambda a, b: kl_divergence(D.Dirichlet(a), D.Dirichlet(b)),
}
for name, divergence in pairs.items():
    a.grad = b.grad = None
    found = divergence(a, b)
    weigh(found).backward()
    show(name, [found, a.grad, b.grad])

print("# samples are of the distribution")
torch.manual_seed(0)


def near(d, count=20000):
    """Whether mean and variance of draws are those of the distribution."""
    draws = d.sample((count,))
    allowed = 6 * d.stddev / count**0.5
    spread = draws.var(0) / d.variance
    return bool(((draws.mean(0) - d.mean).abs() < allowed).all()), bool(((spread - 1).abs() < 0.2).all())


print(near(D.Gamma(torch.tensor([0.3, 1.0, 7.0]), torch.tensor([2.0, 0.5, 3.0]))), near(D.Chi2(torch.tensor([1.0, 5.0]))))
print(near(D.Beta(torch.tensor([0.5, 2.0]), torch.tensor([0.7, 5.0]))), near(D.Dirichlet(torch.tensor([0.5, 1.0, 4.0]))))
print(near(D.StudentT(torch.tensor([9.0, 20.0]), 1.0, 2.0)), near(D.Binomial(torch.tensor([3.0, 100.0]), torch.tensor([0.3, 0.9]))))
draws = D.Gamma(torch.tensor(0.7), torch.tensor(1.0)).sample((20000,))
print([abs((draws < at).float().mean().item() - D.Gamma(0.7, 1.0).cdf(torch.tensor(at)).item()) < 0.015 for at in (0.1, 0.5, 1.0, 3.0)])


def pathwise(make, *parameters):
    """Gradients of the mean of draws, against those of the mean itself."""
    torch.manual_seed(1)
    parameters = [torch.tensor(it, dtype=torch.float64, requires_grad=True) for it in parameters]
    drawn = torch.autograd.grad(make(*parameters).rsample((3000,)).mean(0)[..., :1].sum(), parameters)
    exact = torch.autograd.grad(make(*parameters).mean[..., :1].sum(), parameters)
    return [bool(((x - y).abs() < 0.1 * (1 + y.abs())).all()) for x, y in zip(drawn, exact)]


print(pathwise(D.Gamma, [0.6], [2.0]), pathwise(D.Gamma, [8.0], [2.0]), pathwise(D.Chi2, [3.0]))
print(pathwise(D.Beta, [0.6], [2.0]), pathwise(D.Dirichlet, [0.6, 2.0, 3.0]))

print("# mistakes")
attempt("shape", lambda: D.Gamma(-1.0, 1.0))
attempt("both", lambda: D.Binomial(3, 0.5, 0.5))
attempt("share", lambda: D.Beta(1.0, 1.0).log_prob(torch.tensor(1.5)))
attempt("no vector", lambda: D.Dirichlet(torch.tensor(1.0)))
attempt("no shares", lambda: D.Dirichlet(torch.ones(2)).log_prob(torch.tensor([0.5, 0.6])))
attempt("count", lambda: D.Binomial(3, 0.5).log_prob(torch.tensor(4.0)))
attempt("half", lambda: D.Binomial(2.5, torch.tensor(0.5)))
attempt("several counts", lambda: D.Binomial(torch.tensor([1.0, 2.0]), 0.5).entropy())
refused("freedom", lambda: D.StudentT(0.0))
refused("no freedom", lambda: D.Chi2(-1.0))
print(D.Chi2(3.0).df, D.Chi2(torch.tensor([1.0, 4.0])).expand((2, 2)).df, D.Chi2(torch.tensor([1.0, 4.0])).mean)

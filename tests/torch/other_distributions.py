"""The rest of torch.distributions: moments, densities, distribution functions, entropies, their gradients, and draws for a seed."""

from torch import distributions as D
from torch.distributions import constraints


def parts(d, names):
    for name in names:
        try:
            show(name, getattr(d, name))
        except NotImplementedError:
            print(name, "is not there")


def describe(name, make, parameters, value, is_drawn_alike=True, has_cdf=False):
    print("#", name)
    parameters = [it.clone().requires_grad_() for it in parameters]
    d = make(*parameters)
    print(repr(d), type(d).__module__)
    print(list(d.batch_shape), list(d.event_shape), d.has_rsample, d.has_enumerate_support)
    print(repr(d.support) if not isinstance(d, (D.Multinomial, D.Pareto, D.GeneralizedPareto)) else "", d.support.event_dim, d.support.is_discrete, d.support.check(value).tolist())
    parts(d, ["mean", "mode", "variance", "stddev"])
    log_prob = d.log_prob(value)
    show("log_prob", log_prob)
    if log_prob.requires_grad:
        weigh(log_prob.double()).backward()
        show("gradients", [it.grad for it in parameters if it.grad is not None])
    try:
        entropy = make(*parameters).entropy()
        show("entropy", entropy)
        for it in parameters:
            it.grad = None
        if entropy.requires_grad:
            weigh(entropy.double()).backward()
            show("gradients of entropy", [it.grad for it in parameters if it.grad is not None])
    except NotImplementedError:
        print("no entropy")
    if has_cdf:
        show("cdf", d.cdf(value))
        try:
            show("icdf", d.icdf(torch.tensor([0.1, 0.5, 0.8], dtype=value.dtype)))
        except NotImplementedError:
            print("no icdf")
    torch.manual_seed(7)
    draws = [d.sample(), d.sample((2,)), d.sample(torch.Size([2, 1]))]
    for it in draws:
        print(list(it.shape), it.dtype, it.requires_grad, bool(d.support.check(it).all()))
    if is_drawn_alike:
        show("drawn", draws)
    if d.has_rsample:
        torch.manual_seed(8)
        drawn = make(*parameters).rsample((2,))
        print(list(drawn.shape), drawn.requires_grad)
        if is_drawn_alike:
            for it in parameters:
                it.grad = None
            weigh(drawn.double()).backward()
            show("gradients of draws", [it.grad for it in parameters if it.grad is not None])
    d = make(*parameters)
    grown = d.expand((2,) + tuple(d.batch_shape))
    print(type(grown).__name__, list(grown.batch_shape), list(grown.event_shape), list(grown.sample((3,)).shape))
    show("log_prob of the expanded", grown.log_prob(value))
    if d.has_enumerate_support:
        show("values", [d.enumerate_support(), d.enumerate_support(False)])


a, b = values(2, 3), values(3, seed=2).abs() + 0.5
c = values(2, 3, seed=3).abs() + 0.2
x, share = values(2, 3, seed=4), values(2, 3, seed=5).abs() * 0.9 + 0.05
counts = torch.tensor([[0.0, 2.0, 5.0], [1.0, 4.0, 3.0]], dtype=torch.float64)
t = torch.tensor(0.7, dtype=torch.float64)

describe("Cauchy", D.Cauchy, [a, b], x * 3, True, True)
describe("HalfCauchy", D.HalfCauchy, [b], x.abs() * 3, True, True)
describe("HalfNormal", D.HalfNormal, [b], x.abs() * 3, True, True)
describe("Gumbel", D.Gumbel, [a, b], x * 3, True, True)
describe("Kumaraswamy", D.Kumaraswamy, [c, b], share, True, True)
describe("Pareto", D.Pareto, [c, b + 2], x.abs() + c + 0.1, True, True)
describe("heavy Pareto", D.Pareto, [c, b], x.abs() + c + 0.1)
describe("Weibull", D.Weibull, [c, b], x.abs() + 0.1, True, True)
# PyTorch's takes float32 alone.
low = a.float()
describe("GeneralizedPareto", D.GeneralizedPareto, [low, b.float(), values(3, seed=6).float() * 0.4], low + x.float().abs() * 0.3, True, True)
describe("exponential tail", lambda a, b: D.GeneralizedPareto(a, b, torch.tensor([0.0, 0.0, 0.3])), [low, b.float()], low + x.float().abs(), True, True)
describe("heavy tail", lambda a, b: D.GeneralizedPareto(a, b, torch.tensor([0.6, 1.5, -0.5])), [low, b.float()], low + x.float().abs() * 0.5, True, True)
describe("LogisticNormal", D.LogisticNormal, [a, b], torch.softmax(values(2, 4), -1))
describe("Geometric", D.Geometric, [share], counts)
describe("Geometric of logits", lambda p: D.Geometric(logits=p), [a], counts)
describe("Poisson", D.Poisson, [c * 5], counts)
describe("NegativeBinomial", lambda p: D.NegativeBinomial(4, p), [share], counts, False)
describe("NegativeBinomial of logits", lambda p: D.NegativeBinomial(torch.tensor([1.0, 2.5, 4.0]).double(), logits=p), [a], counts, False)
describe("ContinuousBernoulli", D.ContinuousBernoulli, [share], x.abs(), True, True)
describe("ContinuousBernoulli of logits", lambda p: D.ContinuousBernoulli(logits=p), [a], x.abs(), True, True)
describe("ContinuousBernoulli about one half", D.ContinuousBernoulli, [torch.tensor([0.4995, 0.5, 0.5004]).double()], x.abs(), True, True)
describe("InverseGamma", D.InverseGamma, [c * 4, b], x.abs() + 0.1, False)
describe("FisherSnedecor", D.FisherSnedecor, [c * 6, b * 6], x.abs() + 0.1, False)
describe("RelaxedBernoulli", lambda t, p: D.RelaxedBernoulli(t, p), [t, share], x.abs())
describe("RelaxedBernoulli of logits", lambda t, p: D.RelaxedBernoulli(t, logits=p), [t, a], x.abs())
describe("RelaxedOneHotCategorical", lambda t, p: D.RelaxedOneHotCategorical(t, p), [t, share], torch.softmax(x, -1))
describe("RelaxedOneHotCategorical of logits", lambda t, p: D.RelaxedOneHotCategorical(t, logits=p), [t, a], torch.softmax(x, -1))
describe("OneHotCategorical", D.OneHotCategorical, [share], torch.eye(3, dtype=torch.float64)[[1, 2]])
describe("OneHotCategoricalStraightThrough", D.OneHotCategoricalStraightThrough, [share], torch.eye(3, dtype=torch.float64)[[1, 2]])
describe("Multinomial", lambda p: D.Multinomial(6, p), [share], torch.tensor([[0.0, 2.0, 4.0], [3.0, 2.0, 1.0]]).double())
describe("Multinomial of logits", lambda p: D.Multinomial(6, logits=p), [a], torch.tensor([[0.0, 2.0, 4.0], [3.0, 2.0, 1.0]]).double())
describe("VonMises", D.VonMises, [a, b * 4], x * 3)
describe("wide VonMises", D.VonMises, [a, torch.tensor([0.01, 3.7, 40.0]).double()], x * 3)
describe("LowRankMultivariateNormal", D.LowRankMultivariateNormal, [a, values(3, 2, seed=6), b], x)
describe("LowRankMultivariateNormal of batches", D.LowRankMultivariateNormal, [a, values(2, 3, 1, seed=6), c], values(2, 3, seed=8))
of_rank = D.LowRankMultivariateNormal(a, values(3, 2, seed=6), b)
show("matrices", [of_rank.scale_tril, of_rank.covariance_matrix, of_rank.precision_matrix, of_rank.cov_factor, of_rank.cov_diag])

mixed = lambda p, m, s: D.MixtureSameFamily(D.Categorical(p), D.Normal(m, s))
describe("mixture", mixed, [share[0], a[0], b], values(2), True)
show("cdf", mixed(share[0], a[0], b).cdf(values(4)))
describe("mixtures", lambda p, m, s: D.MixtureSameFamily(D.Categorical(logits=p), D.Normal(m, s)), [a, x, c], values(2))
describe("mixture of vectors", lambda p, m, s: D.MixtureSameFamily(D.Categorical(p), D.Independent(D.Normal(m, s), 1)), [share[0, :2], a, c], values(2, 3))
describe("mixture of counts", lambda p, r: D.MixtureSameFamily(D.Categorical(p), D.Poisson(r)), [share[0], b * 3], counts[0, :2])

root = D.transforms.CorrCholeskyTransform()(values(2, 6))
describe("LKJCholesky", lambda e: D.LKJCholesky(4, e), [torch.tensor(1.5).double()], root, False)
describe("LKJCholesky of batches", lambda e: D.LKJCholesky(4, e), [torch.tensor([0.5, 2.0]).double()], root, False)
spread = values(3, 3, seed=3) @ values(3, 3, seed=3).T + torch.eye(3).double()
other = values(3, 3, seed=5) @ values(3, 3, seed=5).T + torch.eye(3).double()
describe("Wishart", lambda n, m: D.Wishart(n, m), [torch.tensor(5.5).double(), spread], other, False)
describe("Wishart of roots", lambda n, m: D.Wishart(n, scale_tril=m.tril()), [torch.tensor([4.0, 6.0]).double(), torch.linalg.cholesky(spread)], other, False)
describe("Wishart of precision", lambda m: D.Wishart(4, precision_matrix=m), [spread], other, False)
show("forms", [D.Wishart(4, spread).scale_tril, D.Wishart(4, scale_tril=spread.tril()).covariance_matrix, D.Wishart(4, spread).precision_matrix])

print("# numbers as parameters")
for d in (D.Cauchy(0.0, 1.0), D.HalfCauchy(1.0), D.HalfNormal(2.0), D.Gumbel(0.0, 1.0), D.Kumaraswamy(1.0, 2.0), D.Pareto(1.0, 2.0), D.Weibull(1.0, 2.0),
          D.Geometric(0.3), D.Poisson(3.0), D.ContinuousBernoulli(0.3), D.InverseGamma(3.0, 1.0), D.FisherSnedecor(3.0, 5.0), D.LKJCholesky(3), D.LogisticNormal(0.0, 1.0),
          D.GeneralizedPareto(0.0, 1.0, 0.1), D.VonMises(torch.tensor(0.0), torch.tensor(1.0)), D.RelaxedBernoulli(torch.tensor(1.0), 0.5), D.Multinomial(3, torch.ones(3))):
    print(repr(d), list(d.batch_shape), list(d.event_shape), d.sample().dtype)

print("# draws are of the distribution")
torch.manual_seed(0)


def near(d, count=20000):
    draws = d.sample((count,))
    allowed = 6 * d.stddev / count**0.5
    return bool(((draws.mean(0) - d.mean).abs() < allowed + 1e-6).all()), bool(((draws.var(0) / d.variance - 1).abs() < 0.25).all())


print(near(D.NegativeBinomial(4.0, torch.tensor([0.3, 0.6]))), near(D.InverseGamma(torch.tensor([7.0, 9.0]), 2.0)), near(D.FisherSnedecor(torch.tensor([5.0, 9.0]), 30.0)))
print(near(D.Wishart(torch.tensor(6.0), torch.tensor([[2.0, 0.5], [0.5, 1.0]]))))
draws = D.LKJCholesky(3, 2.0).sample((20000,))
matrices = draws @ draws.mT
print(bool((matrices.mean(0) - torch.eye(3)).abs().max() < 0.03), abs(matrices[:, 1, 0].var().item() - 1 / 6) < 0.01)

print("# mistakes")
attempt("scale", lambda: D.Cauchy(0.0, -1.0))
attempt("both", lambda: D.Geometric(0.5, 0.5))
attempt("neither", lambda: D.NegativeBinomial(3))
attempt("zero", lambda: D.Geometric(torch.tensor([0.5, 0.0])))
attempt("one", lambda: D.NegativeBinomial(3, torch.tensor([1.0])))
attempt("half", lambda: D.Poisson(1.0).log_prob(torch.tensor(0.5)))
attempt("rate", lambda: D.Poisson(-1.0))
attempt("below", lambda: D.HalfNormal(1.0).log_prob(torch.tensor(-0.5)))
attempt("below the scale", lambda: D.Pareto(2.0, 1.0).log_prob(torch.tensor(1.0)))
attempt("outside", lambda: D.Kumaraswamy(1.0, 1.0).log_prob(torch.tensor(1.5)))
attempt("counts", lambda: D.Multinomial(torch.tensor([3, 4]), torch.ones(3)))
attempt("too many", lambda: D.Multinomial(3, torch.ones(3)).log_prob(torch.tensor([2.0, 2.0, 0.0])))
attempt("dim", lambda: D.LKJCholesky(1))
attempt("no root", lambda: D.LKJCholesky(2).log_prob(torch.ones(2, 2)))
attempt("mixture", lambda: D.MixtureSameFamily(D.Normal(0.0, 1.0), D.Normal(torch.zeros(3), 1.0)))
attempt("component", lambda: D.MixtureSameFamily(D.Categorical(torch.ones(3)), 3))
attempt("components", lambda: D.MixtureSameFamily(D.Categorical(torch.ones(3)), D.Normal(torch.zeros(4), 1.0)))
attempt("batches", lambda: D.MixtureSameFamily(D.Categorical(torch.ones(2, 3)), D.Normal(torch.zeros(3, 3), 1.0)))
attempt("loc", lambda: D.LowRankMultivariateNormal(torch.tensor(1.0), torch.ones(3, 1), torch.ones(3)))
attempt("factor", lambda: D.LowRankMultivariateNormal(torch.ones(3), torch.ones(2, 1), torch.ones(3)))
attempt("diagonal", lambda: D.LowRankMultivariateNormal(torch.ones(3), torch.ones(3, 1), torch.ones(2)))
attempt("vector", lambda: D.LowRankMultivariateNormal(torch.ones(3), torch.ones(3), torch.ones(3)))
attempt("freedom", lambda: D.Wishart(1.5, torch.eye(3)))
attempt("matrices", lambda: D.Wishart(3.0, torch.eye(3), torch.eye(3)))
attempt("not definite", lambda: D.Wishart(3.0, -torch.eye(2)))
attempt("one hot", lambda: D.OneHotCategorical(torch.ones(3)).log_prob(torch.tensor([1.0, 1.0, 0.0])))
attempt("expanded", lambda: D.Normal(0.0, 1.0).expand((2,)).log_prob(torch.tensor(float("nan"))))
refused("no draw with a gradient", lambda: D.Poisson(1.0).rsample())

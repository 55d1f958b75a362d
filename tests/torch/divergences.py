"""kl_divergence of every two distributions, as far as PyTorch knows it, with gradients; and rules of the reader's own."""

from torch import distributions as D
from torch.distributions import kl_divergence, register_kl

a, b = values(2, 3, seed=2), values(3, seed=3).abs() + 0.4
share = values(2, 3, seed=5).abs() * 0.8 + 0.1
counts = torch.tensor([3.0, 4.0, 5.0]).double()

makers = {
    "Bernoulli": lambda a, b: D.Bernoulli(torch.sigmoid(a)),
    "Beta": lambda a, b: D.Beta(a.exp(), b),
    "Binomial": lambda a, b: D.Binomial(4, torch.sigmoid(a)),
    "Categorical": lambda a, b: D.Categorical(logits=a),
    "Cauchy": lambda a, b: D.Cauchy(a, b),
    "ContinuousBernoulli": lambda a, b: D.ContinuousBernoulli(torch.sigmoid(a)),
    "Dirichlet": lambda a, b: D.Dirichlet(a.exp()),
    "Exponential": lambda a, b: D.Exponential(a.exp() * b),
    "Gamma": lambda a, b: D.Gamma(a.exp(), b),
    "Geometric": lambda a, b: D.Geometric(torch.sigmoid(a)),
    "Gumbel": lambda a, b: D.Gumbel(a, b),
    "HalfNormal": lambda a, b: D.HalfNormal(a.exp()),
    "Laplace": lambda a, b: D.Laplace(a, b),
    "LowRank": lambda a, b: D.LowRankMultivariateNormal(a, torch.stack([b, b * 2], -1), b),
    "MultivariateNormal": lambda a, b: D.MultivariateNormal(a, torch.diag_embed(b) + 0.1),
    "Normal": lambda a, b: D.Normal(a, b),
    "OneHotCategorical": lambda a, b: D.OneHotCategorical(logits=a),
    "Pareto": lambda a, b: D.Pareto(a.exp(), b * 2.5),
    "Poisson": lambda a, b: D.Poisson(a.exp()),
    "Uniform": lambda a, b: D.Uniform(a, a + b),
    "Uniform above 0": lambda a, b: D.Uniform(a.exp(), a.exp() + b),
    "Uniform within": lambda a, b: D.Uniform(a.abs() / 4, a.abs() / 4 + b / 4),
    "wide Uniform": lambda a, b: D.Uniform(a - 3, a + b + 3),
    "LogNormal": lambda a, b: D.LogNormal(a, b),
    "Independent": lambda a, b: D.Independent(D.Normal(a, b), 1),
}
for first, make_p in makers.items():
    for second, make_q in makers.items():
        given = [it.clone().requires_grad_() for it in (a, b, values(2, 3, seed=7), values(3, seed=8).abs() + 0.5)]
        p, q = make_p(*given[:2]), make_q(*given[2:])
        try:
            found = kl_divergence(p, q)
        except NotImplementedError:
            continue
        show(f"{first} to {second}", found)
        if found.requires_grad and torch.isfinite(found).all():
            weigh(found).backward()
            show("gradients", [it.grad for it in given if it.grad is not None])

print("# limits")
show("binomials", kl_divergence(D.Binomial(torch.tensor([3.0, 5.0]), 0.3), D.Binomial(3, 0.5)))
refused("more trials", lambda: kl_divergence(D.Binomial(3, 0.3), D.Binomial(4, 0.5)))
show("paretos", kl_divergence(D.Pareto(torch.tensor([1.0, 2.0]), 3.0), D.Pareto(1.5, 2.0)))
show("a power without a mean", kl_divergence(D.Pareto(1.0, torch.tensor([0.5, 1.5, 2.5])), D.Exponential(1.0)))
show("a power without a variance", kl_divergence(D.Pareto(1.0, torch.tensor([0.5, 1.5, 2.5])), D.Normal(0.0, 1.0)))
show("within bounds", kl_divergence(D.Beta(2.0, 3.0), D.Uniform(torch.tensor([-0.5, 0.0, 0.1]), torch.tensor([1.5, 1.0, 2.0]))))
show("about bounds", kl_divergence(D.ContinuousBernoulli(0.3), D.Uniform(torch.tensor([-0.5, 0.0, 0.1]), torch.tensor([1.5, 1.0, 2.0]))))
show("inside", kl_divergence(D.Uniform(torch.tensor([-0.5, 0.0, 0.1]), torch.tensor([0.5, 1.0, 0.9])), D.Beta(2.0, 3.0)))
show("inside a density", kl_divergence(D.Uniform(torch.tensor([-0.5, 0.0, 0.1]), torch.tensor([0.5, 1.0, 0.9])), D.ContinuousBernoulli(0.3)))
show("from a bound", kl_divergence(D.Uniform(torch.tensor([0.5, 2.0]), 3.0), D.Pareto(1.0, 2.0)))
refused("sizes", lambda: kl_divergence(D.MultivariateNormal(torch.zeros(2), torch.eye(2)), D.MultivariateNormal(torch.zeros(3), torch.eye(3))))

print("# own rules")


class Mine(D.Normal):
    """A class of the reader's."""


class Other(D.Distribution):
    def __init__(self):
        super().__init__(validate_args=False)


show("of the base", kl_divergence(Mine(0.0, 1.0), D.Normal(1.0, 2.0)))


@register_kl(Mine, D.Normal)
def mine_to_normal(p, q):
    return p.loc + 7


@register_kl(Other, Other)
def others(p, q):
    return torch.tensor(3.0)


show("of the class", kl_divergence(Mine(0.0, 1.0), D.Normal(1.0, 2.0)))
show("of others", kl_divergence(Other(), Other()))
refused("no rule", lambda: kl_divergence(Other(), Mine(0.0, 1.0)))

print("# matrices")
roots = [values(3, 3, seed=it).tril(-1) + torch.diag(values(3, seed=it).abs() + 0.4) for it in (2, 3)]
given = [torch.tensor(5.5).double(), roots[0] @ roots[0].T, torch.tensor(4.5).double(), roots[1] @ roots[1].T]
given = [it.requires_grad_() for it in given]
show("wishart", kl_divergence(D.Wishart(given[0], given[1]), D.Wishart(given[2], given[3])))
show("by root", kl_divergence(D.Wishart(given[0], scale_tril=roots[0]), D.Wishart(given[2], scale_tril=roots[1])))

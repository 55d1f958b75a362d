"""torch.distributions.ExponentialFamily: which distributions are one, their natural parameters, and entropy and divergence of families of one's own."""

from torch.distributions import ExponentialFamily, constraints, kl_divergence
from torch.distributions import (
    Bernoulli, Beta, Binomial, Categorical, Chi2, ContinuousBernoulli, Dirichlet, Exponential, Gamma, Geometric, HalfNormal, Laplace, NegativeBinomial, Normal,
    Poisson, Uniform, Wishart,
)
from torch.distributions.exp_family import ExponentialFamily as same

print(same is ExponentialFamily, ExponentialFamily.__module__)
for kind in [Bernoulli, Beta, Binomial, Categorical, Chi2, ContinuousBernoulli, Dirichlet, Exponential, Gamma, Geometric, HalfNormal, Laplace, NegativeBinomial, Normal,
             Poisson, Uniform, Wishart]:
    print(kind.__name__, issubclass(kind, ExponentialFamily))

unit, positive = values(2, 3).abs() * 0.8 + 0.1, values(2, 3, seed=3).abs() + 0.5
families = {
    "Bernoulli": lambda p, a: Bernoulli(p), "Bernoulli of logits": lambda p, a: Bernoulli(logits=a), "Beta": lambda p, a: Beta(a, a + p),
    "ContinuousBernoulli": lambda p, a: ContinuousBernoulli(p), "near one half": lambda p, a: ContinuousBernoulli(0.5 + (p - 0.5) / 2000),
    "Dirichlet": lambda p, a: Dirichlet(a), "Exponential": lambda p, a: Exponential(a), "Gamma": lambda p, a: Gamma(a, p), "Chi2": lambda p, a: Chi2(a),
    "Normal": lambda p, a: Normal(p, a), "Poisson": lambda p, a: Poisson(a),
    "Wishart": lambda p, a: Wishart(a.sum() + 3, torch.eye(3, dtype=torch.float64) * 2 + 0.5),
}
for name, make in families.items():
    print("#", name)
    d = make(unit, positive)
    params = d._natural_params
    show("natural", params)
    show("normalizer", d._log_normalizer(*params))
    leaves = [it.clone().requires_grad_() for it in (unit, positive)]
    weigh([make(*leaves)._log_normalizer(*make(*leaves)._natural_params)]).backward()
    show("gradients", [it.grad for it in leaves])
    if name != "Poisson" and name != "Wishart":
        weigh([make(*leaves).entropy()]).backward()
        if name not in ("Beta", "Dirichlet"):
            show("by the base", ExponentialFamily.entropy(d) - d.entropy())
        show("entropy", [it.grad for it in leaves])
attempt("entropy", lambda: ExponentialFamily.entropy(Normal(torch.tensor(0.5), torch.tensor(2.0))))
refused("entropy of counts", lambda: Poisson(torch.tensor(2.0)).entropy())


class Rayleigh(ExponentialFamily):
    """Density x / s**2 exp(-x**2 / (2 s**2)); theta = -1 / (2 s**2), F = -log(-2 theta), k = log x."""

    arg_constraints = {"scale": constraints.positive}
    support = constraints.positive

    def __init__(self, scale, validate_args=None):
        self.scale = scale
        super().__init__(scale.shape, validate_args=validate_args)

    @property
    def _natural_params(self):
        return (-0.5 / self.scale.pow(2),)

    def _log_normalizer(self, theta):
        return -torch.log(-2 * theta)

    @property
    def _mean_carrier_measure(self):
        return self.scale.log() + 0.5 * (math.log(2) - 0.5772156649015329)

    def log_prob(self, value):
        return value.log() - 2 * self.scale.log() - value.pow(2) / (2 * self.scale.pow(2))


class Vectors(ExponentialFamily):
    """Independent normal numbers of variance 1 as one event; theta = mean, F = theta . theta / 2, k = -(x . x + log 2 pi n) / 2."""

    arg_constraints = {"mean": constraints.real_vector}
    support = constraints.real_vector

    def __init__(self, mean):
        self._mean = mean
        super().__init__(mean.shape[:-1], mean.shape[-1:])

    @property
    def mean(self):
        return self._mean

    @property
    def _natural_params(self):
        return (self._mean,)

    def _log_normalizer(self, theta):
        return 0.5 * theta.pow(2).sum(-1)

    @property
    def _mean_carrier_measure(self):
        n = self._event_shape[0]
        return -0.5 * (self._mean.pow(2).sum(-1) + n + n * math.log(2 * math.pi))


print("# of one's own")
p, q = Rayleigh(positive), Rayleigh(unit)
show("entropy", p.entropy())
show("entropy of vectors", Vectors(unit).entropy())
show("divergence", kl_divergence(p, q))
show("divergence of vectors", kl_divergence(Vectors(unit), Vectors(positive)))
graded("gradient", lambda a, b: kl_divergence(Rayleigh(a), Rayleigh(b)), positive, unit)
graded("gradient of entropy", lambda a: Rayleigh(a).entropy(), positive)
refused("two families", lambda: kl_divergence(p, Vectors(unit)))
refused("nothing of its own", lambda: ExponentialFamily().entropy())
refused("no natural parameters", lambda: ExponentialFamily()._natural_params)

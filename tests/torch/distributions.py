"""torch.distributions: densities, entropies, moments, gradients and divergences; of samples, their shapes and what they can be."""

from torch import distributions as D
from torch.distributions import Bernoulli, Categorical, Independent, MultivariateNormal, Normal, kl_divergence
from torch.distributions.categorical import Categorical as SameCategorical
from torch.distributions.normal import Normal as SameNormal

print(SameCategorical is Categorical, SameNormal is Normal)


def attempt(function):
    try:
        print(function())
    except Exception as error:
        print(type(error).__name__, str(error).split("\n")[0][:300])


loc, scale, other = values(2, 3), values(3, seed=2).abs() + 0.5, values(2, 3, seed=4)
describe_distribution("Normal", Normal, [loc, scale], other)
describe_distribution("Laplace", D.Laplace, [loc, scale], other)
describe_distribution("LogNormal", D.LogNormal, [loc, scale], other.abs() + 0.1)
describe_distribution("Uniform", D.Uniform, [loc - 2, loc + scale + 2], other)
describe_distribution("Exponential", D.Exponential, [scale], other.abs())
describe_distribution("Bernoulli", lambda p: Bernoulli(p), [values(2, 3).sigmoid()], (other > 0).double())
describe_distribution("Bernoulli of logits", lambda p: Bernoulli(logits=p), [loc * 3], (other > 0).double())
describe_distribution("Categorical", lambda p: Categorical(p), [values(2, 4).exp()], torch.tensor([[0, 3], [1, 1], [2, 0]]))
describe_distribution("Categorical of logits", lambda p: Categorical(logits=p), [values(2, 4)], torch.tensor([0, 3]))
describe_distribution("OneHotCategorical", lambda p: D.OneHotCategorical(logits=p), [values(2, 4)], torch.eye(4, dtype=torch.float64)[[1, 3]])
describe_distribution("Independent", lambda a, b: Independent(Normal(a, b), 1), [loc, scale], other)
root = values(3, 3, seed=3).tril(-1) + torch.diag(scale)
describe_distribution("MultivariateNormal", lambda a, b: MultivariateNormal(a, scale_tril=b), [loc, root], values(4, 2, 3))
covariance = root @ root.T
show("by covariance", [MultivariateNormal(loc, covariance).log_prob(other), MultivariateNormal(loc[0], precision_matrix=covariance).entropy()])
show("matrices", [MultivariateNormal(loc, covariance).scale_tril, MultivariateNormal(loc[0], scale_tril=root).covariance_matrix])

print("# more of them")
show("cdf", [Normal(loc, scale).cdf(other), D.Laplace(loc, scale).cdf(other), D.Uniform(-1.0, 2.0).cdf(torch.tensor(0.5)), D.Exponential(2.0).cdf(torch.tensor(0.5))])
show("icdf", [Normal(0.0, 2.0).icdf(torch.tensor(0.3)), D.Exponential(2.0).icdf(torch.tensor(0.3)), D.Uniform(-1.0, 2.0).icdf(torch.tensor(0.5)), D.Laplace(1.0, 2.0).icdf(torch.tensor(0.2))])
show("mode", [Normal(loc, scale).mode, Categorical(logits=values(2, 4)).mode, Bernoulli(torch.tensor([0.2, 0.5, 0.8])).mode])
show("forms", [Categorical(torch.tensor([1.0, 3.0])).probs, Categorical(torch.tensor([1.0, 3.0])).logits, Bernoulli(logits=torch.tensor(0.5)).probs, Bernoulli(0.25).logits])
show("support", [Categorical(torch.ones(2, 3)).enumerate_support(), Bernoulli(torch.ones(2) / 2).enumerate_support(False)])
show("expand", [Normal(0.0, 1.0).expand((2, 3)).loc, Categorical(logits=values(4)).expand((2,)).logits])
show("perplexity", Categorical(torch.ones(4)).perplexity())
print(Normal(0.0, 1.0), Normal(torch.zeros(2), 1.0), Categorical(torch.ones(3)), Bernoulli(logits=torch.zeros(2)), D.Uniform(0.0, 1.0))
print(Normal(0.0, 1.0).sample().dtype, Normal(0, 1).sample().shape, Categorical(torch.ones(3)).sample().dtype, Normal(0.0, 1.0).sample((2,)).shape)

print("# divergences")
a, b = values(2, 4).exp().requires_grad_(), values(2, 4, seed=3).exp().requires_grad_()
pairs = {
    "normal": lambda a, b: kl_divergence(Normal(a, b), Normal(b - 1, a + 1)),
    "laplace": lambda a, b: kl_divergence(D.Laplace(a, b), D.Laplace(b, a)),
    "categorical": lambda a, b: kl_divergence(Categorical(a), Categorical(logits=b)),
    "bernoulli": lambda a, b: kl_divergence(Bernoulli(a / 4), Bernoulli(logits=b)),
    "exponential": lambda a, b: kl_divergence(D.Exponential(a), D.Exponential(b)),
    "independent": lambda a, b: kl_divergence(Independent(Normal(a, b), 1), Independent(Normal(b, a), 1)),
    "standard": lambda a, b: kl_divergence(Normal(a, b), Normal(torch.zeros_like(a), torch.ones_like(b))),
    "vectors": lambda a, b: kl_divergence(MultivariateNormal(a, torch.diag_embed(b)), MultivariateNormal(b, torch.diag_embed(a))),
}
for name, divergence in pairs.items():
    a.grad = b.grad = None
    found = divergence(a, b)
    weigh(found).backward()
    show(name, [found, a.grad, b.grad])
show("edges", [kl_divergence(Categorical(torch.tensor([0.0, 1.0])), Categorical(torch.tensor([0.5, 0.5]))), kl_divergence(D.Uniform(0.0, 1.0), D.Uniform(-1.0, 2.0)), kl_divergence(D.Uniform(0.0, 3.0), D.Uniform(-1.0, 2.0)), kl_divergence(Bernoulli(0.0), Bernoulli(0.3))])

print("# samples are of the distribution")
torch.manual_seed(0)
draws = Normal(2.0, 3.0).sample((20000,))
print(abs(draws.mean().item() - 2) < 0.15, abs(draws.std().item() - 3) < 0.15)
draws = Categorical(torch.tensor([0.1, 0.6, 0.3])).sample((20000,))
print((draws.bincount(minlength=3) / 20000 - torch.tensor([0.1, 0.6, 0.3])).abs().max().item() < 0.03)
print(abs(Bernoulli(0.3).sample((20000,)).mean().item() - 0.3) < 0.03, abs(D.Exponential(4.0).sample((20000,)).mean().item() - 0.25) < 0.02)
print(abs(D.Laplace(1.0, 2.0).sample((20000,)).var().item() - 8) < 1, abs(D.Uniform(2.0, 4.0).sample((20000,)).mean().item() - 3) < 0.05)
draws = MultivariateNormal(torch.zeros(2), torch.tensor([[2.0, 1.0], [1.0, 3.0]])).sample((20000,))
print((torch.cov(draws.T) - torch.tensor([[2.0, 1.0], [1.0, 3.0]])).abs().max().item() < 0.2)
sigma = torch.tensor(2.0, requires_grad=True)
Normal(torch.tensor(0.0), sigma).rsample((1000,)).pow(2).mean().backward()
print(abs(sigma.grad.item() - 4) < 0.8)

print("# REINFORCE and a step of PPO")
policy = nn.Linear(3, 2).double()
with torch.no_grad():
    policy.weight.copy_(values(2, 3))
    policy.bias.zero_()
states, actions, advantages = values(4, 3, seed=2), torch.tensor([0, 1, 1, 0]), values(4, seed=3)
d = Categorical(logits=policy(states))
loss = -(d.log_prob(actions) * advantages).mean() - 0.01 * d.entropy().mean()
loss.backward()
show("loss", [loss, policy.weight.grad])
ratio = (Categorical(logits=policy(states)).log_prob(actions) - d.log_prob(actions).detach()).exp()
show("ratio", torch.min(ratio * advantages, ratio.clamp(0.8, 1.2) * advantages))

print("# mistakes")
attempt(lambda: Normal(0.0, -1.0))
attempt(lambda: Normal(torch.zeros(2), torch.tensor([1.0, float("nan")])))
attempt(lambda: Categorical(torch.tensor([0.5, -0.5, 1.0])))
attempt(lambda: Categorical(logits=torch.tensor([float("nan"), 1.0])))
attempt(lambda: Categorical(torch.ones(2), torch.ones(2)))
attempt(lambda: Categorical(torch.tensor(1.0)))
attempt(lambda: Categorical(torch.ones(3)).log_prob(torch.tensor(3)))
attempt(lambda: Bernoulli(1.5))
attempt(lambda: Bernoulli(0.5).log_prob(torch.tensor(0.5)))
attempt(lambda: Normal(torch.zeros(3), torch.ones(3)).log_prob(torch.zeros(2)))
attempt(lambda: Normal(0.0, 1.0).log_prob(0.5))
attempt(lambda: D.Uniform(1.0, 0.0))
attempt(lambda: Independent(Normal(0.0, 1.0), 1))
attempt(lambda: Bernoulli(0.5, validate_args=False).log_prob(torch.tensor(0.5)))

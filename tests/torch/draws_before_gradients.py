"""What a distribution makes of its parameters when it first draws has their gradient afterwards."""

from torch import distributions as D

w = values(3)
makes = {
    "Bernoulli": lambda w: D.Bernoulli(logits=w), "Bernoulli of probs": lambda w: D.Bernoulli(w.sigmoid()), "Binomial": lambda w: D.Binomial(5, logits=w),
    "Geometric": lambda w: D.Geometric(logits=w), "Geometric of probs": lambda w: D.Geometric(w.sigmoid()), "NegativeBinomial": lambda w: D.NegativeBinomial(5, probs=w.sigmoid()),
    "ContinuousBernoulli": lambda w: D.ContinuousBernoulli(logits=w), "Categorical": lambda w: D.Categorical(logits=w), "Categorical of probs": lambda w: D.Categorical(w.sigmoid()),
    "OneHotCategorical": lambda w: D.OneHotCategorical(logits=w), "Multinomial": lambda w: D.Multinomial(5, logits=w), "RelaxedBernoulli": lambda w: D.RelaxedBernoulli(torch.tensor(0.5), logits=w),
    "MultivariateNormal": lambda w: D.MultivariateNormal(w, precision_matrix=torch.diag(w.exp())), "Wishart": lambda w: D.Wishart(w.exp().sum() + 5, precision_matrix=torch.diag(w.exp())),
    "VonMises": lambda w: D.VonMises(w, w.exp()), "Mixture": lambda w: D.MixtureSameFamily(D.Categorical(logits=w), D.Normal(w, w.exp())),
}
for name, make in makes.items():
    for drawn in (False, True):
        leaf = w.clone().requires_grad_()
        d = make(leaf)
        torch.manual_seed(0)
        if drawn:
            d.sample()
        x = {"Wishart": torch.eye(3, dtype=torch.float64) * 5, "Categorical": torch.tensor(1), "Categorical of probs": torch.tensor(1), "OneHotCategorical": torch.tensor([0.0, 1.0, 0.0], dtype=torch.float64),
             "Multinomial": torch.tensor([1.0, 2.0, 2.0], dtype=torch.float64)}.get(name, torch.tensor([0.0, 1.0, 1.0], dtype=torch.float64) if "Relaxed" not in name and "Contin" not in name else torch.tensor([0.2, 0.5, 0.7], dtype=torch.float64))
        d.log_prob(x).sum().backward(retain_graph=True)
        show(f"{name} {drawn}", leaf.grad)
        try:
            entropy = d.entropy()
        except NotImplementedError:
            continue
        leaf.grad = None
        entropy.sum().backward(retain_graph=True)
        show("entropy", leaf.grad)

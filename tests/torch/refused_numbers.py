# Numbers where tensors are meant, and devices that there are not.
x = torch.ones(2)
for name, loss in [
    ("mse", F.mse_loss),
    ("l1", F.l1_loss),
    ("smooth", F.smooth_l1_loss),
    ("huber", F.huber_loss),
    ("bce", F.binary_cross_entropy),
    ("logits", F.binary_cross_entropy_with_logits),
    ("kl", F.kl_div),
    ("poisson", F.poisson_nll_loss),
    ("soft margin", F.soft_margin_loss),
    ("hinge", F.hinge_embedding_loss),
    ("similarity", F.cosine_similarity),
    ("distance", F.pairwise_distance),
    ("module", nn.MSELoss()),
    ("module l1", nn.L1Loss()),
]:
    refused(name, lambda: loss(x, 1.0))
    refused(name, lambda: loss(1.0, x))
    refused(name, lambda: loss(x, [1.0, 1.0]))
refused("list", lambda: F.mse_loss(x, [1.0, 2.0]))
refused("ranking", lambda: F.margin_ranking_loss(x, x, 1.0))
refused("cosine", lambda: F.cosine_embedding_loss(x[None], x[None], 1.0))
refused("triplet", lambda: F.triplet_margin_loss(x[None], x[None], 1.0))
refused("classes", lambda: F.cross_entropy(torch.ones(1, 2), 0))
refused("class", lambda: F.nll_loss(torch.ones(1, 2), 0))
refused("margin", lambda: F.multi_margin_loss(torch.ones(1, 2), 0))
refused("weight", lambda: F.mse_loss(x, 1.0, weight=x))
print(F.mse_loss(x, torch.tensor(3.0)), F.l1_loss(x, torch.zeros(2)))
for name in ["gpu", "CPU", "tpu", "cuda:", "cuda:x", "gpu:0"]:
    refused(name, lambda: torch.device(name))
    refused(name, lambda: x.to(name))

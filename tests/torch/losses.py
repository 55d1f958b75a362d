"""Losses, with all reductions."""


def losses(name, make, *inputs, reductions=("mean", "sum", "none")):
    for reduction in reductions:
        criterion = make(reduction)
        for value in inputs:
            if isinstance(value, torch.Tensor) and value.dtype == torch.float64:
                value.grad = None
        loss = criterion(*inputs)
        show(f"{name} {reduction}", loss)
        loss.sum().backward()
        for value in inputs:
            if isinstance(value, torch.Tensor) and value.requires_grad:
                show("grad", value.grad)


def start(*shape, seed=1):
    return values(*shape, seed=seed).requires_grad_()


classes = torch.tensor([1, 0, 3])
signs = torch.tensor([1.0, -1.0, 1.0], dtype=torch.float64)
p = values(3, 4, seed=7).sigmoid()
weight = torch.tensor([0.5, 1.0, 2.0, 1.5], dtype=torch.float64)
losses("L1Loss", lambda r: nn.L1Loss(reduction=r), start(3, 4), values(3, 4, seed=2))
losses("MSELoss", lambda r: nn.MSELoss(reduction=r), start(3, 4), values(3, 4, seed=2))
losses("SmoothL1Loss", lambda r: nn.SmoothL1Loss(reduction=r, beta=0.5), start(3, 4), values(3, 4, seed=2))
losses("HuberLoss", lambda r: nn.HuberLoss(reduction=r, delta=0.5), start(3, 4), values(3, 4, seed=2))
losses("CrossEntropyLoss", lambda r: nn.CrossEntropyLoss(reduction=r), start(3, 4), classes)
losses("CrossEntropyLoss weighted", lambda r: nn.CrossEntropyLoss(weight, ignore_index=0, reduction=r), start(3, 4), classes)
losses("CrossEntropyLoss smoothed", lambda r: nn.CrossEntropyLoss(reduction=r, label_smoothing=0.2), start(3, 4), classes)
losses("CrossEntropyLoss of shares", lambda r: nn.CrossEntropyLoss(reduction=r), start(3, 4), F.softmax(p, 1))
losses("CrossEntropyLoss of images", lambda r: nn.CrossEntropyLoss(reduction=r), start(2, 4, 2, 1), torch.tensor([[[0], [3]], [[2], [2]]]))
losses("NLLLoss", lambda r: nn.NLLLoss(reduction=r), start(3, 4), classes)
losses("NLLLoss weighted", lambda r: nn.NLLLoss(weight, reduction=r), start(3, 4), classes)
losses("BCELoss", lambda r: nn.BCELoss(reduction=r), p.clone().requires_grad_(), (values(3, 4) > 0).double())
losses("BCELoss weighted", lambda r: nn.BCELoss(weight, reduction=r), p.clone().requires_grad_(), (values(3, 4) > 0).double())
losses("BCEWithLogitsLoss", lambda r: nn.BCEWithLogitsLoss(reduction=r), start(3, 4), (values(3, 4, seed=2) > 0).double())
losses("BCEWithLogitsLoss weighted", lambda r: nn.BCEWithLogitsLoss(weight, pos_weight=weight, reduction=r), start(3, 4), (values(3, 4, seed=2) > 0).double())
losses("KLDivLoss", lambda r: nn.KLDivLoss(reduction=r), F.log_softmax(values(3, 4), 1).requires_grad_(), F.softmax(p, 1), reductions=("sum", "none", "batchmean"))
losses("KLDivLoss of logs", lambda r: nn.KLDivLoss(reduction=r, log_target=True), F.log_softmax(values(3, 4), 1).requires_grad_(), F.log_softmax(p, 1), reductions=("sum", "batchmean"))
losses("PoissonNLLLoss", lambda r: nn.PoissonNLLLoss(reduction=r), start(3, 4), torch.tensor([0.0, 1.0, 2.0, 5.0], dtype=torch.float64).expand(3, 4))
losses("PoissonNLLLoss full", lambda r: nn.PoissonNLLLoss(log_input=False, full=True, reduction=r), p.clone().requires_grad_(), torch.tensor([1.0, 3.0, 2.0, 5.0], dtype=torch.float64).expand(3, 4))
losses("GaussianNLLLoss", lambda r: nn.GaussianNLLLoss(reduction=r), start(3, 4), values(3, 4, seed=2), p)
losses("GaussianNLLLoss full", lambda r: nn.GaussianNLLLoss(full=True, eps=0.5, reduction=r), start(3, 4), values(3, 4, seed=2), p.clone().requires_grad_())
losses("HingeEmbeddingLoss", lambda r: nn.HingeEmbeddingLoss(0.7, reduction=r), start(3), signs)
losses("SoftMarginLoss", lambda r: nn.SoftMarginLoss(reduction=r), start(3), signs)
losses("MultiMarginLoss", lambda r: nn.MultiMarginLoss(margin=0.8, reduction=r), start(3, 4), classes)
losses("MultiMarginLoss squared", lambda r: nn.MultiMarginLoss(p=2, weight=weight, reduction=r), start(3, 4), classes)
losses("MultiLabelSoftMarginLoss", lambda r: nn.MultiLabelSoftMarginLoss(weight, reduction=r), start(3, 4), (values(3, 4, seed=2) > 0).double())
losses("MarginRankingLoss", lambda r: nn.MarginRankingLoss(0.3, reduction=r), start(3), start(3, seed=2), signs)
losses("CosineEmbeddingLoss", lambda r: nn.CosineEmbeddingLoss(0.1, reduction=r), start(3, 4), start(3, 4, seed=2), signs)
losses("TripletMarginLoss", lambda r: nn.TripletMarginLoss(reduction=r), start(3, 4), start(3, 4, seed=2), start(3, 4, seed=3))
losses("TripletMarginLoss swapped", lambda r: nn.TripletMarginLoss(0.5, p=1.0, swap=True, reduction=r), start(3, 4), start(3, 4, seed=2), start(3, 4, seed=3))
losses("TripletMarginWithDistanceLoss", lambda r: nn.TripletMarginWithDistanceLoss(distance_function=lambda a, b: 1 - F.cosine_similarity(a, b), reduction=r), start(3, 4), start(3, 4, seed=2), start(3, 4, seed=3))


def ctc(scores, *rest):
    return lambda r: lambda scores: nn.CTCLoss(reduction=r)(F.log_softmax(scores, -1), *rest)


losses("CTCLoss", ctc(None, torch.tensor([[1, 2, 2], [3, 1, 0]]), torch.tensor([6, 5]), torch.tensor([3, 2])), start(6, 2, 4))
losses("CTCLoss in a row", ctc(None, torch.tensor([1, 2, 2, 3, 1]), (6, 5), (3, 2)), start(6, 2, 4))
losses("CTCLoss impossible", lambda r: lambda x: nn.CTCLoss(reduction=r, zero_infinity=True)(F.log_softmax(x, -1), torch.tensor([[1, 1, 1]]), (3,), (3,)), start(3, 1, 4))
print(nn.CrossEntropyLoss(), nn.MSELoss(), nn.NLLLoss())

# A vector of scores is one sample.
for target in (torch.tensor(1), torch.tensor([1])):
    for reduction in ("none", "mean", "sum"):
        scores = values(4).requires_grad_()
        loss = F.multi_margin_loss(scores, target, weight=values(4, seed=2).abs(), reduction=reduction)
        loss.sum().backward()
        show(f"multi_margin_loss of a vector, {reduction}", [loss, scores.grad])

"""What is drawn in halves, for layers and for starting values, and where the generator stands after it."""


def drawn(make, show_all=True):
    torch.manual_seed(0)
    out = make()
    out = out.detach().float().flatten().tolist() if show_all else [out.float().sum().item()]
    print(out, torch.rand(1).item())


HALVES = (torch.float16, torch.bfloat16)

print("# uniform numbers in halves")
for dtype in HALVES:
    torch.manual_seed(3)
    many = torch.rand(300000, dtype=dtype)
    print(many.max().item(), int((many == 0).sum()), bool((many < 1).all()))
    for low, high in ((0, 1), (-1.3, 2.1), (-3, -1)):
        torch.manual_seed(3)
        many = torch.empty(30000, dtype=dtype).uniform_(low, high)
        print(many.max().item(), many.min().item(), int((many == many.min()).sum()), many.double().sum().item())
    drawn(lambda: torch.rand_like(torch.ones(20, dtype=dtype)))

print("# normal numbers in halves")
for dtype in HALVES:
    for count in (1, 15, 16, 17, 33, 48):
        drawn(lambda: torch.randn(count, dtype=dtype))
    drawn(lambda: torch.empty(37, dtype=dtype).normal_(1.5, 2.5))
    drawn(lambda: torch.randn_like(torch.ones(3, 7, dtype=dtype)))
    for count in (1000, 65536, 70001):
        torch.manual_seed(1)
        many = torch.randn(count, dtype=dtype).double()
        # Of very many numbers a few are rounded the other way in PyTorch.
        sums = [many.sum().item(), (many * torch.arange(count)).sum().item()] if count == 1000 else []
        print(count, sums, torch.rand(1).item())

print("# starting values")
for count in (6, 16, 21):
    drawn(lambda: nn.init.trunc_normal_(torch.empty(count)))
    drawn(lambda: nn.init.trunc_normal_(torch.empty(count), 0.5, 0.2, -0.3, 0.9))
    drawn(lambda: nn.init.trunc_normal_(torch.empty(count), 2, 0.5, -1, 1.5))
    drawn(lambda: nn.init.trunc_normal_(torch.empty(count), 0, 1, 3, 5))
    drawn(lambda: torch.empty(count).log_normal_())
    drawn(lambda: torch.empty(count, dtype=torch.float64).log_normal_(0.5, 0.25))
drawn(lambda: torch.empty(0).log_normal_())

print("# layers")
for count in (6, 16, 21):
    drawn(lambda: F.gumbel_softmax(torch.arange(count) / 10))
    drawn(lambda: F.gumbel_softmax(torch.ones(2, count), tau=0.5, hard=True))
    drawn(lambda: F.alpha_dropout(torch.arange(count) / 10, 0.5, True))
    drawn(lambda: nn.AlphaDropout(0.3)(torch.ones(count)))
    drawn(lambda: F.rrelu(torch.arange(count) - 5.0, training=True))
    drawn(lambda: nn.RReLU(0.1, 0.9)(torch.arange(count) - 5.0))
drawn(lambda: F.alpha_dropout(torch.arange(4.0), 1.0, True))

"""A seed gives PyTorch's numbers to the last bit (float32 as on processors with AVX2)."""


def bits(name, value):
    """A few numbers in full, and a sum over the bits of all with weights that tell places apart."""
    flat = value.detach().flatten()
    words = flat.view(torch.int32 if flat.dtype == torch.float32 else torch.int64).to(torch.int64)
    weights = torch.arange(len(words)) % 8191 + 1
    print(name, tuple(value.shape), flat[:3].tolist(), (words % 65521 * weights).sum().item())


for seed in [0, 1, 2**35 + 9]:
    torch.manual_seed(seed)
    for dtype in [torch.float32, torch.float64]:
        for size in [(3,), (15,), (16,), (17,), (9, 31), (200, 300)]:
            bits("randn", torch.randn(size, dtype=dtype))
            bits("rand", torch.rand(size, dtype=dtype))
        bits("randn_like", torch.randn_like(torch.ones(40, dtype=dtype)))
        bits("normal_", torch.empty(999, dtype=dtype).normal_(-3.0, 0.02))
        bits("normal_ of rows", torch.empty(64, 64, dtype=dtype).normal_(1e-3, 7.5))
        bits("trunc_normal_", nn.init.trunc_normal_(torch.empty(50, 50, dtype=dtype), std=0.02))
        bits("kaiming_normal_", nn.init.kaiming_normal_(torch.empty(50, 50, dtype=dtype)))
    bits("embedding", nn.Embedding(100, 16).weight)
    bits("a last number", torch.rand(1))

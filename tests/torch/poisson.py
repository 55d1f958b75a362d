# torch.poisson: PyTorch's numbers, and where the generator stands after them.
for seed in range(4):
    torch.manual_seed(seed)
    print(torch.poisson(torch.tensor([0.0, 0.5, 3.0, 9.9, 10.0, 25.0, 1000.0, 1e6])).tolist(), torch.rand(2).tolist())
    print(torch.poisson(torch.full((50,), 30.0, dtype=torch.float64)).tolist(), torch.poisson(torch.full((5, 20), 4.0)).tolist(), torch.randn(3).tolist())
g = torch.Generator().manual_seed(5)
print(torch.poisson(torch.full((7,), 12.0), generator=g).tolist(), torch.rand(1, generator=g).tolist())

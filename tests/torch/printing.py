"""torch.set_printoptions."""

x = torch.tensor([[1.23456789, 2.5], [1000.125, 0.001]])
y = torch.arange(40.0) / 7
torch.set_printoptions(precision=2)
print(x, y[:3])
torch.set_printoptions(sci_mode=False)
print(x)
torch.set_printoptions(sci_mode=True, precision=3)
print(y[:3])
torch.set_printoptions(profile="default")
torch.set_printoptions(threshold=10, edgeitems=2)
print(y)
torch.set_printoptions(profile="default")
torch.set_printoptions(linewidth=40)
print(y[:20])
torch.set_printoptions(profile="default")
print(y[:4])

"""Draws for the elements of a tensor come in the order in which these lie: turned views have other masks than copies of them."""
torch.manual_seed(1)
x = torch.arange(6.0).reshape(2, 3)
print(F.dropout(x.t(), 0.5))
print(torch.bernoulli(torch.full((2, 3), 0.5).t()))
print(torch.rand(1))
print(F.dropout(torch.ones(2, 2, 3).permute(2, 0, 1), 0.3))
print(torch.rand(1))
print(F.dropout(torch.ones(2), 1.0), torch.rand(1))
print(F.dropout(torch.ones(3, 1).expand(3, 2), 0.5), torch.rand(1))
print(F.dropout(torch.ones(4, 4)[:, ::2], 0.5), torch.rand(1))
print(F.dropout(torch.ones(1, 4, 1, 3).transpose(1, 3), 0.5).flatten(), torch.rand(1))
for draw in (torch.rand_like, torch.randn_like, lambda it: torch.randint_like(it, 9)):
    drawn = draw(torch.zeros(2, 3, 4).permute(2, 0, 1))
    print(drawn.stride(), drawn.flatten()[:8], draw(torch.zeros(2, 3)), draw(torch.zeros(4, 4)[:, ::2]).shape, torch.rand(1))

torch.manual_seed(0)
layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.3, batch_first=True)
print(layer(torch.randn(2, 5, 8))[0, :2])
layer = nn.LSTM(4, 5, batch_first=True, num_layers=2, dropout=0.4)
drop = nn.Dropout(0.5)
output, _ = layer(torch.randn(3, 4, 4))
print(drop(output)[1])

# The same in each call of a step, whether its body runs or not.
weight = nn.Parameter(torch.ones(4, 3))
optimizer = torch.optim.SGD([weight], lr=0.1)
for step in range(3):
    optimizer.zero_grad()
    F.dropout((weight * 2).t(), 0.4).sum().backward()
    optimizer.step()
    print((weight.detach().flatten() * 3).round() + 0.0)

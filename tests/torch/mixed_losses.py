# Losses, norms and powers of operands whose dtypes, ranks or values are not those of most programs.
half, bfloat, single, double = torch.float16, torch.bfloat16, torch.float32, torch.float64
x = torch.tensor([0.25, 0.5, 0.75])
t = torch.tensor([0.0, 1.0, 1.0])

print("dtypes of losses")
for a, b in [(single, double), (double, single)]:
    row = [a, b]
    for loss in [F.mse_loss, F.smooth_l1_loss, F.huber_loss, F.soft_margin_loss, F.binary_cross_entropy_with_logits]:
        value = loss(x.to(a), t.to(b))
        row += [value.dtype, f"{value.item():.3f}"]
    print(*row)
print(F.mse_loss(torch.tensor([1, 2]), torch.tensor([0.5, 1.0])), F.smooth_l1_loss(torch.tensor([1, 4]), torch.tensor([0.5, 1.0])))
print(F.mse_loss(torch.tensor([True, False]), torch.tensor([0.5, 1.0])), F.mse_loss(torch.tensor([0.5, 1.0]), torch.tensor([True, False])))
print(F.soft_margin_loss(x, torch.tensor([True, False, True])))
print(F.binary_cross_entropy(x, t, weight=torch.tensor([1.0, 2.0, 3.0], dtype=double)).dtype)
logits = torch.tensor([0.3, -0.7, 1.2], requires_grad=True)
loss = F.binary_cross_entropy_with_logits(logits, torch.tensor([0.0, 1.0, 1.0], dtype=double))
loss.backward()
print(loss, logits.grad)
refused("whole losses", lambda: F.mse_loss(torch.tensor([1, 2]), torch.tensor([3, 4])))

print("targets that are neither 1 nor -1")
for margin in [1.0, 0.25]:
    print(F.hinge_embedding_loss(torch.tensor([0.5, 2.0, -1.0]), torch.tensor([1.0, 0.0, -1.0]), margin, reduction="none"))
p = torch.tensor([0.5, 2.0, 0.1], requires_grad=True)
F.hinge_embedding_loss(p, torch.tensor([1.0, 0.0, -1.0])).backward()
print(p.grad)

print("norms")
for dtype in [half, bfloat, single, double]:
    print(dtype, F.rms_norm(torch.full((1, 4), 0.01).to(dtype), (4,))[0, 0].item())
    layer = torch.nn.RMSNorm(2).to(dtype)
    print(layer(torch.tensor([[0.01, -0.02]], dtype=dtype)).tolist())
m = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
print(torch.linalg.norm(m, dtype=double), torch.linalg.norm(m, 1, dtype=double), torch.linalg.matrix_norm(m, dtype=double), torch.linalg.norm(m, dim=0, dtype=double))

print("squares")
v = torch.tensor([-1.5, 0.1, 3.0, math.inf, math.nan], requires_grad=True)
square = v**2
square.sum().backward()
print(square, v.grad, square.grad_fn.name())
print((torch.arange(5) ** 2).dtype, (torch.arange(5) ** 2.0), torch.tensor([0.1]).to(half) ** 2, torch.pow(torch.tensor(3.0), 2), torch.tensor([0.3], dtype=double).pow(2.0).item())
w = torch.tensor([0.7], requires_grad=True)
[slope] = torch.autograd.grad((w**2).sum(), w, create_graph=True)
print(slope.detach(), torch.autograd.grad(slope.sum(), w))
random = torch.randn(1000, generator=torch.Generator().manual_seed(0))
print(torch.equal(random**2, random * random))

print("numbers")
print(torch.nan_to_num(torch.tensor([complex(math.nan, 1), complex(1, math.inf), complex(-math.inf, math.nan)])))
print(torch.nan_to_num(torch.tensor([complex(math.nan, math.inf)]), nan=2.0, posinf=3.0))
for a, b in [(half, half), (half, torch.int64), (single, double), (bfloat, bfloat)]:
    print(torch.logaddexp2(torch.tensor([1, 2]).to(a), torch.tensor([3, 4]).to(b)).dtype)

print("what is turned around lies in order")
a = torch.arange(6.0).reshape(2, 3)
b = a.flip(0)
print(b.is_contiguous(), b.stride(), a.fliplr().stride(), torch.flip(a, (0, 1)).is_contiguous())
b.reshape(-1).zero_()
print(b, a)
c = a.flip(1)
c.view(-1)[0] = 9.0
print(c)
g = torch.arange(3.0, requires_grad=True)
(g.flip(0) * torch.tensor([1.0, 10.0, 100.0])).sum().backward()
print(g.grad)

print("steps of a scaler")
net = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cpu")
scaler.scale(net(torch.ones(1, 2)).sum()).backward()
scaler.step(opt)
refused("a second step", lambda: scaler.step(opt))
scaler.update()
scaler.scale(net(torch.ones(1, 2)).sum()).backward()
scaler.step(opt)
scaler.update()
print(scaler.get_scale())

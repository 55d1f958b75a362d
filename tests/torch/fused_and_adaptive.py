"""Layers joined with their batch norm, layers without a start, and the softmax over clusters."""


print("# fusion")
CASES = [
    (nn.Conv2d(2, 3, 2), nn.BatchNorm2d(3), (2, 2, 4, 4), {}),
    (nn.Conv1d(2, 3, 2, bias=False), nn.BatchNorm1d(3, eps=0.1), (2, 2, 4), {}),
    (nn.Conv3d(2, 3, 1), nn.BatchNorm3d(3, affine=False), (1, 2, 2, 2, 2), {}),
    (nn.ConvTranspose2d(2, 3, 2), nn.BatchNorm2d(3), (2, 2, 3, 3), {"transpose": True}),
    (nn.Linear(4, 3), nn.BatchNorm1d(3), (2, 4), None),
]
for layer, norm, shape, options in CASES:
    layer, norm, x = filled(layer), filled(norm, 4), values(*shape, seed=7)
    norm(layer(x))
    attempt("training", lambda: nn.utils.fuse_conv_bn_eval(layer, norm))
    layer.eval(), norm.eval()
    if options is None:
        joined = nn.utils.fuse_linear_bn_eval(layer, norm)
    else:
        joined = nn.utils.fuse_conv_bn_eval(layer, norm, **options)
    print(joined, joined is layer, joined.weight.requires_grad, joined.bias.requires_grad)
    show("weight", joined.weight)
    show("bias", joined.bias)
    show("difference", (joined(x) - norm(layer(x))).abs().max() < 1e-12)
refused("sizes", lambda: nn.utils.fuse_linear_bn_eval(nn.Linear(4, 3).eval(), nn.BatchNorm1d(2).eval()))

print("# skip_init")
torch.manual_seed(0)
layer = nn.utils.skip_init(nn.Linear, 5, 2)
print(layer, layer.weight.device, layer.weight.shape, layer.weight.dtype, torch.rand(1).item())
layer = nn.utils.skip_init(nn.Conv2d, in_channels=2, out_channels=3, kernel_size=2, dtype=torch.float64)
print(layer, layer.weight.dtype, layer.weight.is_meta)
attempt("device", lambda: nn.utils.skip_init(nn.ReLU))

print("# AdaptiveLogSoftmaxWithLoss")
for options in [{}, {"div_value": 2.0}, {"head_bias": True}]:
    torch.manual_seed(1)
    layer = nn.AdaptiveLogSoftmaxWithLoss(8, 12, [3, 7], **options)
    print(layer)
    for key, value in layer.state_dict().items():
        show(key, value.double())
    layer = filled(layer)
    x = values(6, 8, seed=9).requires_grad_()
    target = torch.tensor([0, 2, 3, 6, 7, 11])
    result = layer(x, target)
    print(type(result).__name__, result._fields)
    show("result", list(result))
    result.loss.backward()
    show("grads", [parameter.grad for parameter in layer.parameters()])
    show("grad of input", x.grad)
    show("log_prob", layer.log_prob(x))
    show("predict", layer.predict(x * 10))
    show("one", list(layer(x[0], target[3])))
    show("of one kind", list(layer(x[:2], target[:2])))
    layer.reset_parameters()
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.5)
layer = nn.AdaptiveLogSoftmaxWithLoss(8, 12, (3, 7))
x = torch.zeros(2, 8)
attempt("none", lambda: nn.AdaptiveLogSoftmaxWithLoss(8, 12, []))
attempt("order", lambda: nn.AdaptiveLogSoftmaxWithLoss(8, 12, [7, 3]))
attempt("same", lambda: nn.AdaptiveLogSoftmaxWithLoss(8, 12, [3, 3]))
attempt("too large", lambda: nn.AdaptiveLogSoftmaxWithLoss(8, 12, [3, 12]))
attempt("batch", lambda: layer(x, torch.tensor([1])))
attempt("targets", lambda: layer(x, torch.tensor([[1], [2]])))
attempt("rank", lambda: layer(x, torch.tensor(1)))
refused("range", lambda: layer(x, torch.tensor([1, 12])))

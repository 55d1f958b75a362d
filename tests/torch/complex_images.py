# Convolutions of complex numbers over images and sequences: values and gradients of both orders.


def complex_values(*shape, seed):
    return torch.complex(values(*shape, seed=seed), values(*shape, seed=seed + 7))


def shown(name, value):
    show(name, torch.view_as_real(value.detach().resolve_conj()))


def checked(name, function, *operands):
    operands = [it.clone().requires_grad_() for it in operands]
    result = function(*operands)
    shown(name, result)
    weights = complex_values(*result.shape, seed=5)
    grads = torch.autograd.grad((result * result * weights).real.sum(), operands, create_graph=True)
    for at, grad in enumerate(grads):
        shown(f"{name}, gradient {at}", grad)
    for at, grad in enumerate(torch.autograd.grad(sum(it.abs().square().sum() for it in grads), operands)):
        shown(f"{name}, second gradient {at}", grad)


x, w, b = complex_values(2, 2, 4, 3, seed=1), complex_values(2, 2, 2, 2, seed=2), complex_values(2, seed=3)
checked("conv2d", F.conv2d, x, w, b)
checked("conv2d without a bias", lambda x, w: F.conv2d(x, w, stride=2, padding=1), x, w)
checked("conv2d in groups", lambda x, w, b: F.conv2d(x, w, b, groups=2, padding="same"), x, w[:, :1], b)
checked("conv2d of one image", lambda x, w: F.conv2d(x, w, dilation=(2, 1)), x[0], w)
checked("conv_transpose2d", lambda x, w, b: F.conv_transpose2d(x, w, b, stride=(1, 2), output_padding=(0, 1)), x, w, b)
checked("conv1d", lambda x, w, b: F.conv1d(x, w, b, padding=1), x[..., 0], w[..., 0], b)
checked("conv1d of conjugates", lambda x, w: F.conv1d(x.conj(), w), x[..., 0], w[..., 0])
shown("fold", F.fold(complex_values(1, 4, 4, seed=6), 3, 2))

with torch.autocast("cpu", dtype=torch.bfloat16):
    result = F.conv2d(torch.full((1, 1, 2, 2), 1.001 + 0.5j), torch.full((1, 1, 2, 2), 0.999j), torch.ones(1, dtype=torch.complex64))
    print(result.dtype, [f"{it:.4f}" for it in torch.view_as_real(result).flatten()[:2].tolist()])
refused("a real bias", lambda: F.conv2d(x, w, torch.ones(2, dtype=torch.float64)))
refused("a bias of another size", lambda: F.conv2d(x, w, complex_values(3, seed=1)))
refused("real kernels", lambda: F.conv2d(x, w.real))
refused("real images", lambda: F.conv2d(x.real, w))
layer = nn.Conv1d(1, 1, 2, dtype=torch.complex64)
print(layer.weight.dtype, layer(torch.ones(1, 1, 4, dtype=torch.complex64)).dtype)

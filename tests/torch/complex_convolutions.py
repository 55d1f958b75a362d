# Convolutions of complex numbers over volumes, and transposed ones over sequences and volumes: values and gradients.


def complex_values(*shape, seed):
    return torch.complex(values(*shape, seed=seed), values(*shape, seed=seed + 7))


def shown(name, value):
    show(name, torch.view_as_real(value.detach().resolve_conj()))


def checked(name, function, *operands):
    """The result, and the gradients of first and second order."""
    operands = [it if it is None else it.clone().requires_grad_() for it in operands]
    result = function(*operands)
    shown(name, result)
    leaves = [it for it in operands if it is not None]
    weights = complex_values(*result.shape, seed=5)
    grads = torch.autograd.grad((result * result * weights).real.sum(), leaves, create_graph=True)
    for at, grad in enumerate(grads):
        shown(f"{name}, gradient {at}", grad)
    for at, grad in enumerate(torch.autograd.grad(sum(it.abs().square().sum() for it in grads), leaves)):
        shown(f"{name}, second gradient {at}", grad)


x, w, b = complex_values(1, 2, 2, 3, 3, seed=1), complex_values(2, 2, 2, 2, 2, seed=2), complex_values(2, seed=3)
checked("conv3d", F.conv3d, x, w, b)
checked("conv3d without a bias", lambda x, w: F.conv3d(x, w, stride=2, padding=1), x, w)
checked("conv3d in groups", lambda x, w, b: F.conv3d(x, w, b, groups=2, padding="same"), x, w[:, :1], b)
checked("conv_transpose3d", lambda x, w, b: F.conv_transpose3d(x, w, b, stride=(1, 2, 1)), x[:, :, :, :2, :2], w, b)
x, w = x[:, :, 0, 0], w[..., 0, 0]
checked("conv_transpose1d", F.conv_transpose1d, x, w, b)
checked("conv_transpose1d in groups", lambda x, w: F.conv_transpose1d(x, w, stride=2, output_padding=1, groups=2), x, w)
checked("conv_transpose1d of conjugates", lambda x, w, b: F.conv_transpose1d(x.conj(), w, b.conj()), x, w, b)
checked("conv_transpose1d of one sample", F.conv_transpose1d, x[0], w, b)

# Autocast leaves complex numbers alone.
volume, kernels = torch.full((1, 1, 2, 2, 2), 1.001 + 0.5j), torch.full((1, 1, 2, 2, 2), 0.999j)
for half in (torch.bfloat16, torch.float16):
    with torch.autocast("cpu", dtype=half):
        for function in (F.conv3d, F.conv_transpose3d):
            result = function(volume, kernels, torch.ones(1, dtype=torch.complex64))
            print(result.dtype, [f"{it:.4f}" for it in torch.view_as_real(result).flatten()[:2].tolist()])

volume, kernels, line, taps = torch.ones(1, 1, 2, 2, 2), torch.ones(1, 1, 2, 2, 2), torch.ones(1, 1, 4), torch.ones(1, 1, 2)
for a, c, e in (
    (torch.complex64, torch.float32, None), (torch.float32, torch.complex64, None), (torch.complex64, torch.complex64, torch.float32),
    (torch.complex64, torch.complex128, None), (torch.complex128, torch.complex128, torch.complex128),
):
    bias = None if e is None else torch.ones(1, dtype=e)
    refused(f"conv3d {a} {c} {e}", lambda: F.conv3d(volume.to(a), kernels.to(c), bias))
    refused(f"conv_transpose3d {a} {c} {e}", lambda: F.conv_transpose3d(volume.to(a), kernels.to(c), bias))
    refused(f"conv_transpose1d {a} {c} {e}", lambda: F.conv_transpose1d(line.to(a), taps.to(c), bias))

# Layers of complex numbers, and their lengths made 1.
layer = nn.Conv3d(2, 4, 2, dtype=torch.complex64)
print(layer.weight.dtype, layer.weight.requires_grad, layer.bias.dtype)
parameter = nn.Parameter(torch.complex(values(3), values(3, seed=2)))
(parameter.abs() ** 2).sum().backward()
show("gradient of a complex parameter", torch.view_as_real(parameter.grad))
plane = torch.complex(values(2, 3), values(2, 3, seed=2))
for options in ({}, {"p": 1.0, "dim": 0}, {"p": 3.0, "eps": 0.5}):
    leaf = plane.clone().requires_grad_()
    found = F.normalize(leaf, **options)
    show(f"normalize {options}", torch.view_as_real(found))
    (found * plane.flip(0)).abs().sum().backward()
    show(f"normalize {options}, gradient", torch.view_as_real(leaf.grad))

# Fourier transforms: values of every function, sizes, scales and gradients.
from torch import fft


def parts(name, z):
    """A complex result as its parts."""
    if isinstance(z, torch.Tensor) and z.is_complex():
        print(name, str(z.dtype))
        z = torch.stack([z.real, z.imag], -1)
    show(name, torch.round(z.double() * 1e6) / 1e6 + 0.0)


def refused(name, run):
    try:
        run()
        print(name, "taken")
    except Exception as error:
        print(name, type(error).__name__, str(error).split("\n")[0])


x, m = values(7), values(4, 6, seed=2)
z = torch.complex(values(4, 6, seed=3), values(4, 6, seed=4))
for name in ["fft", "ifft", "rfft", "ihfft"]:
    run = getattr(fft, name)
    for norm in (None, "backward", "ortho", "forward"):
        parts(name, run(x, norm=norm))
    for n in (1, 2, 5, 7, 12):
        parts(f"{name} {n}", run(m, n, 0))
        parts(f"{name} {n}", run(m, n=n))
for name in ["fft", "ifft", "irfft", "hfft"]:
    run = getattr(fft, name)
    for norm in (None, "ortho", "forward"):
        parts(name, run(z, norm=norm))
    for n in (1, 2, 5, 8, 12):
        parts(f"{name} {n}", run(z, n, 0))
        parts(f"{name} {n}", run(z, n))
for name in ["fft2", "ifft2", "fftn", "ifftn", "irfft2", "irfftn", "hfft2", "hfftn"]:
    run = getattr(fft, name)
    parts(name, run(z))
    parts(name, run(z, norm="ortho"))
    parts(name, run(z, s=(3, 8)))
    parts(name, run(z, s=(5,), dim=(0,)))
    parts(name, run(z, dim=(1, 0)))
for name in ["fft2", "ifft2", "rfft2", "ihfft2", "fftn", "ifftn", "rfftn", "ihfftn"]:
    run = getattr(fft, name)
    parts(name, run(m))
    parts(name, run(m, s=(3, 8), norm="forward"))
    parts(name, run(m, dim=(1, 0), norm="ortho"))
parts("3d", fft.fftn(values(2, 3, 4)))
parts("3d", fft.rfftn(values(2, 3, 4), s=(3, 4), dim=(0, 2)))
parts("last", fft.fftn(values(2, 3, 4), s=(2, -1)))

# Dtypes.
for dtype in (torch.float32, torch.float64, torch.int64, torch.bool, torch.complex64, torch.complex128):
    print(dtype, fft.fft(torch.ones(4).to(dtype)).dtype, fft.irfft(torch.ones(3).to(dtype)).dtype, fft.ifft(torch.ones(4).to(dtype)).real)
print(fft.rfft(torch.tensor([1, 2, 4, 0])), fft.fft(torch.tensor([1 + 1j, 2, 3])), fft.rfft(torch.ones(2, 0, 4)).shape)

taken = torch.zeros(4, dtype=torch.complex64)
print(fft.fft(torch.tensor([1.0, 2, 4, 0]), out=taken) is taken, taken)

# Frequencies and shifts.
for n in (1, 4, 5):
    print(fft.fftfreq(n), fft.rfftfreq(n), fft.fftfreq(n, 0.5), fft.rfftfreq(n, d=2.0, dtype=torch.float64))
    print(fft.fftshift(fft.fftfreq(n)), fft.ifftshift(torch.arange(n)))
print(fft.fftshift(torch.arange(12).reshape(3, 4)), fft.fftshift(torch.arange(12).reshape(3, 4), dim=0), fft.ifftshift(torch.arange(12).reshape(3, 4), (1,)))

# There and back, and what a filter does.
print(torch.allclose(fft.irfft(fft.rfft(x), n=7), x), torch.allclose(fft.ifftn(fft.fftn(z)), z), torch.allclose(fft.ihfft(fft.hfft(z[0], 10)), z[0]) or "imaginary ends")
t = torch.arange(64) / 64
wave = torch.sin(2 * torch.pi * 3 * t) + 0.5 * torch.sin(2 * torch.pi * 20 * t)
spectrum = fft.rfft(wave)
print(spectrum.abs().topk(2).indices, torch.where(torch.arange(33) < 10, spectrum, 0).abs().argmax())
a, b = torch.zeros(16), torch.zeros(16)
a[:3], b[:4] = torch.tensor([1.0, 2, 3]), torch.tensor([1.0, -1, 0.5, 2])
print(torch.round(fft.irfft(fft.rfft(a) * fft.rfft(b), n=16), decimals=4)[:6])
print(fft.fft(torch.arange(97.0)).abs().sum().item() > 0, torch.allclose(fft.ifft(fft.fft(values(1009))).real, values(1009)))

# Gradients, of first and second order.
for name, run, data in [("fft", lambda x: fft.fft(x), x), ("ifft", lambda x: fft.ifft(x, 9, norm="ortho"), x), ("rfft", lambda x: fft.rfft(x), x), ("rfft", lambda x: fft.rfft(x, 10), x),
                        ("rfft2", lambda x: fft.rfft2(x), m), ("irfft", lambda x: fft.irfft(x), m), ("irfft", lambda x: fft.irfft(x, 9), m), ("hfft", lambda x: fft.hfft(x, norm="ortho"), m),
                        ("ihfft", lambda x: fft.ihfft(x), m), ("irfftn", lambda x: fft.irfftn(x, s=(4, 9)), m), ("fftn", lambda x: fft.fftn(x, dim=0), m)]:
    leaf = data.clone().requires_grad_()
    out = run(leaf)
    out = torch.stack([out.real, out.imag], -1) if out.is_complex() else out
    (grad,) = torch.autograd.grad((out * values(*out.shape, seed=9)).sum() + (out**3).sum(), leaf, create_graph=True)
    parts(f"d {name}", grad.detach())
    parts(f"dd {name}", torch.autograd.grad((grad * values(*grad.shape, seed=3)).sum(), leaf)[0])
leaf = z.clone().requires_grad_()
(fft.fft2(leaf).abs() ** 2).sum().backward()
parts("d z", leaf.grad)
leaf = z.clone().requires_grad_()
fft.irfft(leaf).pow(2).sum().backward()
parts("d irfft", leaf.grad)

# What is refused.
refused("norm", lambda: fft.fft(x, norm="other"))
refused("size", lambda: fft.fft(x, 0))
refused("size", lambda: fft.irfft(x, 0))
refused("empty", lambda: fft.fft(torch.ones(0)))
refused("dim", lambda: fft.fft(x, dim=1))
refused("dims", lambda: fft.fftn(m, dim=(0, 0)))
refused("sizes", lambda: fft.fftn(m, s=(1, 2, 3)))
refused("sizes", lambda: fft.fftn(m, s=(1, 2), dim=(0,)))
refused("real", lambda: fft.rfft(z))
refused("real", lambda: fft.ihfft(z))
refused("none", lambda: fft.rfftn(m, dim=()))
refused("n", lambda: fft.fft(x, n="a"))
refused("out", lambda: fft.fft(x, out=torch.ones(7)))
refused("out", lambda: fft.rfft(x, out=torch.ones(4, dtype=torch.float64)))
refused("out", lambda: fft.irfft(x, out=torch.ones(12, dtype=torch.complex64)))

"""Tensors of unlike dtypes together; numbers of one kind in a dtype of another."""

whole, flag, real, wide = torch.tensor([1, 2]), torch.tensor([True, False]), values(2).float(), values(2)
single, double = torch.complex(real, real), torch.complex(wide, wide)


def parts(name, value):
    value = value.detach().resolve_conj()
    print(name, value.dtype, list(value.shape))
    show(name, torch.view_as_real(value) if value.is_complex() else value)


print("# joined")
for first in (whole, flag, real, wide, single, double):
    for second in (single, double):
        parts(f"cat {first.dtype} {second.dtype}", torch.cat([first, second]))
        parts(f"cat {second.dtype} {first.dtype}", torch.cat([second, first]))
parts("stack", torch.stack([whole, single]))
parts("hstack", torch.hstack([wide, single]))
parts("vstack", torch.vstack([flag, single]))
parts("block_diag", torch.block_diag(whole, single))
x, z = wide.clone().requires_grad_(), single.clone().requires_grad_()
torch.cat([x, z]).abs().sum().backward()
parts("gradient of the real part", x.grad)
parts("gradient of the complex part", z.grad)

print("# arange in integers")
for bounds in ((0, 5, 1.5), (2.1, -2.9, -1), (1.5, 4.5), (0.5, 3.2, 0.5), (-2.5, 2.5), (3.7,), (0.9, 10, 2.9), (1, 7, 2)):
    for dtype in (torch.int64, torch.int32, torch.uint8, torch.float32):
        if dtype != torch.uint8 or bounds[0] >= 0 and bounds != (2.1, -2.9, -1):
            show(f"arange{bounds}", torch.arange(*bounds, dtype=dtype))

print("# complex")
a, b = torch.complex(values(2, 3), values(2, 3, seed=2)), torch.complex(values(2, 3, seed=3), values(2, 3, seed=4))
parts("vecdot", torch.linalg.vecdot(a, b))
parts("vecdot along", torch.linalg.vecdot(a, b, dim=0))
parts("vecdot of reals", torch.linalg.vecdot(values(2, 3), values(2, 3, seed=3)))
p, q = a.clone().requires_grad_(), b.clone().requires_grad_()
torch.linalg.vecdot(p, q).abs().sum().backward()
parts("vecdot, gradient", p.grad)
parts("vecdot, other gradient", q.grad)
parts("float_power", torch.float_power(a, 2))
parts("float_power by complex", torch.float_power(values(2, 3), a))
parts("float_power of a number", torch.float_power(torch.tensor(2.0), torch.tensor([1.0, 2.0])))
parts("float_power of ints", torch.float_power(torch.tensor([2, 3]), 2))
parts("float_power by a number", torch.float_power(2, torch.tensor([2, 3])))
parts("ldexp", torch.ldexp(values(2, 3), a))
parts("ldexp of complex", torch.ldexp(a, torch.tensor([1, 2, 3])))

print("# one value for many places")
v = torch.tensor(0.5, dtype=torch.float64)
graded("index_fill", lambda x, v: x.index_fill(0, torch.tensor([0, 2, 0]), v), values(3, 2), v)
show("index_fill from the end", values(3, 2).index_fill(1, torch.tensor([-1]), v))

"""Powers with complex exponents: of numbers of the program, of 0, of 1; and what `alpha` may be beside complex and real tensors."""


def told(name, function):
    try:
        result = function()
    except RuntimeError:
        print(name, "is refused")
        return
    print(name, result.dtype, list(result.shape))
    show(name, torch.view_as_real(result.detach()) if result.is_complex() else result)


def slope(base, exponent):
    exponent = exponent.clone().requires_grad_()
    power = base**exponent
    (power.real * 2 + power.imag).sum().backward()
    return exponent.grad


z = torch.tensor([1 + 2j, -0.5j, 2 + 0j, 0.25 - 1j, -3 + 0.5j], dtype=torch.complex128)
for base in (-3, -3.5, 2, 0.1, 2j, -1 + 1j, 1):
    told(f"{base} ** z", lambda: base**z)
    told(f"pow({base}, z)", lambda: torch.pow(base, z))
    told(f"{base} ** z in complex64", lambda: base ** z.to(torch.complex64))
    told(f"slope of {base} ** z", lambda: slope(base, z))
told("float_power", lambda: torch.float_power(-3, z.to(torch.complex64)))
told("real ** z", lambda: torch.tensor([-3.0, 2.0], dtype=torch.float64) ** z[:2])
told("whole ** z", lambda: torch.tensor([-3, 2]) ** z[:2])
told("1j ** whole", lambda: 1j ** torch.tensor([1, 2]))
told("1j ** real", lambda: (1 + 1j) ** torch.tensor([1.5], dtype=torch.float64))
told("1 ** inf", lambda: 1 ** torch.tensor([complex(math.inf, 0), complex(math.nan, 1)]))

print("# of 0")
powers = torch.tensor([1 + 1j, 2, -1, -1 + 1j, 0, -0.5j, 0.5j, 1e-3 - 1j], dtype=torch.complex128)
for name, power in (
    ("complex", torch.zeros(8, dtype=torch.complex128) ** powers),
    ("real", torch.zeros(8, dtype=torch.float64) ** powers),
    ("number", 0**powers),
    ("to a number", torch.zeros(2, dtype=torch.complex128) ** -1.5),
    ("to 0", torch.zeros(2, dtype=torch.complex128) ** 0),
    ("to j", torch.zeros(2, dtype=torch.complex128) ** 1j),
):
    show(name, torch.view_as_real(power).abs())

print("# alpha")
whole, real = torch.tensor([1, -2]), torch.tensor([1.5, 2.0])
for name, one, other in (("complex", z[:2], real), ("real", real, whole), ("whole", whole, whole)):
    for alpha in (2, 0.5, 1 - 2j):
        told(f"add {name} {alpha}", lambda: torch.add(one, other, alpha=alpha))
        told(f"sub {name} {alpha}", lambda: torch.sub(one, other, alpha=alpha))

# Functions of `torch` that take numbers apart: gcd, lcm, frexp, ldexp, nextafter, and methods of those in torch.special.
a = torch.tensor([12, -18, 0, 7, 0, 1000000, 48, -5])
b = torch.tensor([18, 12, 5, 0, 0, 15625, -36, -15])
print(torch.gcd(a, b), torch.lcm(a, b), a.gcd(b), a.lcm(b), torch.gcd(a.unsqueeze(1)[:3], b[:2]), torch.gcd(a, torch.tensor(6)))
print(torch.gcd(a.to(torch.int32), b.to(torch.int16)).dtype, torch.lcm(a.to(torch.int8), b.to(torch.int8))[:4])
print(a.clone().gcd_(b), a.clone().lcm_(b))

x = torch.tensor([0.0, 1.0, -1.0, 0.75, 5.5, 1e-300, 5e-324, 1e308, math.inf, -math.inf, math.nan, 8.0, 7.999999999999999], dtype=torch.float64)
print(torch.frexp(x), torch.frexp(x.float()), x.frexp().exponent.dtype, torch.frexp(torch.tensor([1.0, 6.0]).half()))
mantissa, exponent = torch.frexp(values(6) * 1e5)
print(torch.ldexp(mantissa, exponent).equal(values(6) * 1e5), torch.ldexp(torch.tensor([1, 2, 3]), torch.tensor([3, -1, 0])), torch.tensor([1.5]).ldexp(torch.tensor(4)))
for towards in (math.inf, -math.inf, 0.0):
    for dtype in (torch.float64, torch.float32):
        step = torch.nextafter(x.to(dtype), torch.tensor(towards, dtype=dtype))
        print([f"{it:.17g}" for it in step.tolist()])
print(torch.nextafter(torch.tensor([1.0, 2.0], dtype=torch.bfloat16), torch.tensor([2.0, 1.0], dtype=torch.bfloat16)))
graded("frexp", lambda x: torch.frexp(x)[0], values(6) * 100)
graded("ldexp", torch.ldexp, values(6), values(6, seed=2))

y = values(5).abs() + 2.5
show("i0", y.i0())
show("i0", torch.i0(y))
show("polygamma", y.polygamma(2))
show("polygamma", torch.polygamma(1, y))
show("mvlgamma", y.mvlgamma(3))
show("mvlgamma", torch.mvlgamma(y, 2))
show("igamma", torch.igamma(y, y + 1))
show("igamma", y.igamma(y + 1))
show("igammac", torch.igammac(y, y + 1))
show("igammac", y.igammac(y + 1))
for name, others in (("i0_", ()), ("polygamma_", (1,)), ("mvlgamma_", (2,)), ("igamma_", (y + 1,)), ("igammac_", (y + 1,)), ("ldexp_", (torch.tensor(2),)), ("nextafter_", (y + 1,))):
    z = y.clone()
    print(name, getattr(z, name)(*others) is z)
    show(name, z)

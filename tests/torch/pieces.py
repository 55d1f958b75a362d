# Large tensors are computed piece by piece: the same as small ones, and as the whole.
torch.manual_seed(3)
n = 3 * 2**17 + 5
x = torch.rand(n) * 3 + 0.1
signed = torch.randn(n)
share = torch.rand(n) * 0.98 + 0.01


def in_parts(function, x):
    return torch.cat([function(part) for part in x.split(1000)])


for name in ["lgamma", "digamma", "i0", "sinc", "erfc"]:
    function = getattr(torch, name)
    for values in (x, signed.double(), x.half()):
        found = function(values)
        print(name, found.dtype, torch.allclose(found, in_parts(function, values), equal_nan=True), found.shape == values.shape)
for n_th in (1, 2):
    print(torch.allclose(torch.polygamma(n_th, x), in_parts(lambda part: torch.polygamma(n_th, part), x)))
print(torch.lgamma(torch.arange(1, n)).dtype, torch.special.i1e(x.view(5, -1).t() if n % 5 == 0 else x).shape == (n,))

# In place.
for name, args in [
    ("lgamma_", ()), ("digamma_", ()), ("i0_", ()), ("sinc_", ()), ("nan_to_num_", (7.0,)), ("copysign_", (-2.0,)), ("rad2deg_", ()),
    ("deg2rad_", ()), ("sgn_", ()), ("logit_", (1e-3,)), ("copysign_", (torch.tensor(-1.0),)), ("copysign_", (signed,)),
]:
    y = share.clone()
    y[7] = float("nan")
    expected = getattr(torch, name[:-1])(y, *args)
    found = getattr(y, name)(*args)
    print(name, found is y, torch.equal(y.nan_to_num(9.0), expected.nan_to_num(9.0)))
y = share.clone()
print("polygamma_", y.polygamma_(2) is y, torch.allclose(y, torch.polygamma(2, share)))
for shape in [(n,), (7, 300, 200), (3, 20, 9000), (2, 70000, 3), (70000, 3), (150, 2000)]:
    m = torch.randn(shape)
    for dim in range(len(shape)):
        print(shape, dim, torch.equal(m.clone().cumsum_(dim), m.cumsum(dim)), torch.equal(m.clone().cumprod_(dim - len(shape)), m.cumprod(dim)))
    if len(shape) > 1:
        for at in (0, 3, -2):
            print(torch.equal(m.clone().tril_(at), m.tril(at)), torch.equal(m.clone().triu_(diagonal=at), m.triu(at)))
turned = torch.randn(200, 100).t()
print(torch.equal(turned.clone().cumsum_(0), turned.cumsum(0)), torch.equal(turned.clone().tril_(), turned.tril()))
y = torch.zeros(200, 100)
print(y.put_(torch.tensor([[1, -1]]), torch.tensor([[2.0, 3.0]])) is y, y[0, 1].item(), y[-1, -1].item(), y.sum().item())
print(y.put_(torch.tensor([1, 1]), torch.tensor([2.0, 3.0]), accumulate=True)[0, 1].item())
y = torch.zeros(100, 200).t()
print(y.put_(torch.tensor([1]), torch.tensor([4.0]))[0, 1].item(), y.sum().item())

# What is refused changes nothing, and the tape hears of all.
whole = torch.ones(n, dtype=torch.int64)
try:
    whole.lgamma_()
except RuntimeError as error:
    print("RuntimeError", whole.sum().item() == n)
w = share.clone().requires_grad_()
try:
    w.logit_()
except RuntimeError as error:
    print("RuntimeError")
y = w * 1
y.sinc_()
y.sum().backward()
print(y.grad_fn is not None, w.grad.shape == w.shape, torch.isfinite(w.grad).all().item())
with torch.no_grad():
    w.rad2deg_()
print(w.requires_grad, torch.allclose(w, share * 180 / math.pi))
y = torch.lgamma(w)
print(y.requires_grad, y.shape == w.shape)

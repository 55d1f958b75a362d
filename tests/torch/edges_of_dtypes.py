"""Limits, extremes and dtypes that meet: histograms of what is not finite, tensors as numbers, the next number, masks, losses of unlike dtypes."""


def told(name, function):
    try:
        result = function()
    except (RuntimeError, TypeError):
        print(name, "is refused")
        return
    print(name, result.dtype, result.tolist())


inf, nan = math.inf, math.nan
print("# histc")
told("inf", lambda: torch.histc(torch.tensor([1.0, inf, 2.0]), 4))
told("nan", lambda: torch.histc(torch.tensor([1.0, nan, 2.0]), 4))
told("both outside", lambda: torch.histc(torch.tensor([1.0, inf, nan, 2.0, -inf]), 4, min=0, max=3))
told("infinite end", lambda: torch.histc(torch.tensor([1.0, 2.0]), 4, min=0, max=inf))
told("ends the wrong way round", lambda: torch.histc(torch.tensor([1.0, 2.0]), 4, min=3, max=1))
told("one value", lambda: torch.histc(torch.tensor([1.0, 1.0]), 4))
told("nothing", lambda: torch.histc(torch.tensor([]), 4))
told("no bins", lambda: torch.histc(torch.tensor([1.0, 2.0]), 0))
told("whole numbers", lambda: torch.histc(torch.tensor([1, 2]), 4))
told("equal ends", lambda: torch.histc(torch.tensor([1.0, nan, 2.0]), 3, min=1, max=1))

print("# full")
for fill in (torch.tensor(3), torch.tensor(3.5), torch.tensor(3.5, dtype=torch.float64), torch.tensor(True), torch.tensor(1j), torch.tensor(-2, dtype=torch.int8)):
    told(f"full {fill}", lambda: torch.full((2,), fill))
    told(f"full {fill} of a dtype", lambda: torch.full((2,), fill, dtype=torch.complex64))
    told(f"full_like {fill}", lambda: torch.full_like(torch.zeros(2, dtype=torch.complex64), fill))
told("full of several", lambda: torch.full((2,), torch.tensor([3, 4])))

print("# nextafter")
for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.int64):
    starts = torch.tensor([1, 0, -0.0, 2, 60000, inf, nan, -1, -inf, 0.5], dtype=torch.float64).nan_to_num(7.0, 9.0, 9.0) if dtype == torch.int64 else torch.tensor([1, 0, -0.0, 2, 60000, inf, nan, -1, -inf, 0.5])
    ends = torch.tensor([2, 1, -1, 1, inf, 0, 1, nan, 3, 0.25])
    told(f"nextafter {dtype}", lambda: torch.nextafter(starts.to(dtype), ends.to(dtype) if dtype != torch.int64 else starts.to(dtype)))
told("nextafter of sizes", lambda: torch.nextafter(torch.zeros(3), torch.zeros(4)))
told("largest half", lambda: torch.nextafter(torch.tensor([65504.0], dtype=torch.float16), torch.tensor([inf], dtype=torch.float16)))

print("# finfo")
for dtype in (torch.complex64, torch.complex128):
    limits = torch.finfo(dtype)
    print(limits, limits.bits, limits.eps, limits.max)

print("# cosine_similarity")
one, other = torch.tensor([[1.0, 2.0]]), torch.tensor([[3, 4]])
for first in (torch.float32, torch.float64, torch.int64, torch.int8):
    for second in (torch.float32, torch.float64, torch.int64, torch.bool):
        told(f"{first} {second}", lambda: F.cosine_similarity(one.to(first), other.to(second)))

print("# masks of attention")
q = torch.sin(torch.arange(24.0)).reshape(1, 2, 3, 4)
for dtype in (torch.float32, torch.float64):
    for of_mask in (torch.float32, torch.float64, torch.float16, torch.int64, torch.bool, torch.int8, torch.complex64):
        mask = torch.tensor([[1, 0, 1], [1, 1, 1], [0, 1, 1]]).to(of_mask)
        x = q.to(dtype)
        told(f"{dtype} {of_mask}", lambda: F.scaled_dot_product_attention(x, x, x, attn_mask=mask).sum())

print("# losses")
for first in (torch.float16, torch.float32, torch.float64, torch.int64):
    for second in (torch.float16, torch.float32, torch.float64, torch.int64, torch.bool):
        x, y = torch.tensor([1.0, 2.0]).to(first), torch.tensor([1.0, 4.0]).to(second)
        for name in ("huber_loss", "smooth_l1_loss"):
            for reduction in ("mean", "none", "sum"):
                told(f"{name} {reduction} {first} {second}", lambda: getattr(F, name)(x, y, reduction=reduction))

print("# sums that are stored")
floats, whole = torch.tensor([1.5, 2.25]), torch.tensor([3, 200])


def stored(function, dtype, *shape):
    out = torch.zeros(shape, dtype=dtype)
    function(out)
    return out


for dtype in (torch.int64, torch.int32, torch.uint8, torch.bool, torch.float64, torch.float16):
    for name, x in (("floats", floats), ("whole", whole)):
        told(f"sum {name} {dtype}", lambda: stored(lambda out: torch.sum(x, 0, out=out), dtype))
        told(f"sum of a dtype {name} {dtype}", lambda: stored(lambda out: torch.sum(x, 0, dtype=dtype, out=out), dtype))
        told(f"prod {name} {dtype}", lambda: stored(lambda out: torch.prod(x, 0, out=out), dtype))
        if x is floats:
            told(f"mean {dtype}", lambda: stored(lambda out: torch.mean(x, 0, out=out), dtype))
        if dtype != torch.bool:
            told(f"cumsum {name} {dtype}", lambda: stored(lambda out: torch.cumsum(x, 0, out=out), dtype, 2))
            told(f"cumprod {name} {dtype}", lambda: stored(lambda out: torch.cumprod(x, 0, out=out), dtype, 2))
told("nansum", lambda: stored(lambda out: torch.nansum(torch.tensor([1.0, nan]), 0, out=out), torch.float64))
told("zeros of complex numbers", lambda: torch.tensor([0j, complex(-0.0, 0.0), 2j, 1 + 0j], dtype=torch.complex128).nonzero().reshape(-1))
told("of two floats", lambda: torch.tensor([complex(-0.0, -0.0), 2j, 1 + 0j], dtype=torch.complex64).nonzero().reshape(-1))

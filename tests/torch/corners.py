"""Values at the corners of functions: zeros, ends of domains, NaN, options that are seldom written, dtypes with few numbers."""


def double(*numbers):
    return torch.tensor(numbers, dtype=torch.float64)


print("# inverse and complement of erf, digamma, copysign")
graded("erfinv", torch.erfinv, double(-0.999999, -0.5, -1e-9, 0.0, 1e-300, 0.3, 0.9, 1 - 1e-12))
graded("erfinv at the ends", torch.erfinv, double(-1.0, 1.0, 1.5, math.nan))
attempt("erfinv of ints", lambda: torch.erfinv(torch.tensor([0, 1, -1])))
graded("erfc", torch.erfc, double(-30.0, -2.0, 0.0, 0.4, 0.6, 1.5, 3.0, 5.0))
far = torch.erfc(double(6.0, 7.5, 10.0, 20.0, 26.0, 27.0))
print("erfc, far out", " ".join(f"{it:.9e}" for it in far.tolist()))
print("erfc of float32", " ".join(f"{it:.4e}" for it in torch.erfc(torch.tensor([5.0, 8.0, 9.0, 10.0])).tolist()))
graded("digamma", torch.digamma, double(0.3, 1.0, -0.5, -2.5, 20.0))
print("digamma at its poles", torch.digamma(double(0.0, -0.0, -1.0, -2.0, math.inf, -math.inf, math.nan)))
graded("lgamma", torch.lgamma, double(0.3, 1.0, 2.0, -0.5, -2.5, 20.0))
print("lgamma at its poles", torch.lgamma(double(0.0, -0.0, -1.0, -2.0, math.inf, -math.inf, math.nan)))
show("copysign of ints", torch.copysign(torch.tensor([1, -2, 3]), torch.tensor([-1, 1, -1])))
show("copysign of ints and a number", torch.copysign(torch.tensor([1, -2, 3]), -2))
show("copysign of ints and a float", torch.copysign(torch.tensor([1, -2, 3]), -0.0))
show("copysign of bools", torch.copysign(torch.tensor([True, False]), torch.tensor([-1.0, 2.0], dtype=torch.float64)))
graded("copysign", lambda x: torch.copysign(x, double(-1.0, 1.0, -1.0, -0.0)), double(1.0, -2.0, 0.0, 3.0))
show("copysign broadcasts", torch.copysign(double(1.0, 2.0), torch.tensor([[-1.0], [1.0]])))

print("# norms at zero")
for p in (0.5, 1, 1.5, 2, 3, math.inf, -math.inf, -1):
    graded(f"vector_norm {p}", lambda x: torch.linalg.vector_norm(x, p), double(0.0, 0.0, 0.0))
    graded(f"vector_norm {p} of some", lambda x: torch.linalg.vector_norm(x, p, dim=1), double(0.0, 0.0, 3.0, -4.0, 0.0, 2.0).reshape(3, 2))
    graded(f"norm {p}", lambda x: torch.norm(x, p, dim=1), double(0.0, 0.0, 3.0, -4.0).reshape(2, 2))
    graded(f"pdist {p}", lambda x: F.pdist(x, p), torch.ones(3, 2, dtype=torch.float64)) if p >= 0 else None
show("norms of order 0", [torch.linalg.vector_norm(values(2, 3), 0), torch.norm(torch.zeros(3, dtype=torch.float64), 0)])
graded("pdist 0", lambda x: F.pdist(x, 0), torch.ones(3, 2, dtype=torch.float64))
graded("linalg.norm", torch.linalg.norm, torch.zeros(2, 2, dtype=torch.float64))
graded("matrix_norm", torch.linalg.matrix_norm, torch.zeros(2, 2, dtype=torch.float64))
graded("norm", torch.norm, torch.zeros(2, 2, dtype=torch.float64))
graded("pdist", F.pdist, double(1.0, 2.0, 1.0, 2.0, 3.0, 5.0).reshape(3, 2))
graded("pairwise_distance", lambda x, y: F.pairwise_distance(x, y, eps=0.0), torch.ones(2, 2, dtype=torch.float64), torch.ones(2, 2, dtype=torch.float64))
graded("dist", torch.dist, torch.ones(2, dtype=torch.float64), torch.ones(2, dtype=torch.float64))
graded("renorm", lambda x: torch.renorm(x, 2, 0, 1.0), double(0.0, 0.0, 3.0, 4.0).reshape(2, 2))
for order in (None, 2, 1, math.inf, "fro", "nuc", -1):
    show(f"linalg.norm {order} keepdim", torch.linalg.norm(values(2, 3), order, keepdim=True))
for order in (None, 2, 1, math.inf, 0):
    show(f"linalg.norm {order} of a vector keepdim", torch.linalg.norm(values(3), order, keepdim=True))
    show(f"vector_norm {order} keepdim", torch.linalg.vector_norm(values(2, 3), 2 if order is None else order, keepdim=True))
show("linalg.norm keepdim of three", torch.linalg.norm(values(2, 3, 2), keepdim=True))
show("linalg.norm dims", torch.linalg.norm(values(2, 3, 2), 1, [0, 2], True))
show("linalg.norm lists", torch.linalg.norm(values(2, 3, 2), dim=[0, 2], keepdim=True))
show("norm keepdim", torch.norm(values(2, 3), keepdim=True))
show("norm fro keepdim", torch.norm(values(2, 3), "fro", dim=(0, 1), keepdim=True))

print("# a bool is no dimension")
x = values(3, 4)
for name in "std var".split():
    for free in (True, False):
        show(f"{name} {free}", getattr(torch, name)(x, free))
        show(f"x.{name} {free}", getattr(x, name)(free))
        show(f"{name} unbiased={free}", getattr(torch, name)(x, unbiased=free))
        show(f"{name} 1, {free}", getattr(torch, name)(x, 1, free))
        show(f"{name} 1, {free}, True", getattr(torch, name)(x, 1, free, True))
        show(f"{name} 1, unbiased={free}", getattr(torch, name)(x, dim=1, unbiased=free, keepdim=True))
        show(f"{name}_mean {free}", getattr(torch, f"{name}_mean")(x, free))
        show(f"{name}_mean unbiased={free}", getattr(torch, f"{name}_mean")(x, unbiased=free))
        show(f"{name}_mean 1, {free}", getattr(torch, f"{name}_mean")(x, 1, free))
        show(f"{name}_mean 1, {free}, True", getattr(torch, f"{name}_mean")(x, (0, 1), free, True))
        show(f"{name}_mean 1, unbiased={free}", getattr(torch, f"{name}_mean")(x, dim=1, unbiased=free, keepdim=True))
    for correction in (0, 1, 2, 0.5, 1.5, None, 12, 13):
        show(f"{name} correction={correction}", getattr(torch, name)(x, correction=correction))
        show(f"{name} 1, correction={correction}", getattr(x, name)(1, correction=correction, keepdim=True))
        show(f"{name}_mean correction={correction}", getattr(torch, f"{name}_mean")(x, dim=0, correction=correction))
        graded(f"{name} gradient {correction}", lambda x: getattr(torch, name)(x, dim=1, correction=correction), x)

print("# what is multiplied by 0 is not there")
nan = torch.full((2, 3), math.nan, dtype=torch.float64)
a, b = values(2, 2), values(2, 3, seed=2)
graded("addmm beta=0", lambda x, a, b: torch.addmm(x, a, b, beta=0), nan, a, b)
graded("addmm beta=0.0", lambda x, a, b: torch.addmm(x, a, b, beta=0.0, alpha=2), nan, a, b)
graded("addmm of a row", lambda x, a, b: torch.addmm(x, a, b, beta=0), nan[0], a, b)
graded("baddbmm", lambda x, a, b: torch.baddbmm(x, a, b, beta=0), nan.reshape(1, 2, 3), a.reshape(1, 2, 2), b.reshape(1, 2, 3))
graded("addbmm", lambda x, a, b: torch.addbmm(x, a, b, beta=0), nan, a.reshape(1, 2, 2), b.reshape(1, 2, 3))
graded("addmv", lambda x, a, b: torch.addmv(x, a, b, beta=0), nan[0, :2], a, b[:, 0])
graded("addr", lambda x, a, b: torch.addr(x, a, b, beta=0), nan, a[0], b[0])
show("x.addmm", nan.addmm(a, b, beta=0))
whole = torch.arange(6).reshape(2, 3)
show("addmm of ints", torch.addmm(whole, whole[:, :2], whole))
show("addmm of ints, weighed", torch.addmm(whole, whole[:, :2], whole, beta=2, alpha=3))
show("addmm of large ints", torch.addmm(torch.tensor([[2**60]]), torch.tensor([[2**55]]), torch.tensor([[3]])))
show("baddbmm of ints", torch.baddbmm(whole.reshape(1, 2, 3), whole[:, :2].reshape(1, 2, 2), whole.reshape(1, 2, 3), beta=2, alpha=-1))
show("addmv of ints", torch.addmv(whole[:, 0], whole, whole[0], beta=2, alpha=3))
show("addr of ints", torch.addr(whole, whole[0, :2], whole[1], beta=2, alpha=3))

print("# medians with NaN")
holes = torch.tensor([[1.0, math.nan, 3.0], [4.0, 2.0, 9.0], [math.nan, math.nan, 0.0]], dtype=torch.float64)
for name in "median nanmedian".split():
    show(name, getattr(torch, name)(holes))
    show(f"{name} of numbers", getattr(torch, name)(holes[1]))
    show(f"{name} 0", tuple(getattr(torch, name)(holes, 0)))
    show(f"{name} 1", tuple(getattr(torch, name)(holes, 1, keepdim=True)))
    graded(f"{name} gradient", lambda x: getattr(torch, name)(x, 1)[0], holes)
    graded(f"{name} of all", getattr(torch, name), holes)
    graded(f"{name} of equals", getattr(torch, name), double(2.0, 1.0, 2.0, 3.0, 2.0))
    show(f"{name} of nothing", getattr(torch, name)(torch.zeros(0)))
    show(f"{name} of whole numbers", getattr(torch, name)(torch.tensor([5, 1, 4, 2])))
for name in "kthvalue mode".split():
    show(name, tuple(torch.kthvalue(holes, 2) if name == "kthvalue" else torch.mode(holes[1:2])))
for name in "sort argsort cummax cummin max min amax amin argmax argmin".split():
    found = getattr(torch, name)(holes, 1) if name != "argsort" else torch.argsort(holes, dim=1, stable=True)
    show(name, tuple(found) if not isinstance(found, torch.Tensor) else found)
show("sort down", tuple(torch.sort(holes, 1, descending=True)))
show("topk", tuple(torch.topk(holes, 2)))
show("quantile", torch.quantile(holes, 0.5, dim=1))
show("nanquantile", torch.nanquantile(holes, 0.5, dim=1))

print("# images")
image = values(1, 2, 5, 7)
for mode in ("nearest", "bilinear", "bicubic", "area", "nearest-exact"):
    for again in (None, True, False):
        graded(f"interpolate {mode} {again}", lambda x: F.interpolate(x, scale_factor=1.7, mode=mode, recompute_scale_factor=again), image)
        graded(f"interpolate {mode} {again}, two", lambda x: F.interpolate(x, scale_factor=(0.6, 1.3), mode=mode, recompute_scale_factor=again), image)
for align in (True, False):
    graded(f"interpolate aligned {align}", lambda x: F.interpolate(x, scale_factor=1.7, mode="bilinear", align_corners=align, recompute_scale_factor=True), image)
graded("interpolate linear", lambda x: F.interpolate(x, scale_factor=1.7, mode="linear", recompute_scale_factor=True), image[0])
for dims in (1, 2, 3):
    pooled = values(1, 2, *(5, 6, 4)[:dims])
    function = getattr(F, f"adaptive_max_pool{dims}d")
    graded(f"adaptive_max_pool{dims}d", lambda x: function(x, (2, 3, 2)[:dims], return_indices=True)[0], pooled)
    show(f"adaptive_max_pool{dims}d", tuple(function(pooled, (2, 3, 2)[:dims], return_indices=True)))
    show(f"adaptive_max_pool{dims}d, a number", tuple(function(pooled, 2, True)))
    show(f"adaptive_max_pool{dims}d, plain", function(pooled, 2))
    show(f"AdaptiveMaxPool{dims}d", tuple(getattr(nn, f"AdaptiveMaxPool{dims}d")(2, return_indices=True)(pooled)))
    show(f"max_pool{dims}d", tuple(getattr(F, f"max_pool{dims}d")(pooled, 2, 1, return_indices=True)))
    show(f"MaxPool{dims}d", tuple(getattr(nn, f"MaxPool{dims}d")(2, return_indices=True)(pooled)))
for pad in ((-1, 2), (2, -1), (-2, -1), (3, -2), (1, -1, -1, 2)):
    for mode in ("circular", "reflect", "replicate", "constant"):
        if len(pad) == 2 or mode != "constant":
            graded(f"pad {pad} {mode}", lambda x: F.pad(x, pad, mode), values(1, 2, 5) if len(pad) == 2 else values(1, 1, 3, 5))

print("# cosine_similarity broadcasts")
graded("cosine_similarity", lambda x, y: F.cosine_similarity(x, y), values(3, 1, 4), values(1, 2, 4, seed=2))
graded("cosine_similarity -1", lambda x, y: F.cosine_similarity(x, y, dim=-1), values(3, 1, 4), values(2, 4, seed=2))
graded("cosine_similarity of one", lambda x, y: F.cosine_similarity(x, y, dim=1), values(3, 4), values(1, 4, seed=2))
graded("cosine_similarity of rows", lambda x, y: F.cosine_similarity(x, y, dim=0), values(3, 4), values(4, seed=2))
graded("cosine_similarity at zero", lambda x, y: F.cosine_similarity(x, y, dim=0), torch.zeros(3, dtype=torch.float64), values(3))
graded("cosine_similarity of thin", lambda x, y: F.cosine_similarity(x, y, dim=0), values(1, 3), values(2, 3))

print("# differences")
for n in (0, 1, 2, 5):
    show(f"diff {n}", torch.diff(values(4), n))
    show(f"diff {n} prepend", torch.diff(values(4), n, prepend=double(7.0)))
    show(f"diff {n} both", torch.diff(values(2, 4), n, prepend=values(2, 2), append=values(2, 1)))
    show(f"diff {n} of rows", torch.diff(values(2, 4), n, 0))

print("# dtypes of filled tensors")
for filled in (True, 3, 2.5):
    show(f"full {filled}", torch.full((2,), filled))
    show(f"full_like {filled}", torch.full_like(torch.tensor([1, 2]), filled))
    show(f"new_full {filled}", torch.tensor([1, 2]).new_full((2,), filled))
    show(f"full of float {filled}", torch.full((2,), filled, dtype=torch.float32))
show("full keyword", torch.full(size=(2,), fill_value=False))

print("# numbers that a dtype does not hold")
small, wide = torch.tensor([0, 1, 7, 200, 255], dtype=torch.uint8), torch.tensor([0, 1, -7, 2**31 - 1], dtype=torch.int32)
for number in (-3, 300, 3, -1, 256, -300):
    for name in "add sub mul maximum minimum floor_divide remainder fmod bitwise_and bitwise_or bitwise_xor eq ne lt le gt ge".split():
        if name in ("maximum", "minimum"):
            attempt(f"u8 {name} {number}", lambda: getattr(torch, name)(small, torch.tensor(number)))
        elif number != 256 or name not in ("floor_divide", "remainder", "fmod"):
            attempt(f"u8 {name} {number}", lambda: getattr(torch, name)(small, number))
    if number != 256:
        attempt(f"u8 // {number}", lambda: (small // number, small % number, small / number))
    attempt(f"{number} - u8", lambda: (number - small, number + small, number * small, number // small[1:], number % small[1:]))
    if abs(number) < 256:
        show(f"masked_fill {number}", small.masked_fill(small > 3, number))
        show(f"full_like {number}", torch.full_like(small, number))
        show(f"where {number}", torch.where(small > 3, small, number))
        show(f"fill_ {number}", small.clone().fill_(number))
        show(f"index_fill {number}", small.clone().index_fill(0, torch.tensor([1]), number))
        show(f"tensor {number}", torch.tensor([number], dtype=torch.uint8))
        show(f"scatter {number}", small.scatter(0, torch.tensor([0]), number))
    if number < 0:
        show(f"clamp {number}", small.clamp(min=number))
    if number > 255:
        show(f"clamp to {number}", small.clamp(max=number))
for number in (2**31, -(2**31) - 1, 2**40):
    attempt(f"i32 {number}", lambda: (wide + number, wide * number, wide == number, wide < number, wide > number))
    attempt(f"i32 // {number}", lambda: wide // number if number != 2**40 else None)
    attempt(f"i32 clamp {number}", lambda: wide.clamp(max=number) if number > 0 else wide.clamp(min=number))

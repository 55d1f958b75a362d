"""Writes engine/testdata/elementwise.json: what PyTorch gives for elementwise ops on ordinary and on odd inputs.

Run with a Python that has PyTorch: python tests/expected/generate_elementwise.py
Results of smooth functions in float32 and in halves are computed in float64 and rounded, so the file is nearer to the truth
than PyTorch's own kernels; which values are NaN or infinite is the same.
"""

import json
import math
import pathlib

import torch
import torch.nn.functional as F

INF, NAN = math.inf, math.nan
EDGES = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, -3.5, 1e-8, -1e-8, 1e-30, -1e30, 3.1415927, 6.0, -3.0, 3.0,
         20.5, 88.0, -88.0, 89.5, -104.0, 1e-40, 123456.789, 1e10, INF, -INF, NAN]
FEW = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, -3.0, 1e30, INF, -INF, NAN]
WHOLE = {
    torch.int64: [0, 1, -1, 7, -7, 100, 2**40, -(2**40)],
    torch.int32: [0, 1, -1, 7, -7, 100, 2**31 - 1, -(2**31)],
    torch.int16: [0, 1, -1, 7, -7, 100, 2**15 - 1, -(2**15)],
    torch.uint16: [0, 1, 7, 100, 2**16 - 1],
    torch.int8: [0, 1, -1, 7, -7, 100, 127, -128],
    torch.uint8: [0, 1, 7, 100, 200, 255],
    torch.bool: [False, True],
}
HALVES = [torch.float16, torch.bfloat16]
FLOATS = [torch.float32, torch.float64, *HALVES]
NAMES = {torch.float32: "f32", torch.float64: "f64", torch.float16: "f16", torch.bfloat16: "bf16", torch.int64: "i64",
         torch.int32: "i32", torch.int16: "i16", torch.uint16: "u16", torch.int8: "i8", torch.uint8: "u8", torch.bool: "bool"}

SMOOTH = """exp expm1 exp2 log log1p log2 log10 sqrt rsqrt reciprocal sin cos tan asin acos atan sinh cosh tanh asinh
acosh atanh sigmoid erf erfc erfinv lgamma digamma""".split()
SPECIAL = "i0 i0e i1 i1e".split()
EXACT = "abs neg sign square relu floor ceil trunc round isnan isinf isfinite logical_not bitwise_not frac clone".split()
UNITS = {
    "cube": (lambda x: x**3, [[]]),
    "relu6": (F.relu6, [[]]),
    "leaky_relu": (F.leaky_relu, [[0.01], [0.2]]),
    "elu": (F.elu, [[1.0], [0.5]]),
    "celu": (F.celu, [[1.0], [0.5]]),
    "selu": (F.selu, [[]]),
    "gelu": (lambda x, how: F.gelu(x, approximate=how), [["none"], ["tanh"]]),
    "silu": (F.silu, [[]]),
    "softplus": (F.softplus, [[1.0, 20.0], [2.0, 5.0]]),
    "hardtanh": (F.hardtanh, [[-1.0, 1.0], [-2.0, 0.5]]),
    "hardswish": (F.hardswish, [[]]),
    "hardsigmoid": (F.hardsigmoid, [[]]),
    "mish": (F.mish, [[]]),
    "log_sigmoid": (F.logsigmoid, [[]]),
    "softsign": (F.softsign, [[]]),
    "hardshrink": (F.hardshrink, [[0.5], [3.0]]),
    "softshrink": (F.softshrink, [[0.5], [3.0]]),
    "threshold": (F.threshold, [[0.5, -2.0], [-1.0, 7.0]]),
    "clamp": (lambda x, low, high: torch.clamp(x, low, high), [[-1.0, 2.0], [None, 0.5], [0.5, None]]),
}
SMOOTH2 = "add sub mul div pow atan2 hypot logaddexp".split()
EXACT2 = """floor_divide remainder fmod maximum minimum logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor
bitwise_left_shift bitwise_right_shift eq ne lt le gt ge isclose""".split()
MIXED = [(torch.float32, torch.int64), (torch.int32, torch.uint8), (torch.float64, torch.float32), (torch.bool, torch.int64),
         (torch.uint8, torch.bool), (torch.int8, torch.uint8), (torch.int16, torch.int8), (torch.float16, torch.bfloat16),
         (torch.float16, torch.int64), (torch.bfloat16, torch.float32), (torch.uint8, torch.bfloat16)]


def dump(tensor):
    """Numbers as text, since readers of JSON differ in how exactly they read floats."""
    data = " ".join(repr(it) if isinstance(it, float) else str(int(it)) for it in tensor.flatten().tolist())
    return {"dtype": NAMES[tensor.dtype], "shape": list(tensor.shape), "data": data}


def widen(tensor):
    """The numbers that a kernel sees which computes in float32, as float64."""
    return tensor.double() if tensor.dtype in FLOATS else tensor.float().double()


def sqrt(x):
    """Rounded as IEEE 754 says; PyTorch's own is 1 ulp off on some machines."""
    if x.dtype != torch.float64:
        return torch.sqrt(x)
    return torch.tensor([math.sqrt(it) if not it < 0 else NAN for it in x.tolist()], dtype=x.dtype)


def case(cases, name, fn, inputs, attrs=(), smooth=False):
    try:
        out = fn(*inputs, *attrs)
    except (RuntimeError, TypeError):
        return  # PyTorch refuses these dtypes.
    if smooth and out.dtype in (torch.float32, *HALVES):
        out = fn(*[widen(it) for it in inputs], *attrs).to(out.dtype)
    if out.dtype not in NAMES:
        return
    cases.append({"op": name, "attrs": list(attrs), "inputs": [dump(it) for it in inputs], "output": dump(out)})


def main():
    generator = torch.Generator().manual_seed(7)
    cases = []
    wide = torch.cat([torch.tensor(EDGES, dtype=torch.float64), torch.randn(20, generator=generator, dtype=torch.float64) * 3])
    for dtype in FLOATS + list(WHOLE):
        x = wide.to(dtype) if dtype in FLOATS else torch.tensor(WHOLE[dtype], dtype=dtype)
        above = x.abs() if dtype in FLOATS else torch.tensor([it for it in WHOLE[dtype] if it >= 0], dtype=dtype)
        for name in SMOOTH:
            case(cases, name, sqrt if name == "sqrt" else getattr(torch, name), [x], smooth=True)
        for name in SPECIAL:
            case(cases, f"_{name}", getattr(torch.special, name), [x], smooth=True)
        # PyTorch's own has ten digits.
        case(cases, "_trigamma", lambda it: torch.where(it.isinf(), torch.polygamma(1, it), torch.special.zeta(2.0, it)), [above], smooth=True)
        for name in EXACT:
            case(cases, name, getattr(torch, name), [x])
        case(cases, "to_device", lambda it: it.to("cpu", copy=True), [x])
        for name, (fn, variants) in UNITS.items():
            for attrs in variants if dtype in FLOATS else []:
                case(cases, name, fn, [x], attrs, smooth=True)
        case(cases, "round", lambda it, decimals: torch.round(it, decimals=decimals), [x], [2])
        case(cases, "clamp", torch.clamp, [x], [1, 7])
        for target in NAMES:
            # What an integer is for a float out of its range is not defined.
            safe = x[x.isfinite() & (x.abs() < 100) & (x >= 0)] if dtype in FLOATS and target not in FLOATS else x
            cases.append({"op": "to", "attrs": [NAMES[target]], "inputs": [dump(safe)], "output": dump(safe.to(target))})
    few = torch.tensor(FEW, dtype=torch.float64)
    pairs = torch.cartesian_prod(few, few)
    some = torch.randn(20, 2, generator=generator, dtype=torch.float64) * 5
    pairs = torch.cat([pairs, some])
    for first, second in [(it, it) for it in FLOATS + list(WHOLE)] + MIXED:
        def column(idx, dtype):
            if dtype in FLOATS:
                return pairs[:, idx].to(dtype)
            # PyTorch rounds whole numbers to halves before it computes; here they count as they are.
            halves = first in HALVES or second in HALVES
            values = torch.tensor([it for it in WHOLE[dtype] if not halves or abs(it) <= 128], dtype=dtype)
            grid = torch.arange(len(pairs))
            return values[(grid if idx == 0 else grid // 3) % len(values)]
        x, y = column(0, first), column(1, second)
        for name in SMOOTH2 + EXACT2:
            left, right, of = x, y, y.double()
            whole = first not in FLOATS and second not in FLOATS
            if whole and name in ("floor_divide", "remainder", "fmod"):
                left, right = x[of != 0], y[of != 0]
            if whole and name == "pow":
                keep = (of >= 0) & (of < 100)
                left, right = x[keep], y[keep]
            if "shift" in name:
                keep = (of >= 0) & (of < 8)
                left, right = x[keep], y[keep]
            case(cases, name, getattr(torch, name), [left, right], smooth=name in ("pow", "atan2", "hypot", "logaddexp"))
        case(cases, "where", torch.where, [torch.arange(len(x)) % 3 == 0, x, y])
    a, b, w = (torch.randn(3, 4, generator=generator) for _ in range(3))
    case(cases, "lerp", torch.lerp, [a, b, w])
    case(cases, "isclose", lambda x, y, rtol, atol, same: torch.isclose(x, y, rtol, atol, same), [a, a + 1e-3], [1e-2, 1e-4, True])
    case(cases, "xlogy", torch.xlogy, [pairs[:, 0], pairs[:, 1]], smooth=True)
    case(cases, "masked_fill", torch.masked_fill, [a, b > 0, torch.tensor(-INF)])
    case(cases, "masked_fill", torch.masked_fill, [torch.tensor(WHOLE[torch.int64]).reshape(2, 4), torch.tensor([True, False]).reshape(2, 1), torch.tensor(3)])
    for name in ("addcmul", "addcdiv"):
        case(cases, name, lambda x, y, z, value: getattr(torch, name)(x, y, z, value=value), [a, b, w], [0.7], smooth=True)
    case(cases, "axpy", lambda x, y, alpha: torch.add(x, y, alpha=alpha.item()), [a, b, torch.tensor(-0.5)], smooth=True)
    for attrs in ([0.0, None, None], [1.0, 2.0, -3.0]):
        case(cases, "nan_to_num", torch.nan_to_num, [wide.float()], attrs)
    path = pathlib.Path(__file__).resolve().parents[2] / "engine/testdata/elementwise.json"
    lines = ",\n".join(json.dumps(it, allow_nan=False, separators=(",", ":")) for it in cases)
    path.write_text(f"[\n{lines}\n]\n")
    print(f"{len(cases)} cases, {path.stat().st_size} bytes")


main()

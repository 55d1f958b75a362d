"""torch.testing: what is close, what is told of what is not, and tensors that are made for tests."""

import dataclasses

import numpy as np
from torch.testing import assert_close, make_tensor


def verdict(name, *given, **options):
    """The whole text of an error."""
    try:
        print(name, assert_close(*given, **options))
    except Exception as error:
        print(name, type(error).__name__)
        print(str(error))


print("# tensors")
a = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
verdict("equal", a, a.clone())
verdict("near", a, a + 1e-6)
verdict("off", a, a + torch.tensor([[0.0, 0.5], [0.0, 0.25]]))
verdict("given", a, a + 0.1, rtol=0, atol=0.2)
verdict("exact", a, a + torch.tensor([[0.0, 0.5], [0.0, 0.0]]), rtol=0, atol=0)
verdict("one tolerance", a, a, rtol=0.1)
verdict("other tolerance", a, a, atol=0.1)
verdict("whole", torch.tensor([1, 5, 7]), torch.tensor([1, 5, 9]))
verdict("narrow", torch.tensor([250, 3], dtype=torch.uint8), torch.tensor([2, 3], dtype=torch.uint8))
verdict("truths", torch.tensor([True, False]), torch.tensor([True, True]))
verdict("scalars", torch.tensor(1.0), torch.tensor(1.5))
verdict("scalar zero", torch.tensor(1.0), torch.tensor(0.0))
verdict("zero", torch.tensor([1.0, 2.0]), torch.tensor([0.0, 2.0]))
verdict("cube", torch.arange(24.0).reshape(2, 3, 4), torch.arange(24.0).reshape(2, 3, 4).clone().index_fill_(2, torch.tensor([1]), 7.0))
verdict("complex", torch.tensor([1 + 2j, 3.0]), torch.tensor([1 + 2j, 3.5]))
for dtype, apart in ((torch.float16, 0.0005), (torch.bfloat16, 0.008), (torch.float32, 1e-6), (torch.float64, 5e-8)):
    ones = torch.ones(3, dtype=dtype)
    verdict(str(dtype), ones, ones * (1 + apart))
    verdict(str(dtype), ones.double(), ones.double() * (1 + 4 * apart), check_dtype=False)
verdict("empty", torch.empty(0, 3), torch.empty(0, 3))
verdict("needs gradients", a.clone().requires_grad_(), a)

print("# attributes")
verdict("shape", torch.ones(2), torch.ones(3))
verdict("dtype", torch.ones(2), torch.ones(2).double())
verdict("any dtype", torch.ones(2), torch.ones(2, dtype=torch.int64), check_dtype=False)
verdict("loosest", torch.ones(2), torch.ones(2).double() + 1e-6, check_dtype=False)
verdict("stride", torch.ones(2, 3), torch.ones(3, 2).T, check_stride=True)
verdict("any stride", torch.ones(2, 3), torch.ones(3, 2).T)

print("# not a number, and infinite")
nan, inf = float("nan"), float("inf")
verdict("nan", torch.tensor([nan, 1.0]), torch.tensor([nan, 1.0]))
verdict("equal nan", torch.tensor([nan, 1.0]), torch.tensor([nan, 1.0]), equal_nan=True)
verdict("infinite", torch.tensor([inf, -inf]), torch.tensor([inf, -inf]))
verdict("infinities", torch.tensor([inf, 1.0]), torch.tensor([1.0, 1.0]))
verdict("number nan", nan, nan)
verdict("number equal nan", nan, nan, equal_nan=True)
verdict("number infinite", inf, inf)

print("# numbers and other things")
verdict("numbers", 1.0, 1.0 + 1e-9)
verdict("numbers off", 1.0, 1.1)
verdict("whole numbers", 3, 4)
verdict("kinds", 1, 1.0)
verdict("any kind", 1, 1.0, check_dtype=False)
verdict("of zero", 1e-3, 0.0)
verdict("exact numbers", 1e-9, 1e-10, rtol=0, atol=0)
verdict("complex numbers", 1 + 2j, 1 + 3j)
verdict("true", True, True)
verdict("false", True, False)
verdict("none", None, None)
verdict("some", None, 1.0)
verdict("number and tensor", 1.0, torch.tensor(1.0))
verdict("texts", "a", "a")
verdict("arrays", np.array([1.0, 2.0]), np.array([1.0, 3.0]))
verdict("arrays close", np.array([1.0, 2.0]), np.array([1.0, 2.0 + 1e-9]))
verdict("parameter", nn.Parameter(torch.ones(2)), torch.ones(2))
verdict("parameter, strictly", nn.Parameter(torch.ones(2)), torch.ones(2), allow_subclasses=False)

print("# containers")
verdict("lists", [1.0, torch.ones(2)], [1.0, torch.ones(2)])
verdict("list and tuple", [1.0, 2], (1.0, 2))
verdict("lengths", [1.0], [1.0, 2.0])
verdict("item", [torch.ones(2), torch.zeros(2)], [torch.ones(2), torch.ones(2)])
verdict("dict", {"b": 1, "a": [1.0, 2.0]}, {"a": [1.0, 2.5], "b": 2})
verdict("keys", {"a": 1, "c": 1}, {"a": 1, "b": 1})
verdict("number keys", {0: 1.0}, {0: 2.0})
verdict("deep", {"x": [{"y": (1, 2)}]}, {"x": [{"y": (1, 3)}]})
verdict("lengths come first", [1.0, [2.0]], [5.0, [2.0, 3.0]])
verdict("texts inside", ["a"], ["a"])


@dataclasses.dataclass
class Point:
    x: float
    y: torch.Tensor


@dataclasses.dataclass
class Pair:
    x: int
    y: str


verdict("records", Point(1.0, torch.ones(2)), Point(1.0, torch.ones(2)))
verdict("record of tensors", Point(1.0, torch.ones(2)), Point(1.0, torch.zeros(2)))
verdict("plain record", Pair(1, "a"), Pair(1, "a"))
verdict("plain records", Pair(1, "a"), Pair(2, "a"))

print("# messages")
verdict("text", a, a + 1, msg="they differ")
verdict("function", [1.0], [2.0], msg=lambda text: f"before\n\n{text}\n\nafter")
verdict("of attributes", torch.ones(2), torch.ones(3), msg="shapes")

print("# make_tensor")
for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.int8, torch.uint8, torch.bool, torch.complex64):
    torch.manual_seed(3)
    made = make_tensor((2, 3), dtype=dtype, device="cpu")
    show("made", torch.view_as_real(made) if made.is_complex() else made)
torch.manual_seed(4)
show("bounds", [make_tensor(4, dtype=torch.float64, device="cpu", low=2, high=3), make_tensor(2, 2, dtype=torch.int32, device="cpu", low=0.5, high=3.2)])
show("narrow bounds", make_tensor(3, dtype=torch.uint8, device="cpu", low=-100, high=1000))
made = make_tensor(2, 3, dtype=torch.float32, device="cpu", noncontiguous=True, requires_grad=True)
show("every second", made)
print(made.is_contiguous(), made.requires_grad, made.stride(), make_tensor((), dtype=torch.float32, device="cpu").shape)
print((make_tensor(100, dtype=torch.int64, device="cpu", low=0, high=2, exclude_zero=True) == 1).all().item())
attempt("order", lambda: make_tensor(2, dtype=torch.float32, device="cpu", low=3, high=2))
attempt("nan", lambda: make_tensor(2, dtype=torch.float32, device="cpu", low=float("nan")))
attempt("outside", lambda: make_tensor(2, dtype=torch.uint8, device="cpu", low=-5, high=-2))
attempt("gradients", lambda: make_tensor(2, dtype=torch.int64, device="cpu", requires_grad=True))

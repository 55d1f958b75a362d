"""Operands and arguments that PyTorch refuses, and some that it takes."""


def refused(name, function):
    try:
        function()
        print(name, "gives a result")
    except Exception as error:
        print(name, "is refused:", type(error).__name__)


print(torch.iinfo(torch.int8), torch.iinfo(torch.uint8))
refused("iinfo of bool", lambda: torch.iinfo(torch.bool))
refused("iinfo of floats", lambda: torch.iinfo(torch.float32))
refused("heaviside of two dtypes", lambda: torch.heaviside(torch.ones(2), torch.ones(2).double()))
refused("allclose of two dtypes", lambda: torch.allclose(torch.ones(2), torch.ones(2).double()))
print(torch.allclose(torch.ones(2), torch.ones(2)))
refused("nansum of complex numbers", lambda: torch.nansum(torch.tensor([1j])))
refused("nanmean of integers", lambda: torch.nanmean(torch.tensor([1])))
refused("copysign of complex numbers", lambda: torch.copysign(torch.tensor([1j]), 1.0))
numbers = torch.tensor([1, 2])
refused("repeat_interleave, too large", lambda: torch.repeat_interleave(numbers, numbers, output_size=5))
show("repeat_interleave", torch.repeat_interleave(numbers, numbers, output_size=3))
show("tensor_split at places", torch.tensor_split(torch.arange(6), torch.tensor([1, 3])))
show("tensor_split into parts", torch.tensor_split(torch.arange(6), torch.tensor(4)))
show("quantile of a number", torch.quantile(torch.tensor(2.0), 0.5))
show("quantile of a number along a dimension", torch.quantile(torch.tensor(2.0), torch.tensor([0.5, 1.0]), dim=0))

print("# autocast")
image = values(1, 2, 4, 4).bfloat16()
with torch.autocast("cpu", dtype=torch.bfloat16):
    print(F.max_pool3d(image[:, :, None], (1, 2, 2)).dtype)
    print(F.soft_margin_loss(image, image).dtype, F.local_response_norm(image, 2).dtype)
refused("rand_like of a number", lambda: torch.rand_like(3))
refused("randn_like of a number", lambda: torch.randn_like(3.0))
refused("randint_like of a list", lambda: torch.randint_like([1, 2], 3))
refused("empty_like of a list", lambda: torch.empty_like([1, 2]))

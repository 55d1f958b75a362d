"""Writes frontend-lang/testdata/tensor_text.json: how PyTorch prints tensors. Needs `torch`."""

import json
import pathlib

import torch

torch.manual_seed(0)
nan, inf = float("nan"), float("inf")
TENSORS = [
    torch.tensor(3.5),
    torch.tensor(7),
    torch.tensor(True),
    torch.tensor([1.0, 2.0, 3.0]),
    torch.tensor([1.5, -2.25, 3.0]),
    torch.tensor([1, -20, 300]),
    torch.tensor([1, 2], dtype=torch.int32),
    torch.tensor([1, 200], dtype=torch.uint8),
    torch.tensor([1.0, 0.5], dtype=torch.float64),
    torch.tensor([[True, False], [False, True]]),
    torch.tensor([0.0001, 1.0]),
    torch.tensor([0.00001, 0.5]),
    torch.tensor([1e10, 1.0]),
    torch.tensor([123456.0, 2.0]),
    torch.tensor([nan, 1.0, inf, -inf]),
    torch.tensor([nan, 1.5, inf]),
    torch.tensor([0.0, 0.0]),
    torch.tensor([-0.0, 0.5]),
    torch.zeros(0),
    torch.zeros(0, 3),
    torch.zeros(0, dtype=torch.int64),
    torch.arange(24).reshape(2, 3, 4),
    torch.arange(24.0).reshape(2, 3, 4) / 7,
    torch.arange(16).reshape(2, 2, 2, 2),
    torch.arange(40),
    torch.arange(40.0) / 3,
    torch.arange(1500),
    torch.arange(3000.0).reshape(30, 100) / 10,
    torch.arange(8000).reshape(20, 20, 20),
    torch.arange(1001).reshape(7, 143),
    torch.arange(6).reshape(3, 2).T,
    torch.tensor([1.0, 2.0], requires_grad=True),
    torch.arange(30.0).requires_grad_(),
]


def case(tensor):
    flat = [str(float(v)) if tensor.is_floating_point() else int(v) for v in tensor.detach().reshape(-1)]
    return {
        "dtype": str(tensor.dtype).removeprefix("torch."),
        "shape": list(tensor.shape),
        "values": flat,
        "requires_grad": tensor.requires_grad,
        "text": repr(tensor),
    }


path = pathlib.Path(__file__).parents[2] / "frontend-lang/testdata/tensor_text.json"
path.write_text(json.dumps([case(t) for t in TENSORS], indent=0) + "\n")

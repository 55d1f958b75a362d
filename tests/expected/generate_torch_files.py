"""Writes files with PyTorch, and what PyTorch prints for `tests/torch_files/reading.py`, which reads them: `python generate_torch_files.py`."""

import argparse
import contextlib
import io
import os
import subprocess
import sys
import tempfile
from collections import OrderedDict, defaultdict
from pathlib import Path

import numpy
import torch
from torch import nn

FOLDER = Path(__file__).resolve().parents[1] / "torch_files"


def trained():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.ReLU(), nn.Linear(3, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    model(torch.randn(4, 2)).sum().backward()
    optimizer.step()
    return model, optimizer


def write():
    model, optimizer = trained()
    base = torch.arange(12.0)
    torch.save(model.state_dict(), "state.pt")
    torch.save(model.state_dict(), "legacy.pt", _use_new_zipfile_serialization=False)
    torch.save(model, "whole.pt")
    content = {
        "epoch": 3,
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "numbers": [1, -1, 255, 256, 65535, 65536, -(2**31), 2**40, -(2**40), 2**63 - 1, 0.1, float("inf"), True, None, 1 + 2j],
        "texts": ["", "a", "ä€𝄞", "x" * 300],
        "nested": ({"a": [(), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4)]}, {3, 1, 2}, OrderedDict(b=1, a=2)),
        "factory": defaultdict(int, x=4),
        "whole": base,
        "part": base[3:7],
        "turned": base.view(3, 4).T,
        "steps": base[::2],
        "one": torch.tensor(2.5),
        "none": torch.zeros(0, 3),
        "needs": torch.ones(2, requires_grad=True),
        "parameter": nn.Parameter(torch.ones(2)),
        "size": torch.Size([2, 3]),
        "kinds": (torch.float16, torch.device("cpu")),
    }
    for dtype in ["float64", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "uint16", "bool", "complex64", "complex128"]:
        content[dtype] = torch.arange(3).to(getattr(torch, dtype))
    torch.save(content, "checkpoint.pt")
    shared = [1, 2]
    itself = [shared, shared]
    itself.append(itself)
    torch.save(itself, "itself.pt", pickle_protocol=4)
    columns = numpy.arange(6, dtype=numpy.float32).reshape(2, 3).T
    torch.save({"a": numpy.arange(3), "columns": columns, "number": numpy.float64(0.5), "truth": numpy.array(True)}, "arrays.pt")
    torch.save({"args": argparse.Namespace(lr=0.1, layers=[2, 3])}, "namespace.pt")


def written():
    """What a file of PyTorch's says of the content that `what_is_written_is_read_here_and_by_pickle` writes."""
    shared = [1]
    return {
        "numbers": [1, -1, 255, 256, 65536, -(2**31), 2**40, -(2**63), 0.1, float("inf"), True, None, 1 + 2j],
        "texts": ["", "a", "ä€𝄞", "x" * 300],
        "nested": ({"a": [(), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4)]}, {3}),
        "shared": [shared, shared],
        "tensors": [
            torch.arange(6.0).view(2, 3), torch.tensor(True), torch.arange(3).to(torch.bfloat16),
            nn.Parameter(torch.ones(2)), torch.zeros(0, 2),
        ],
        "kinds": [torch.float16, torch.Size([2]), torch.device("cpu"), torch.arange(2).to(torch.uint16), numpy.arange(3.0, dtype=numpy.float32), numpy.float64(0.5)],
    }


def main():
    os.chdir(FOLDER)
    write()
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(Path("reading.py").read_text(), "reading.py", "exec"), {"torch": torch, "nn": nn})
    Path("reading.out").write_text(out.getvalue())
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/written.pt"
        torch.save(written(), path)
        said = subprocess.run([sys.executable, "written.py", path], capture_output=True, text=True, check=True)
    Path("written.out").write_text(said.stdout)


main()

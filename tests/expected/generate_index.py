"""Writes engine/testdata/index.json: what PyTorch and NumPy read and write by index. Needs `torch` and `numpy`."""

import json
import pathlib

import numpy as np
import torch

# (shape, index as text); `T([...])` is an index tensor, `M([...])` a mask.
READS = [
    ((3, 4), "1"),
    ((3, 4), "-1"),
    ((3, 4), "1:"),
    ((3, 4), "::2, 1:3"),
    ((3, 4), "..., 0"),
    ((3, 4), "None, :, 2"),
    ((3, 4), ":, None"),
    ((2, 3, 4), "..., ::-1"),
    ((5,), "::-2"),
    ((5,), "3:0:-1"),
    ((5,), "10:"),
    ((5,), "-100:2"),
    ((3, 4), "T([0, 2])"),
    ((3, 4), ":, T([3, 0, 3])"),
    ((3, 4), "T([[0, 1], [2, 2]])"),
    ((3, 4), "T([0, 1]), T([1, 2])"),
    ((3, 4), "T([[0], [2]]), T([1, 3])"),
    ((2, 3, 4), ":, T([0, 2]), T([1, 1])"),
    ((2, 3, 4), "T([0, 1]), :, T([1, 1])"),
    ((2, 3, 4), "1, :, T([1, 0])"),
    ((2, 3), "M([[True, False, True], [False, True, False]])"),
    ((3, 2), "M([True, False, True])"),
    ((3, 2), "M([False, False, False])"),
    ((2, 3, 2), ":, M([True, False, True])"),
    ((4,), "T([-1, -4])"),
    ((0, 3), "0:0"),
]
WRITES = [
    ((3, 4), "1", [9.0]),
    ((3, 4), "1:, 2", [8.0, 9.0]),
    ((3, 4), "::2, ::2", [[1.0, 2.0], [3.0, 4.0]]),
    ((5,), "::-1", [1.0, 2.0, 3.0, 4.0, 5.0]),
    ((3, 4), "...", [0.5]),
    ((3, 4), "T([0, 2])", [7.0]),
    ((3, 4), "T([0, 1]), T([1, 2])", [5.0, 6.0]),
    ((2, 3), "M([[True, False, True], [False, True, False]])", [-1.0]),
    ((2, 3), "M([[True, False, True], [False, True, False]])", [1.0, 2.0, 3.0]),
]


def entry(item):
    if isinstance(item, slice):
        return {"slice": [item.start, item.stop, item.step]}
    if item is None:
        return "new"
    if item is Ellipsis:
        return "dots"
    if isinstance(item, int):
        return {"int": item}
    kind = "mask" if item.dtype == bool else "take"
    return {kind: item.reshape(-1).astype(int).tolist(), "shape": list(item.shape)}


def parse(text):
    scope = {"T": lambda x: np.array(x), "M": lambda x: np.array(x, dtype=bool), "S": np.s_}
    index = eval(f"S[{text}]", scope)
    return index if isinstance(index, tuple) else (index,)


def numbers(shape):
    return np.arange(float(np.prod(shape)), dtype=np.float64).reshape(shape)


def read(shape, text):
    index = parse(text)
    ours = numbers(shape)[index]
    has_negative_step = any(isinstance(i, slice) and (i.step or 1) < 0 for i in index)
    if not has_negative_step:
        as_torch = tuple(torch.tensor(i) if isinstance(i, np.ndarray) else i for i in index)
        ours = torch.tensor(numbers(shape))[as_torch].numpy()
    return {"shape": shape, "index": [entry(i) for i in index], "result": ours.reshape(-1).tolist(), "result_shape": list(ours.shape)}


def write(shape, text, value):
    index = parse(text)
    target = numbers(shape)
    target[index] = np.array(value) if np.array(value).size > 1 else np.array(value).reshape(-1)[0]
    value = np.array(value)
    return {
        "shape": shape,
        "index": [entry(i) for i in index],
        "value": value.reshape(-1).tolist(),
        "value_shape": list(value.shape) if value.size > 1 else [],
        "result": target.reshape(-1).tolist(),
    }


data = {"reads": [read(*r) for r in READS], "writes": [write(*w) for w in WRITES]}
path = pathlib.Path(__file__).parents[2] / "engine/testdata/index.json"
path.write_text(json.dumps(data, indent=None, separators=(",", ":")) + "\n")

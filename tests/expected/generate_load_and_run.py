"""Writes kernel/testdata/load_and_run: arrays in NumPy's file format, and what NumPy reads in them. Needs `numpy`."""

import json
import pathlib

import numpy as np
from numpy.lib import format as npy

FOLDER = pathlib.Path(__file__).parents[2] / "kernel/testdata/load_and_run"

ARRAYS = {
    "f4": np.array([[0.5, -1.25, 3.0], [1e-3, 7.0, -0.0]], dtype="<f4"),
    "f8": np.array([1 / 3, 1e300, -2.5], dtype="<f8"),
    "i4": np.array([[1, -2], [3, 2147483647]], dtype="<i4"),
    "i8": np.array([9007199254740993, -1], dtype="<i8"),
    "u1": np.array([[[0, 255]]], dtype="u1"),
    "i2": np.array([-300, 300], dtype="<i2"),
    "bool": np.array([True, False, True]),
    "big": np.array([1.5, -2.0], dtype=">f4"),
    "fortran": np.asfortranarray(np.arange(24, dtype="<i4").reshape(2, 3, 4)),
    "scalar": np.array(2.5, dtype="<f4"),
    "empty": np.zeros((0, 3), dtype="<f4"),
}

# Texts of --input, and the Python expression whose array they mean.
TEXTS = {
    "1,2,3": "[1,2,3]",
    "[1,2,3]": "[1,2,3]",
    "[[1,2],[3,4]]": "[[1,2],[3,4]]",
    "[[[1.5],[2]]]": "[[[1.5],[2]]]",
    " [ [1, 2] , [3, -4] ] ": "[[1,2],[3,-4]]",
    "1e-3": "1e-3",
    "5": "5",
    "5,": "[5]",
    "[]": "[]",
    "[[],[]]": "[[],[]]",
    "[1,2,]": "[1,2,]",
    "0.25,-.5,1E2": "[0.25,-.5,1E2]",
    "[[1],[2],[3]]": "[[1],[2],[3]]",
}


def row(array: np.ndarray) -> dict:
    return {"shape": list(array.shape), "dtype": array.dtype.name, "values": array.flatten().tolist()}


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, array in ARRAYS.items():
        np.save(FOLDER / f"{name}.npy", array)
    with open(FOLDER / "version2.npy", "wb") as file:
        npy.write_array(file, ARRAYS["i4"], version=(2, 0))
    files = {path.name: row(np.load(path)) for path in sorted(FOLDER.glob("*.npy"))}
    texts = {text: row(np.array(eval(meaning))) for text, meaning in TEXTS.items()}
    (FOLDER / "expected.json").write_text(json.dumps({"files": files, "texts": texts}, indent=1) + "\n")


main()

"""Runs ONNX files that Notegrad has written in ONNX Runtime, and compares what they give with the outputs beside them, which are PyTorch's.

    NOTEGRAD_ONNX_CASES=FOLDER cargo test -p engine --lib onnx_out
    python tests/onnx/other_runtime.py FOLDER
"""

import re
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper

# Operators that ONNX Runtime does not have for the dtype of a case, and dtypes that NumPy does not have.
ABSENT = re.compile("NOT_IMPLEMENTED|Could not find an implementation|Numpy_type|Numpy type")
# Where ONNX Runtime gives something else, and why.
OTHERWISE = {
    "_int_mm": "products of sizes m x 0 and 0 x n are left as their memory was",
    "amax": "NaN is not passed on",
    "amin": "NaN is not passed on",
    "argmax": "NaN is not passed on",
    "argmin": "NaN is not passed on",
    "max": "NaN is not passed on",
    "min": "NaN is not passed on",
    "log_softmax": "of infinite elements not all are NaN",
    "mean": "of nothing it is 0",
    "pow": "whole numbers are computed as float64",
}


def tensors(folder, kind):
    paths = sorted(folder.glob(f"{kind}_*.pb"), key=lambda it: int(it.stem.split("_")[1]))
    return [numpy_helper.to_array(onnx.load_tensor(path)) for path in paths]


def check(folder):
    """What is wrong with a case; None for what the runtime does not have."""
    model = onnx.load(folder / "model.onnx")
    onnx.checker.check_model(model, full_check=True)
    data = folder / "test_data_set_0"
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    names = [it.name for it in session.get_inputs()]
    got = session.run(None, dict(zip(names, tensors(data, "input"))))
    for one, want in zip(got, tensors(data, "output")):
        if one.shape != want.shape or one.dtype != want.dtype:
            return f"{one.dtype}{one.shape} instead of {want.dtype}{want.shape}"
        loose = 100 if one.dtype == np.float16 else 1
        if not np.allclose(one, want, rtol=1e-4 * loose, atol=1e-5 * loose, equal_nan=True):
            return f"{one.tolist()} instead of {want.tolist()}"
    return ""


def main(target):
    onnxruntime.set_default_logger_severity(4)
    counts, problems, otherwise = {"": 0, None: 0}, [], 0
    for folder in sorted(target.iterdir()):
        try:
            problem = check(folder)
        except Exception as error:
            text = f"{type(error).__name__}: {error}"
            problem = None if ABSENT.search(text) else text
        if problem in counts:
            counts[problem] += 1
        elif folder.name.rsplit("_", 1)[0] in OTHERWISE:
            otherwise += 1
        else:
            problems.append(f"{folder.name}: {problem[:300]}")
    print(f"{counts['']} cases agree, ONNX Runtime has no kernel for {counts[None]} and gives other values for {otherwise}")
    print("\n".join(problems))
    return len(problems)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])) > 0)

"""Runs every line of tests/numpy/programs.py with NumPy and writes what it prints to programs.out. Needs `numpy`.

A line is a program of its own; the same lines run in the language, where `tests/tests/numpy_programs.rs` compares the texts.
"""

import contextlib
import io
import pathlib
import warnings

import numpy as np

FOLDER = pathlib.Path(__file__).parents[1] / "numpy"
SETUP = "a = np.arange(6).reshape(2, 3); x = np.array([3.0, 1.0, 2.0])\n"


def printed_by(program: str) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out), np.errstate(all="ignore"):
        try:
            exec(SETUP + program, {"np": np})
        except Exception as error:
            names = ["ValueError" if type(error).__name__ in ("AxisError", "LinAlgError") else type(error).__name__]
            names = ["TypeError" if name.startswith(("UFunc", "_UFunc")) else name for name in names]
            out.write(f"{names[0]}: {error}\n")
    return out.getvalue()


def main() -> None:
    warnings.simplefilter("ignore")
    lines = [line for line in (FOLDER / "programs.py").read_text().splitlines() if line and not line.startswith("#")]
    texts = [f">>> {line}\n{printed_by(line)}" for line in lines]
    (FOLDER / "programs.out").write_text("".join(texts))
    print(len(lines), "programs")


main()

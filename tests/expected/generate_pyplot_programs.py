"""Runs every line of tests/matplotlib/programs.py with matplotlib and writes what it prints to programs.out. Needs `matplotlib`.

Of an error only the class counts, and `AttributeError` for an unknown option is `TypeError`, as Python has it for functions.
"""

import contextlib
import io
import pathlib
import warnings

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import to_hex

FOLDER = pathlib.Path(__file__).parents[1] / "matplotlib"


def class_of(error: Exception) -> str:
    is_option = "unexpected keyword argument" in str(error)
    return "TypeError" if is_option else type(error).__name__


def printed_by(program: str) -> str:
    plt.close("all")
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        try:
            exec(program, {"plt": plt, "np": np, "to_hex": to_hex})
        except Exception as error:
            out.write(class_of(error) + "\n")
    return out.getvalue()


def main() -> None:
    warnings.simplefilter("ignore")
    lines = [line for line in (FOLDER / "programs.py").read_text().splitlines() if line and not line.startswith("#")]
    (FOLDER / "programs.out").write_text("".join(f">>> {line}\n{printed_by(line)}" for line in lines))
    print(len(lines), "programs")


main()

"""Runs every program of tests/torch with PyTorch and writes what it prints beside it. Needs `torch`.

The programs are ordinary PyTorch code, and run unchanged in the language: `tests/tests/torch_programs.rs` compares.
With names as arguments, only those programs.
"""

import contextlib
import io
import pathlib
import sys
import warnings

FOLDER = pathlib.Path(__file__).parents[1] / "torch"


def main() -> None:
    warnings.simplefilter("ignore")
    common = (FOLDER / "common.py").read_text()
    for path in sorted(FOLDER.glob("*.py")):
        if path.name == "common.py" or (sys.argv[1:] and path.stem not in sys.argv[1:]):
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(common + "\n" + path.read_text(), str(path), "exec"), {"__name__": "__main__"})
        path.with_suffix(".out").write_text(printed.getvalue())
        print(path.name, printed.getvalue().count("\n"), "lines")


main()

"""Asks PyTorch what the models of tests/models give, and writes it beside them. Needs `torch`.

Each model file holds the graph of `predict` with its weights, written by an earlier version; `tests/tests/old_files.rs` compares.
"""

import contextlib
import io
import pathlib

FOLDER = pathlib.Path(__file__).parents[1] / "models"


def main() -> None:
    weights, show = ((FOLDER / name).read_text() for name in ("weights.py", "print.py"))
    for path in sorted(FOLDER.glob("*.ngm")):
        program = path.with_suffix(".py").read_text()
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(weights + program + "model = predict\n" + show, str(path), "exec"), {})
        path.with_suffix(".out").write_text(printed.getvalue())
        print(path.name, printed.getvalue().count("\n"), "lines")


main()

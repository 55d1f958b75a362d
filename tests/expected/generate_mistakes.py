"""Runs the cells of tests/specs/mistakes with PyTorch and writes what it says below each.

python tests/expected/generate_mistakes.py
"""

import pathlib
import re
import warnings

warnings.simplefilter("ignore")
FOLDER = pathlib.Path(__file__).resolve().parents[1] / "specs" / "mistakes"
CELL = re.compile(r"```python\n(.*?)```\n(\n(?:PyTorch|CPython)[^\n]*\n)?", re.S)


def said(code, names):
    """The error of a cell, on one line, or None."""
    lines = code.splitlines()
    try:
        exec(compile("\n".join(lines), "cell", "exec"), names)
    except BaseException as error:
        text = " ".join(str(error).split())
        text = re.sub(r"/\S+/(\w+\.py)", r"\1", text)
        text = text.replace("`", "'")
        return f"{type(error).__name__}: {text[:220]}{' ...' if len(text) > 220 else ''}"
    return None


def main():
    for path in sorted(FOLDER.glob("*.md")):
        names = {"__name__": "__main__"}
        speaker = "CPython" if path.stem == "python" else "PyTorch"

        def fill(match):
            code = match.group(1)
            error = said(code, names)
            cell = f"```python\n{code}```\n"
            if match.group(2) is None:
                return cell
            text = f"{speaker}: `{error}`" if error else f"{speaker} says nothing."
            return f"{cell}\n{text}\n"

        text = path.read_text()
        path.write_text(CELL.sub(fill, text))


main()

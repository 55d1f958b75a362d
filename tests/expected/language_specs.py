"""Runs the cells of tests/specs/language/*.md in CPython and compares what they show with what the pages say.

    python3 tests/expected/language_specs.py            compares; exit status 1 and a list if anything differs
    python3 tests/expected/language_specs.py --write    writes what CPython shows into the pages

A cell with a comment `# only here: WHY` is not plain Python, and is left to the Rust tests. The cells of one page run in
one session, in order. CPython 3.11 or later.
"""

import ast
import contextlib
import io
import pathlib
import re
import sys
import tempfile
import traceback
import warnings

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "specs" / "language"
SOURCES = []
MARK = re.compile(r"\s*# (shows|error):.*$")


class Cell:
    def __init__(self, first, lines):
        self.first, self.lines = first, lines

    @property
    def is_plain(self):
        return not any("# only here:" in line for line in self.lines)

    def expected(self):
        return [line.split("# shows:", 1)[1].removeprefix(" ") for line in self.lines if "# shows:" in line]

    def expected_error(self):
        for at, line in enumerate(self.lines):
            if "# error:" in line:
                name, _, message = line.split("# error:", 1)[1].strip().partition(":")
                return at + 1, name.strip(), message.strip()
        return None

    def code(self):
        """The cell without its marks, the same lines otherwise."""
        return [MARK.sub("", line) for line in self.lines]


def cells(text):
    found, first, lines = [], None, []
    for number, line in enumerate(text.splitlines()):
        if first is None and line.rstrip() == "```python":
            first, lines = number + 1, []
        elif first is not None and line.rstrip() == "```":
            found.append(Cell(first, lines))
            first = None
        elif first is not None:
            lines.append(line)
    return found


class Output(io.TextIOBase):
    """Keeps each line with the line of the cell that was running."""

    def __init__(self, name):
        self.name = name
        self.parts, self.line, self.at = [], "", None

    def write(self, text):
        frame, at = sys._getframe(1), None
        while frame is not None:
            if frame.f_code.co_filename == self.name and frame.f_code.co_name == "<module>":
                at = frame.f_lineno
            frame = frame.f_back
        for letter in text:
            if letter == "\n":
                self.parts.append((at, self.line))
                self.line = ""
            else:
                self.line += letter
        self.at = at
        return len(text)

    def finish(self):
        if self.line:
            self.parts.append((self.at, self.line))
            self.line = ""
        return self.parts


def run(code, names):
    """What a cell shows, with lines, and its error: line, name, message."""
    text = "\n".join(code) + "\n"
    name = f"<cell {len(SOURCES)}>"
    SOURCES.append(text)
    out, error = Output(name), None
    try:
        tree = ast.parse(text, name)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text, name, "exec")
    except SyntaxError as raised:
        # Only the class is compared: words and places of syntax errors are our own.
        return [], (None, type(raised).__name__, "")
    last = None
    if tree.body and isinstance(tree.body[-1], ast.Expr) and not ends_with_semicolon(text):
        last = tree.body.pop()
    with contextlib.redirect_stdout(out):
        try:
            exec(compile(tree, name, "exec"), names)
            if last is not None:
                value = eval(compile(ast.Expression(last.value), name, "eval"), names)
                if value is not None:
                    names["_"] = value
                    shown = repr(value)
                    out.finish()
                    out.parts.extend((last.end_lineno, line) for line in shown.splitlines() or [""])
        except BaseException as raised:
            lines = [frame.lineno for frame in traceback.extract_tb(raised.__traceback__) if frame.filename == name]
            error = (lines[-1], type(raised).__name__, words(str(raised)))
    return out.finish(), error


def words(message):
    """A message without places of files and without the module before a function's name."""
    return re.sub(r"^__main__\.\w+\(\) ", "", message.split(" (/")[0])


def ends_with_semicolon(text):
    lines = [line for line in text.splitlines() if line.strip() and not line.strip().startswith("#")]
    return bool(lines) and lines[-1].rstrip().endswith(";")


def problem(cell, shown, error):
    texts = [text.rstrip() for _, text in shown]
    expected = [text.rstrip() for text in cell.expected()]
    if texts != expected and expected:
        return f"CPython shows {texts}, the page says {expected}"
    wanted = cell.expected_error()
    if (wanted is None) != (error is None):
        return f"CPython: {error}, the page: {wanted}"
    if wanted is not None and (wanted[1] != error[1] or wanted[2] not in error[2] or error[0] not in (None, wanted[0])):
        return f"CPython raises {error}, the page says {wanted}"
    return None


def written(cell, shown, error):
    """The lines of the cell with what CPython shows."""
    if error is not None and error[0] is None:
        return cell.lines
    code = cell.code()
    statements = ast.parse("\n".join(code) + "\n").body
    end_of = {}
    for statement in statements:
        for line in range(statement.lineno, statement.end_lineno + 1):
            end_of[line] = statement.end_lineno
    after = {}
    for at, text in shown:
        after.setdefault(end_of.get(at, len(code)), []).append(text)
    lines = []
    for number, line in enumerate(code, 1):
        texts = after.get(number, [])
        if not line and cell.lines[number - 1] and not texts:
            # Nothing but a mark, which now stands elsewhere.
            continue
        compound = line.startswith((" ", ")", "]", "}")) or not line.strip()
        if error is not None and error[0] == number:
            message = error[2].splitlines()[0] if error[2] else ""
            mark = f"  # error: {error[1]}: {message}" if message else f"  # error: {error[1]}"
            lines.extend("# shows: " + text for text in texts)
            lines.append(line + mark)
            continue
        if len(texts) == 1 and not compound and len(line) + len(texts[0]) < 108:
            lines.append(f"{line}  # shows: {texts[0]}".rstrip())
        else:
            lines.append(line)
            lines.extend(("# shows: " + text).rstrip() for text in texts)
    return lines


def main():
    # Pages make files.
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        compare()


def compare():
    write = "--write" in sys.argv
    only = [it for it in sys.argv[1:] if not it.startswith("--")]
    wrong, count = [], 0
    for path in sorted(FOLDER.glob("*.md")):
        if only and path.name not in only:
            continue
        text = path.read_text()
        lines = text.splitlines()
        names, offset = {"__name__": "__main__"}, 0
        for cell in cells(text):
            if not cell.is_plain:
                continue
            count += 1
            shown, error = run(cell.code(), names)
            if write:
                new = written(cell, shown, error)
                start = cell.first + offset
                lines[start : start + len(cell.lines)] = new
                offset += len(new) - len(cell.lines)
            else:
                found = problem(cell, shown, error)
                if found:
                    wrong.append(f"{path.name}:{cell.first + 1}: {found}")
        if write:
            path.write_text("\n".join(lines) + "\n")
    print("\n".join(wrong + [f"{count} cells, {len(wrong)} differ"]))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()

"""Writes kernel/testdata/jupyterlab_colors.json: the colours in which JupyterLab shows output, from the installed package.

    python tests/expected/generate_jupyterlab_colors.py
"""

import json
import re
import sys
from pathlib import Path

import jupyterlab

LAB = Path(sys.prefix) / "share/jupyter/lab"
THEMES = ["light", "dark"]
VARIABLES = {
    "ground": "--jp-layout-color0",
    "error": "--jp-rendermime-error-background",
    "ink": "--jp-content-font-color1",
    "link": "--jp-content-link-color",
}


def value(sheet, variable):
    """The value of a variable; of `var(--other, fallback)` the fallback."""
    found = re.search(re.escape(variable) + r":([^;}]*)[;}]", sheet).group(1).strip()
    fallback = re.fullmatch(r"var\([^,]*,(.*)\)", found)
    return fallback.group(1).strip() if fallback else found


def channels(color):
    """Red, green and blue from 0 to 255, and how much covers what is below."""
    color = {"white": "#ffffff", "black": "#000000"}.get(color, color)
    if color.startswith("#"):
        digits = color[1:] if len(color) == 7 else "".join(digit * 2 for digit in color[1:])
        return [int(digits[at : at + 2], 16) for at in (0, 2, 4)] + [1]
    return [float(part) for part in re.search(r"rgba?\((.*)\)", color).group(1).split(",")]


def main():
    scripts = "".join(path.read_text() for path in LAB.glob("static/jlab_core*.js"))
    names = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"]
    names += [name + "-intense" for name in names]
    ansi = {
        name: channels(re.search(rf"\.ansi-{name}-fg {{\s*color: (#\w+)", scripts).group(1))[:3]
        for name in names
    }
    themes = {}
    for theme in THEMES:
        path = LAB / f"themes/@jupyterlab/theme-{theme}-extension/index.css"
        sheet = path.read_text()
        themes[theme] = {name: channels(value(sheet, it)) for name, it in VARIABLES.items()}
    out = Path(__file__).parents[2] / "kernel/testdata/jupyterlab_colors.json"
    found = {"from": f"jupyterlab {jupyterlab.__version__}", "ansi": ansi, "themes": themes}
    out.write_text(json.dumps(found, indent=1) + "\n")


main()

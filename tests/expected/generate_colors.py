"""Writes the colours that matplotlib knows by name, and its colour maps, to frontend-lang/src/builtins/modules/pyplot/colors.txt.

    python3 tests/expected/generate_colors.py            needs matplotlib

A line is one of
    name NAME RRGGBB            a colour
    map NAME RRGGBB ...         33 colours at equal distances; between them colours are mixed
    list NAME RRGGBB ...        a map of these colours and no others
"""

import pathlib

import matplotlib
from matplotlib import colors
from matplotlib.colors import ListedColormap, to_hex

FILE = pathlib.Path(__file__).parents[2] / "frontend-lang/src/builtins/modules/pyplot/colors.txt"
STOPS = 33
MAPS = """viridis plasma inferno magma cividis turbo jet rainbow hsv hot cool spring summer autumn winter bone copper pink terrain
    gray Greys binary Blues Reds Greens Oranges Purples YlGn YlGnBu YlOrRd GnBu PuRd BuPu OrRd
    coolwarm bwr seismic RdBu RdGy RdYlBu RdYlGn Spectral PiYG PRGn BrBG twilight""".split()
LISTS = "tab10 tab20 Set1 Set2 Set3 Paired Accent Dark2 Pastel1 Pastel2".split()


def hexes(found):
    return " ".join(to_hex(color)[1:] for color in found)


def lines():
    yield f"# Written by tests/expected/generate_colors.py with matplotlib {matplotlib.__version__}."
    names = {**colors.BASE_COLORS, **colors.CSS4_COLORS, **colors.TABLEAU_COLORS}
    for name, color in sorted(names.items()):
        yield f"name {name} {hexes([color])}"
    for name in sorted(MAPS):
        found = matplotlib.colormaps[name]
        yield f"map {name} {hexes(found(at / (STOPS - 1)) for at in range(STOPS))}"
    for name in sorted(LISTS):
        found = matplotlib.colormaps[name]
        assert isinstance(found, ListedColormap)
        yield f"list {name} {hexes(found.colors)}"


if __name__ == "__main__":
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_text("\n".join(lines()) + "\n")

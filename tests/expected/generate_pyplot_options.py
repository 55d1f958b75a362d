"""Writes which options matplotlib's functions take, and its settings, to frontend-lang/src/builtins/modules/pyplot/options.txt.

    python3 tests/expected/generate_pyplot_options.py            needs matplotlib, takes some minutes

A function takes an option if calling it with the option is no "unexpected keyword argument". A line is one of
    group NAME OPTION ...            options of a kind of things, such as lines
    function NAME GROUP|OPTION ...   what a function takes; a word that names a group stands for all of it
    setting NAME VALUE               a setting and its usual value, as JSON
"""

import inspect
import json
import keyword
import pathlib
import warnings

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib import artist, collections, figure, image, lines, patches, text

FILE = pathlib.Path(__file__).parents[2] / "frontend-lang/src/builtins/modules/pyplot/options.txt"
GROUPS = {
    "LINE": lines.Line2D,
    "TEXT": text.Text,
    "PATCH": patches.Polygon,
    "COLLECTION": collections.Collection,
    "IMAGE": image.AxesImage,
}
HEIGHTS = np.arange(4.0).reshape(2, 2)
CALLS = {
    "annotate": ("a", (0, 1)),
    "axhline": (),
    "axhspan": (0, 1),
    "axvline": (),
    "axvspan": (0, 1),
    "bar": ([0, 1], [1, 2]),
    "bar_label": lambda: (plt.bar([0], [1]),),
    "barh": ([0, 1], [1, 2]),
    "boxplot": ([1, 2, 3],),
    "colorbar": lambda: (plt.imshow(HEIGHTS),),
    "contour": (HEIGHTS,),
    "contourf": (HEIGHTS,),
    "errorbar": ([0, 1], [1, 2], [1, 1]),
    "figure": (),
    "fill": ([0, 1, 1], [0, 0, 1]),
    "fill_between": ([0, 1], [1, 2]),
    "grid": (True,),
    "hist": ([1, 2, 3],),
    "hlines": (0, 1, 2),
    "imshow": (HEIGHTS,),
    "legend": lambda: plt.plot([1], label="a") and (),
    "matshow": (HEIGHTS,),
    "pcolormesh": (HEIGHTS,),
    "pie": ([1, 2],),
    "plot": ([1, 2],),
    "scatter": ([1, 2], [1, 2]),
    "semilogx": ([1, 2],),
    "semilogy": ([1, 2],),
    "loglog": ([1, 2],),
    "stackplot": ([1, 2], [1, 2]),
    "stem": ([1, 2],),
    "step": ([1, 2], [1, 2]),
    "subplot": (),
    "subplots": (),
    "suptitle": ("a",),
    "text": (0, 0, "a"),
    "title": ("a",),
    "vlines": (0, 1, 2),
    "xlabel": ("a",),
    "xticks": ([0],),
    "ylabel": ("a",),
    "yticks": ([0],),
}


def options_of(kind) -> set[str]:
    """The properties of a class of artists, under all their names."""
    inspector = artist.ArtistInspector(kind)
    return {*inspector.get_setters(), *(name for names in inspector.get_aliases().values() for name in names)}


def candidates() -> list[str]:
    """Every name that any of the functions might take: properties, parameters, and what their code names in quotes."""
    names = set().union(*map(options_of, [*GROUPS.values(), figure.Figure, plt.Axes]))
    functions = [getattr(owner, name) for name in CALLS for owner in (plt, plt.Axes) if callable(getattr(owner, name, None))]
    for function in [*functions, *MORE]:
        names |= {it.name for it in inspect.signature(function).parameters.values()}
        names |= {it for it in inspect.unwrap(function).__code__.co_consts if isinstance(it, str) and it.isidentifier()}
    return sorted(it for it in names if it != "self" and not it.startswith("_") and not keyword.iskeyword(it))


# Where the options of some functions end up.
MORE = [
    matplotlib.axes.Axes.__init__,
    matplotlib.axes.Axes.set_title,
    matplotlib.axis.Axis.set_tick_params,
    matplotlib.colorbar.Colorbar.__init__,
    matplotlib.colorbar.make_axes,
    matplotlib.colorbar.make_axes_gridspec,
    matplotlib.contour.ContourSet.__init__,
    matplotlib.contour.QuadContourSet._process_args,
    matplotlib.figure.Figure.__init__,
    matplotlib.figure.Figure.add_subplot,
    matplotlib.figure.FigureBase._suplabels,
    matplotlib.legend.Legend.__init__,
    matplotlib.text.Annotation.__init__,
    matplotlib.text.Text.__init__,
]
REFUSED = ("unexpected keyword argument", "multiple values for", "has no property", "is not recognized")


def is_taken(function: str, option: str) -> bool:
    plt.close("all")
    given = CALLS[function]
    try:
        getattr(plt, function)(*(given() if callable(given) else given), **{option: object()})
    except Exception as error:
        return not any(words in str(error) for words in REFUSED)
    return True


def functions() -> dict[str, set[str]]:
    names = candidates()
    return {function: {it for it in names if is_taken(function, it)} for function in CALLS}


def text_of_functions(found: dict[str, set[str]]):
    groups = {name: options_of(kind) for name, kind in GROUPS.items()}
    # What all functions that take a group take of it.
    for name, group in groups.items():
        users = [taken for taken in found.values() if len(group & taken) > 0.8 * len(group)]
        groups[name] = group.intersection(*users)
        yield f"group {name} {' '.join(sorted(groups[name]))}"
    for function, taken in sorted(found.items()):
        used = [name for name, group in groups.items() if group and group <= taken]
        rest = taken - set().union(*(groups[name] for name in used))
        yield " ".join(["function", function, *used, *sorted(rest)])


def settings():
    for name, value in sorted(matplotlib.rcParamsDefault.items()):
        if name == "axes.prop_cycle":
            continue
        try:
            yield f"setting {name} {json.dumps(value)}"
        except TypeError:
            yield f"setting {name} null"


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    FILE.write_text(
        "\n".join(
            [
                f"# Written by tests/expected/generate_pyplot_options.py with matplotlib {matplotlib.__version__}.",
                *text_of_functions(functions()),
                *settings(),
            ]
        )
        + "\n"
    )

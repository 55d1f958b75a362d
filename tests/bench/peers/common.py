"""What the scripts of the other peers share: which rows, how time is taken, and the text of the networks."""

import sys
from pathlib import Path

WORKLOADS = Path(__file__).resolve().parent.parent / "workloads"
THREADS = int(sys.argv[1])


def texts(*names):
    """The text of these workloads, with what it needs before it."""
    return "COMPILE = False\n" + "\n\n".join((WORKLOADS / f"{name}.ng").read_text() for name in names)


def clock():
    """`seconds`, `results`, `checks` and `report` of `clock.ng`."""
    names = {}
    exec(texts("clock"), names)
    return names

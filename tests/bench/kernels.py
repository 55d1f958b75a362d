"""Measures kernels with tests/jupyter/latency.py and prints one JSON line. Arguments: ROUNDS NAME..."""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "jupyter"))
import latency  # noqa: E402


def main():
    rounds, names = int(sys.argv[1]), sys.argv[2:]
    found = {name: [] for name in names}
    for _ in range(rounds):
        for name in names:
            ready, reply, idle, rss = latency.measure(name)
            found[name].append({"kernel ready": ready / 1e3, "kernel reply": reply / 1e3, "kernel idle": idle / 1e3, "kernel memory": rss})
    print(json.dumps(found))


main()

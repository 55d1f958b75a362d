"""Prints how long a cell runs on after an interrupt, the worst of several, for one long operation at a time.

Usage: NOTEGRAD_BIN=target/release/notegrad python tests/jupyter/interrupt_latency.py [COUNT] [NAME ...]
"""

import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from conftest import Session, binary

# What is made before, and the operation, which is repeated until the interrupt comes.
CASES = {
    "loop": ("", "n = 1"),
    "zeros": ("", "torch.zeros(n)"),
    "full": ("", "torch.full((n,), 2.5)"),
    "arange": ("", "torch.arange(n)"),
    "linspace": ("", "torch.linspace(0, 1, n)"),
    "eye": ("", "torch.eye(8000)"),
    "rand": ("", "torch.rand(n)"),
    "randn": ("", "torch.randn(n)"),
    "randint": ("", "torch.randint(0, 9, (n,))"),
    "randperm": ("", "torch.randperm(n // 8)"),
    "clone": ("x = torch.zeros(n)", "x.clone()"),
    "add": ("x = torch.zeros(n)", "x + 1"),
    "cat": ("x = torch.zeros(n // 2)", "torch.cat([x, x])"),
    "stack": ("x = torch.zeros(n // 2)", "torch.stack([x, x])"),
    "contiguous": ("x = torch.zeros(n // 10_000, 10_000)", "x.t().contiguous()"),
    "expanded": ("x = torch.zeros(1)", "x.expand(n).contiguous()"),
    "double": ("x = torch.zeros(n)", "x.double()"),
    "sum": ("x = torch.zeros(n)", "x.sum()"),
    "cumsum": ("x = torch.zeros(n)", "x.cumsum(0)"),
    "sort": ("x = torch.rand(n // 8)", "x.sort()"),
    "max": ("x = torch.zeros(n)", "x.max()"),
    "conv2d": (
        "x, w = torch.rand(16, 64, 128, 128), torch.rand(64, 64, 3, 3)",
        "torch.nn.functional.conv2d(x, w, padding=1)",
    ),
    "matmul": ("x = torch.zeros(3000, 3000)", "x @ x"),
    "repeat": ("x = torch.zeros(n // 4)", "x.repeat(4)"),
    "slice write": ("x = torch.zeros(n)", "x[1:] = 2.0"),
    "index": ("x = torch.zeros(n)\ni = torch.zeros(n // 8, dtype=torch.int64)", "x[i]"),
    "mask": ("x = torch.zeros(n)", "x[x == 0]"),
    "flip": ("x = torch.zeros(n)", "x.flip(0)"),
    "tolist": ("x = torch.zeros(n // 16)", "x.tolist()"),
    "tensor": ("x = [0.0] * (n // 16)", "torch.tensor(x)"),
    "numpy": ("import numpy as np", "np.zeros(n)"),
    "numpy copy": ("import numpy as np\nx = np.zeros(n)", "x.copy()"),
    "str *": ("", "'a' * (4 * n)"),
    "str * long": ("s = 'ab' * 1000", "s * (n // 500)"),
    "str +": ("s = 'a' * (2 * n)", "s + s"),
    "str +=": ("s = 'a' * (2 * n)", "t = s; t += 'b'"),
    "join": ("s = ['a' * 1000] * (n // 1000)", "''.join(s)"),
    "join one": ("s = ['a' * n]", "''.join(s * 4)"),
    "replace": ("s = 'ab' * (n // 2)", "s.replace('a', 'ccc')"),
    "upper": ("s = 'ab' * (n // 2)", "s.upper()"),
    "find": ("s = 'a' * n", "s.find('b')"),
    "split": ("s = 'a ' * (n // 16)", "s.split()"),
    "slice": ("s = 'a' * (4 * n)", "s[1:]"),
    "reversed": ("s = 'a' * n", "s[::-1]"),
    "str ==": ("s = 'a' * (2 * n)\nt = s + 'b'\ns += 'c'", "s == t"),
    "encode count": ("s = 'a' * n", "s.count('a')"),
    "str list": ("x = list(range(n // 16))", "str(x)"),
    "repr str": ("s = 'a' * n", "repr(s)"),
    "format": ("s = 'a' * n", "f'{s}{s}'"),
    "percent": ("s = 'a' * n", "'%s%s' % (s, s)"),
    "list *": ("", "[0] * (n // 4)"),
    "list +": ("x = [0] * (n // 8)", "x + x"),
    "list copy": ("x = [0] * (n // 8)", "x[:]"),
    "list sort": ("x = list(range(n // 32))[::-1]", "sorted(x)"),
    "range list": ("", "list(range(n // 8))"),
    "dict": ("x = dict.fromkeys(range(n // 64))", "dict(x)"),
    "set": ("x = list(range(n // 64))", "set(x)"),
    "print": ("s = 'a' * n", "print(s)"),
    "display": ("", "display(1)"),
}


def worst(it, setup, operation, count):
    """Seconds from the interrupt to the reply, the worst of `count`."""
    assert it.run(f"import torch\nn = {SIZE}\n{setup}")[0]["status"] == "ok", setup
    times = []
    for _ in range(count):
        cell = it.kc.execute(f"while True:\n    {operation}")
        time.sleep(0.3 + random.random() / 2)
        start = time.monotonic()
        it.km.interrupt_kernel()
        reply = it.reply(cell, timeout=60)["content"]
        times.append(time.monotonic() - start)
        assert reply["ename"] == "KeyboardInterrupt", reply
    return max(times)


SIZE = int(os.environ.get("SIZE", 50_000_000))


def main(count=5, *names):
    with tempfile.TemporaryDirectory() as prefix:
        subprocess.run([binary(), "install", "--prefix", prefix], check=True, capture_output=True)
        os.environ["JUPYTER_PATH"] = str(Path(prefix) / "share" / "jupyter")
        for name, (setup, operation) in CASES.items():
            if not names or name in names:
                it = Session("notegrad")
                it.run("%check off")
                try:
                    print(f"{name:<14}{1000 * worst(it, setup, operation, int(count)):8.1f} ms", flush=True)
                finally:
                    it.close()


if __name__ == "__main__":
    main(*sys.argv[1:])

"""How long completion and help take, at rest and while a cell runs, in a session with a model and many names.

    python tests/jupyter/editor_latency.py [KERNEL]
"""

import statistics
import sys
import time

from jupyter_client.manager import KernelManager

SETUP = """
import torch
import torch.nn as nn
model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 10))
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
x = torch.randn(32, 64)
model(x).sum().backward()
opt.step()
"""
NAMES = "\n".join(f"name_{at} = {at}" for at in range(100)) + "\n"
NAMES += "\n".join(f"tensor_{at} = torch.ones({at % 7 + 1}, 5)" for at in range(100))
COMPLETIONS = ["na", "model.", "torch.optim.Adam(model.parameters(), ", "torch.nn.functional.", "x.re", "import torch.", "%tr"]
INSPECTIONS = ["model", "x", "torch.optim.Adam(", "torch.nn.functional.silu", "nn.Linear", "tensor_7"]
ROUNDS = 50


def reply(kc, msg_id):
    while True:
        message = kc.get_shell_msg(timeout=30)
        if message["parent_header"].get("msg_id") == msg_id:
            return message["content"]


def times(kc, ask, texts):
    found = {}
    for text in texts:
        each = []
        for _ in range(ROUNDS):
            start = time.perf_counter()
            content = reply(kc, ask(text))
            each.append((time.perf_counter() - start) * 1e3)
        found[text] = statistics.median(each), max(each), len(content.get("matches", content.get("data", "")))
    return found


def show(title, found):
    for text, (median, worst, size) in found.items():
        print(f"{title:<22}{text:<42}{median:>8.2f}{worst:>8.2f}{size:>6}")


def main():
    km = KernelManager(kernel_name=sys.argv[1] if len(sys.argv) > 1 else "notegrad")
    km.start_kernel()
    kc = km.client()
    kc.start_channels()
    kc.wait_for_ready(timeout=30)
    print(f"{'':<64}{'median':>8}{'worst':>8}  size, in ms")
    for cell in [SETUP, NAMES]:
        assert reply(kc, kc.execute(cell))["status"] == "ok"
    cells = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        reply(kc, kc.execute("1"))
        cells.append((time.perf_counter() - start) * 1e3)
    show("a cell, with snapshot", {"1": (statistics.median(cells), max(cells), 0)})
    show("completion", times(kc, kc.complete, COMPLETIONS))
    show("inspection", times(kc, kc.inspect, INSPECTIONS))
    kc.execute("import time\ntime.sleep(8)")
    time.sleep(0.5)
    show("completion, busy", times(kc, kc.complete, COMPLETIONS[:3]))
    show("inspection, busy", times(kc, kc.inspect, INSPECTIONS[:3]))
    kc.stop_channels()
    km.shutdown_kernel(now=True)


if __name__ == "__main__":
    main()

"""Start-up and round-trip times of the kernel beside ipykernel's, in one run.

    python tests/jupyter/latency.py [notegrad python3 ...]

The kernels take turns; the least of the rounds is shown, and the ratio to the first kernel.
"""

import statistics
import sys
import time

from jupyter_client.manager import KernelManager

ROUNDS, CELLS = 3, 200


def measure(name):
    start = time.perf_counter()
    km = KernelManager(kernel_name=name)
    km.start_kernel()
    kc = km.client()
    kc.start_channels()
    asked = kc.kernel_info()
    while kc.get_shell_msg(timeout=30)["parent_header"]["msg_id"] != asked:
        pass
    ready = time.perf_counter() - start
    while True:
        try:
            kc.get_iopub_msg(timeout=0.5)
        except Exception:
            break
    replies, idles = [], []
    for _ in range(CELLS):
        begin = time.perf_counter()
        cell = kc.execute("1+1")
        while kc.get_shell_msg(timeout=30)["parent_header"].get("msg_id") != cell:
            pass
        replies.append(time.perf_counter() - begin)
        while True:
            message = kc.get_iopub_msg(timeout=30)
            if message["content"].get("execution_state") == "idle" and message["parent_header"]["msg_id"] == cell:
                break
        idles.append(time.perf_counter() - begin)
    with open(f"/proc/{km.provisioner.process.pid}/status") as status:
        rss = next(int(it.split()[1]) for it in status if it.startswith("VmRSS")) / 1024
    kc.stop_channels()
    km.shutdown_kernel(now=True)
    return ready * 1e3, statistics.median(replies) * 1e3, statistics.median(idles) * 1e3, rss


def main():
    names = sys.argv[1:] or ["notegrad", "python3"]
    rounds = {name: [] for name in names}
    for _ in range(ROUNDS):
        for name in names:
            rounds[name].append(measure(name))
    best = {name: [min(it) for it in zip(*rows)] for name, rows in rounds.items()}
    print(f"{'kernel':<16}{'ready ms':>12}{'reply ms':>12}{'idle ms':>12}{'RSS MB':>10}")
    for name, row in best.items():
        ready, reply, idle, rss = row
        print(f"{name:<16}{ready:>12.1f}{reply:>12.2f}{idle:>12.2f}{rss:>10.1f}")
        if name != names[0]:
            ratios = [other / own for other, own in zip(row, best[names[0]])]
            print(f"{'  ratio':<16}" + "".join(f"{it:>{w}.1f}" for it, w in zip(ratios, [12, 12, 12, 10])))


if __name__ == "__main__":
    main()

"""What objects of another process cost under RPyC, beside the rows "packages of Python": `pip install rpyc; python tests/bench/peers/bridge.py`."""

import time

import rpyc


def fastest(run, count):
    times = []
    for _ in range(7):
        start = time.perf_counter()
        for _ in range(count):
            run()
        times.append((time.perf_counter() - start) / count)
    return min(times)


def main():
    modules = rpyc.classic.connect_multiprocess().modules
    call = modules.colorsys.rgb_to_yiq
    options = modules.argparse.Namespace(rate=0.5)
    numbers = modules.array.array("d", range(10000))
    print(f"RPyC {rpyc.__version__}")
    print(f"a small call: {fastest(lambda: call(0.1, 0.2, 0.3), 500) * 1e6:.0f} us")
    print(f"an attribute: {fastest(lambda: options.rate, 500) * 1e6:.0f} us")
    print(f"a loop over 10,000 numbers: {fastest(lambda: sum(numbers), 1) * 1e3:.0f} ms")


if __name__ == "__main__":
    main()

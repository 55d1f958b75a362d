"""Notegrad beside PyTorch, CPython and ipykernel, in one run.

    NOTEGRAD=target/release/notegrad python3 tests/bench/run.py
        [--torch-python P] [--jupyter-python P]   interpreters with the peers; default: this one
        [--torch-compile]                         traced rows of PyTorch use torch.compile
        [--peers]                                 beside torch.compile, JAX and ONNX Runtime too, in a table of its own (`mlp`, `networks`)
        [--before CHECKOUT]                       beside an earlier commit instead: a checkout of it, built
        [--threads 1,2] [--rounds 5] [--only WORKLOAD,...] [--json FILE]

The same source text runs on both sides, in processes that take turns: Notegrad, PyTorch, Notegrad, ... (CPython where no tensors are about). Each process reports
its fastest samples; the median over the rounds is shown. Values computed on both sides must agree, or the row says so.
"""

import argparse
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import rows

HERE = Path(__file__).resolve().parent
WORKLOADS = ["mlp", "cnn", "networks", "attention", "add", "matmul", "chain", "norms", "in_place", "tracing", "costs", "ops"]
PRELUDES = {"networks": ["nets"], "costs": ["nets"], "cuda": ["gpu"], "cuda_steps": ["gpu"], "cuda_nets": ["gpu", "nets"]}
"""What stands before some workloads, behind `clock` and `torch`."""
GPU = ["cuda", "cuda_steps", "cuda_nets"]
"""Workloads that need a GPU: only where they are asked for."""
PEERS = ["mlp", "networks"]
"""Workloads that other peers have rows of too."""
PLAIN = ["language", "packages"]
"""Workloads without tensors; one thread, and CPython is the peer."""
TOLERANCE = 1e-3
"""Largest difference between values of the two sides, relative to the larger one."""
LIMIT = 600
"""Seconds that one process may take."""


class Side:
    """One of the two that are compared: how it runs a source file, and what it measured."""

    def __init__(self, name, command, thread_variables, texts=HERE / "workloads"):
        self.name, self.command, self.thread_variables, self.texts = name, command, thread_variables, texts
        self.measured, self.checks, self.failures = {}, {}, {}

    def run(self, workload, argument, threads):
        """Runs the workload once, in a process of its own, whose command ends with the argument."""
        env = dict(os.environ, **{name: str(threads) for name in self.thread_variables})
        try:
            done = subprocess.run([*self.command, str(argument)], env=env, capture_output=True, text=True, timeout=LIMIT)
            lines = [it for it in done.stdout.splitlines() if it.startswith("{")]
            if done.returncode != 0 or not lines:
                raise RuntimeError(last_line(done.stderr or done.stdout))
        except (RuntimeError, OSError, subprocess.TimeoutExpired) as error:
            self.failures[workload] = str(error)
            return
        report = json.loads(lines[-1])
        for key, value in report["results"].items():
            self.measured.setdefault((key, threads), []).append(value)
        self.checks.update(report["checks"])

    def median(self, key, threads):
        found = self.measured.get((key, threads))
        return statistics.median(found) if found else None


def importable(python, module):
    """The version of a module in an interpreter; None if it is not there."""
    code = f"import {module}; print({module}.__version__)"
    try:
        done = subprocess.run([python, "-c", code], capture_output=True, text=True, timeout=120)
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def last_line(text):
    return (text.strip() or "no output").splitlines()[-1]


def source_of(options, workload, prelude, compiles, texts=HERE / "workloads"):
    """The file of a workload, with what stands before it; None where these texts have none."""
    names = [*prelude, *PRELUDES.get(workload, []), workload]
    paths = [texts / f"{name}.ng" for name in names]
    if not all(it.exists() for it in paths):
        return None
    parts = [it.read_text() for it in paths]
    source = Path(options.folder) / f"{texts.parts[-4]}-{workload}{'-compiled' if compiles else ''}.ng"
    source.write_text(f"COMPILE = {compiles}\n" + "\n\n".join(parts))
    return source


def measure_workloads(options, sides, workloads, threads, prelude):
    for workload in workloads:
        sources = {side.name: source_of(options, workload, prelude, options.torch_compile, side.texts) for side in sides}
        for count in threads:
            for round_idx in range(options.rounds):
                say(f"{workload}, threads {count}, round {round_idx + 1} of {options.rounds}")
                for side in sides:
                    if workload not in side.failures and sources[side.name]:
                        side.run(workload, sources[side.name], count)


def measure_peers(options):
    """The peers that compile, each on the workloads that it has rows for."""
    folder = HERE / "peers"
    compiled = Side("torch.compile", [options.torch_python], ["OMP_NUM_THREADS", "MKL_NUM_THREADS"])
    others = [Side(name, [options.torch_python, folder / script], []) for name, script in [("JAX", "jax_rows.py"), ("ONNX Runtime", "onnx_rows.py")]]
    for count in options.threads:
        for round_idx in range(options.rounds):
            for workload in [it for it in PEERS if it in options.only]:
                say(f"torch.compile, {workload}, threads {count}, round {round_idx + 1} of {options.rounds}")
                compiled.run(workload, source_of(options, workload, ["clock", "torch"], True), count)
            for side in others:
                say(f"{side.name}, threads {count}, round {round_idx + 1} of {options.rounds}")
                side.run("networks", count, count)
    return [compiled, *others]


def print_peers(options, own, peer, others):
    """Rows that others than PyTorch have too; the ratio is that of the fastest peer and Notegrad, traced."""
    print("\n| what | threads | eager | traced | PyTorch | " + " | ".join(it.name for it in others) + " | ratio |")
    print("|---|---:|---:|---:|---:|" + "---:|" * len(others) + "---:|")
    for row in [it for it in rows.ALL if it.key.endswith(" traced")]:
        for threads in options.threads:
            found = [side.median(row.key, threads) for side in others]
            mine = [own.median(row.key.replace("traced", mode), threads) for mode in ["eager", "traced"]]
            if None in mine or not any(found[1:]):
                continue
            theirs = [peer.median(row.key.replace("traced", "eager"), threads), *found]
            wrong = [it for side in [peer, *others] if (it := disagreement(row.key, own, side))]
            cells = [shown(it and row.value(it), row.unit) for it in [*mine, *theirs]]
            ratio = f"{min(filter(None, theirs)) / mine[1]:.2f}x"
            print("| " + " | ".join([row.text.removesuffix(", traced"), str(threads), *cells, wrong[0] if wrong else ratio]) + " |")


def measure_kernels(options, own, peer):
    """Start and round trip of the kernel, beside ipykernel's if that is there."""
    python = options.jupyter_python
    if importable(python, "jupyter_client") is None:
        own.failures["kernel"] = "jupyter_client is not importable"
        return
    names = ["notegrad-bench"] + (["python3"] if importable(python, "ipykernel") else [])
    install = [options.notegrad, "install", "--prefix", options.folder, "--name", names[0]]
    subprocess.run(install, check=True, capture_output=True)
    say("kernels")
    env = dict(os.environ, JUPYTER_PATH=str(Path(options.folder) / "share" / "jupyter"))
    command = [python, HERE / "kernels.py", str(max(options.rounds, 5)), *names]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=LIMIT)
    if done.returncode != 0:
        own.failures["kernel"] = last_line(done.stderr)
        return
    for side, name in zip([own, peer], names):
        for found in json.loads(done.stdout.splitlines()[-1])[name]:
            for key, value in found.items():
                side.measured.setdefault((key, 0), []).append(value)


def measure_check(options, own):
    """What the check of a cell costs before it runs, in a session that has imported its modules."""
    cell = (HERE / "workloads" / "checked.ng").read_text()
    cells = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": source} for _ in range(20) for source in [cell, "%check cost"]]
    notebook = Path(options.folder) / "checked.ipynb"
    notebook.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 4}))
    for round_idx in range(options.rounds):
        say(f"check, round {round_idx + 1} of {options.rounds}")
        done = subprocess.run([options.notegrad, "run", notebook], capture_output=True, text=True, timeout=LIMIT)
        found = [float(it) / 1e3 for it in re.findall(r"check took ([0-9.]+) ms", done.stdout)]
        if len(found) < 2:
            own.failures["check"] = last_line(done.stderr or done.stdout)
            return
        # The first cell imports what it uses.
        own.measured.setdefault(("check", 0), []).append(statistics.median(found[1:]))


def compare(options, own, peer):
    """The finished rows."""
    table = []
    for row in [*rows.ALL, *rows.of_ops(key for key, _ in own.measured)]:
        is_alone = row.key.startswith(("kernel", "check"))
        is_plain = row.key.startswith(("language", "packages"))
        for threads in [0] if is_alone else [1] if is_plain else options.threads:
            mine, theirs = own.median(row.key, threads), peer.median(row.key, threads)
            if mine is None and theirs is None:
                continue
            line = {"key": row.key, "text": row.text, "unit": row.unit, "threads": threads, "aim": row.aim()}
            line |= {"notegrad": mine and row.value(mine), "peer": theirs and row.value(theirs), "ratio": None, "met": None}
            if mine is not None:
                line["met"] = row.met(mine, theirs)
                line["ratio"] = theirs and row.ratio_of(mine, theirs)
            table.append(line | {"note": disagreement(row.key, own, peer)})
    return table


def measure_before(options, own):
    """The workloads of an earlier commit, as they were then, beside those of this one: the rows that both have, in the order of the ratios."""
    checkout = Path(options.before).resolve()
    binary, texts = checkout / "target" / "release" / "notegrad", checkout / "tests" / "bench" / "workloads"
    if missing := [it for it in [binary, texts] if not it.exists()]:
        sys.exit(f"--before: {missing[0]} is not there; name a checkout in which `cargo build --release -p kernel` has run")
    before = Side("before", [binary, "run"], own.thread_variables, texts)
    tensors, plain = [[it for it in options.only if it in known] for known in [WORKLOADS, PLAIN]]
    measure_workloads(options, [own, before], tensors, options.threads, ["clock", "torch"])
    measure_workloads(options, [own, before], plain, [1], ["clock"])
    texts = {row.key: row for row in [*rows.ALL, *rows.of_ops(key for key, _ in own.measured)]}
    both = [key for key in own.measured if key in before.measured and key[0] in texts]
    ratios = {key: before.median(*key) / own.median(*key) for key in both}
    print("| what | threads | before | now | before / now |\n|---|---:|---:|---:|---:|")
    for key in sorted(both, key=ratios.get):
        row = texts[key[0]]
        times = [shown(row.value(side.median(*key)), row.unit) for side in [before, own]]
        print(f"| {row.text} | {key[1]} | {times[0]} | {times[1]} | {ratios[key]:.2f}x |")
    if both:
        print(f"\nGeometric mean of {len(both)} rows: {statistics.geometric_mean(ratios.values()):.2f}x")
    for side in [own, before]:
        for workload, reason in side.failures.items():
            print(f"\n{side.name} did not run `{workload}`: {reason}")
    return 1 if own.failures else 0


def mean_of_ratios(own, peer):
    """Adds the geometric mean over the rows of the language, as seconds whose ratio it is."""
    keys = [key for key in own.measured if key[0].startswith("language ") and key in peer.measured]
    if keys:
        for side in [own, peer]:
            side.measured["language", 1] = [statistics.geometric_mean([side.median(*key) for key in keys])]


def disagreement(key, own, peer):
    """What is wrong when both sides computed the value behind a row and it differs."""
    mine, theirs = own.checks.get(key), peer.checks.get(key)
    if mine is None or theirs is None or abs(mine - theirs) <= TOLERANCE * max(abs(mine), abs(theirs), 1e-6):
        return ""
    return f"values differ: {mine:.6g} and {theirs:.6g}"


def print_table(table):
    print("| what | threads | Notegrad | peer | ratio | aim | |\n|---|---:|---:|---:|---:|---:|---|")
    for it in table:
        threads = it["threads"] or ""
        verdict = {True: "met", False: "missed", None: ""}[it["met"]]
        ratio = f"{it['ratio']:.2f}x" if it["ratio"] else ""
        cells = [it["text"], threads, shown(it["notegrad"], it["unit"]), shown(it["peer"], it["unit"]), ratio, it["aim"]]
        print("| " + " | ".join(map(str, [*cells, it["note"] or verdict])) + " |")


def shown(value, unit):
    return "" if value is None else f"{value:.3g} {unit}" if value < 1000 else f"{value:.0f} {unit}"


def machine(options):
    cpu = next((it.split(":")[1].strip() for it in read_lines("/proc/cpuinfo") if it.startswith("model name")), platform.processor())
    version = subprocess.run([options.notegrad, "--version"], capture_output=True, text=True).stdout.strip()
    return {
        "cpu": cpu,
        "cores": os.cpu_count(),
        "GPU": gpu(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "load before the run": round(os.getloadavg()[0], 2),
        "notegrad": version,
        "python": platform.python_version(),
        "torch": importable(options.torch_python, "torch"),
        "jax": importable(options.torch_python, "jax"),
        "onnxruntime": importable(options.torch_python, "onnxruntime"),
        "ipykernel": importable(options.jupyter_python, "ipykernel"),
    }


def gpu():
    """The first GPU, with its driver."""
    ask = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    try:
        return subprocess.run(ask, capture_output=True, text=True, timeout=60).stdout.splitlines()[0]
    except (OSError, IndexError):
        return None


def read_lines(path):
    try:
        return Path(path).read_text().splitlines()
    except OSError:
        return []


def say(text):
    print(text, file=sys.stderr, flush=True)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--notegrad", default=os.environ.get("NOTEGRAD", "target/release/notegrad"))
    parser.add_argument("--torch-python", default=sys.executable)
    parser.add_argument("--jupyter-python", default=sys.executable)
    parser.add_argument("--torch-compile", action="store_true")
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--threads", default="1,2", type=lambda text: [int(it) for it in text.split(",")])
    parser.add_argument("--rounds", default=5, type=int)
    parser.add_argument("--only", default=[*WORKLOADS, *PLAIN, "check", "kernel"], type=lambda text: text.split(","))
    parser.add_argument("--before")
    parser.add_argument("--json")
    return parser.parse_args()


def main():
    options = arguments()
    facts = machine(options)
    own = Side("Notegrad", [options.notegrad, "run"], ["NOTEGRAD_NUM_THREADS"])
    peer = Side("PyTorch", [options.torch_python], ["OMP_NUM_THREADS", "MKL_NUM_THREADS"])
    cpython = Side("CPython", [sys.executable], [])
    with tempfile.TemporaryDirectory() as folder:
        options.folder = folder
        if options.before:
            return measure_before(options, own)
        tensors, plain = [[it for it in options.only if it in known] for known in [WORKLOADS + GPU, PLAIN]]
        measure_workloads(options, [own, peer] if facts["torch"] else [own], tensors, options.threads, ["clock", "torch"])
        measure_workloads(options, [own, cpython], plain, [1], ["clock"])
        peer.measured |= cpython.measured
        peer.checks |= cpython.checks
        mean_of_ratios(own, peer)
        others = measure_peers(options) if options.peers else []
        if "check" in options.only:
            measure_check(options, own)
        if "kernel" in options.only:
            measure_kernels(options, own, peer)
    table = compare(options, own, peer)
    for name, value in facts.items():
        print(f"{name}: {value or 'not there'}")
    print()
    print_table(table)
    if others:
        print_peers(options, own, peer, others)
    for side in [own, peer, cpython, *others]:
        for workload, reason in side.failures.items():
            print(f"\n{side.name} did not run `{workload}`: {reason}")
    if options.json:
        raw = {side.name: [[*key, found] for key, found in side.measured.items()] for side in [own, peer]}
        Path(options.json).write_text(json.dumps({"machine": facts, "rows": table, "raw": raw}, indent=1))
    return 1 if own.failures else 0


if __name__ == "__main__":
    sys.exit(main())

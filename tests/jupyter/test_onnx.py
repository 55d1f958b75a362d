"""ONNX files that others wrote, and what others make of those written here."""

import os
import subprocess
import sys

from conftest import ROOT

# As the Rust tests were built.
TEST = ["cargo", "test", "--workspace"]


def run(command, **variables):
    done = subprocess.run(command, cwd=ROOT, env=os.environ | variables, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_suite_of_onnx(tmp_path):
    """What does not pass is listed in tests/onnx/not_passing.txt."""
    run([sys.executable, str(ROOT / "tests" / "onnx" / "cases.py"), str(tmp_path)])
    run([*TEST, "--test", "onnx_suite", "--", "--nocapture"], NOTEGRAD_ONNX_SUITE=str(tmp_path))


def test_another_runtime_agrees(tmp_path):
    """Each row that graphs have, written as an ONNX file."""
    run([*TEST, "--lib", "onnx_out"], NOTEGRAD_ONNX_CASES=str(tmp_path))
    print(run([sys.executable, str(ROOT / "tests" / "onnx" / "other_runtime.py"), str(tmp_path)]))

"""The test suite that comes with the onnx package, run by a Rust test; what does not pass is listed in tests/onnx/not_passing.txt."""

import os
import subprocess
import sys

from conftest import ROOT


def test_the_suite_of_onnx(tmp_path):
    subprocess.run([sys.executable, str(ROOT / "tests" / "onnx" / "cases.py"), str(tmp_path)], check=True)
    command = ["cargo", "test", "--package", "engine", "--test", "onnx_suite", "--", "--nocapture"]
    environment = os.environ | {"NOTEGRAD_ONNX_SUITE": str(tmp_path)}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr

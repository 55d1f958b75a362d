"""Installs the kernel into a directory of its own and starts it for the tests.

The binary is NOTEGRAD_BIN, or else the debug build of this checkout.
"""

import json
import os
import subprocess
from pathlib import Path

import pytest
from jupyter_client.manager import KernelManager

ROOT = Path(__file__).resolve().parents[2]


def binary() -> str:
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    return os.environ.get("NOTEGRAD_BIN", str(target / "debug" / "notegrad"))


def add_echo(kernels: Path) -> None:
    """The same binary around the toy language, for tests of the protocol alone."""
    spec = kernels / "notegrad-echo"
    spec.mkdir(parents=True)
    argv = [binary(), "kernel", "--echo", "-f", "{connection_file}"]
    text = {"argv": argv, "display_name": "Echo", "language": "python", "interrupt_mode": "message"}
    (spec / "kernel.json").write_text(json.dumps(text))
    by_signal = kernels / "notegrad-echo-signal"
    by_signal.mkdir()
    (by_signal / "kernel.json").write_text(json.dumps(text | {"interrupt_mode": "signal"}))


@pytest.fixture(scope="session", autouse=True)
def installed(tmp_path_factory):
    prefix = tmp_path_factory.mktemp("prefix")
    done = subprocess.run([binary(), "install", "--prefix", str(prefix)], capture_output=True)
    assert done.returncode == 0, done.stderr
    share = prefix / "share" / "jupyter"
    add_echo(share / "kernels")
    os.environ["JUPYTER_PATH"] = str(share)
    return share


class Session:
    """A started kernel with the client's channels, and what the tests ask of them."""

    def __init__(self, name: str):
        self.km = KernelManager(kernel_name=name)
        self.km.start_kernel()
        self.kc = self.km.client()
        self.kc.start_channels()
        self.kc.wait_for_ready(timeout=20)

    def close(self):
        self.kc.stop_channels()
        self.km.shutdown_kernel(now=True)

    def reply(self, msg_id, channel="shell", timeout=10):
        get = {"shell": self.kc.get_shell_msg, "control": self.kc.get_control_msg}[channel]
        while True:
            message = get(timeout=timeout)
            if message["parent_header"].get("msg_id") == msg_id:
                return message

    def outputs(self, msg_id, timeout=10):
        """All that is published for a request, up to its `idle`."""
        found = []
        while True:
            message = self.kc.get_iopub_msg(timeout=timeout)
            if message["parent_header"].get("msg_id") != msg_id:
                continue
            found.append((message["msg_type"], message["content"]))
            if message["content"].get("execution_state") == "idle":
                return found

    def run(self, code, **options):
        msg_id = self.kc.execute(code, **options)
        return self.reply(msg_id)["content"], self.outputs(msg_id)

    def text(self, outputs, name="stdout"):
        return "".join(c["text"] for t, c in outputs if t == "stream" and c["name"] == name)


def session(name):
    @pytest.fixture
    def fixture(installed):
        it = Session(name)
        yield it
        it.close()

    return fixture


echo = session("notegrad-echo")
echo_by_signal = session("notegrad-echo-signal")
kernel = session("notegrad")

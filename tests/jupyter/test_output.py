"""What a cell shows arrives: all of it at clients that read, at the pace that a Jupyter server passes on."""

import json
import os
import time

import pytest
import zmq
from conftest import Session

# As jupyter_server's ZMQChannelsWebsocketConnection has them unless configured otherwise.
MESSAGES, BYTES, WINDOW = 1000, 1_000_000, 3


@pytest.fixture
def behind_server(installed, monkeypatch):
    """A kernel as a Jupyter server starts it: it has the notebook's name in its environment."""
    monkeypatch.setenv("JPY_SESSION_NAME", "work/notebook.ipynb")
    it = Session("notegrad")
    yield it
    it.close()


class Server:
    """Counts as a Jupyter server does, by the clock of who reads."""

    def __init__(self):
        self.counted = []
        self.most = [0.0, 0.0]

    def passes_on(self, frames, message):
        if message["content"].get("execution_state") == "idle":
            self.counted.clear()
        if message["msg_type"] in ("status", "comm_open", "execute_input"):
            return
        now = time.monotonic()
        size = sum(map(len, frames)) if message["msg_type"] == "stream" else 0
        self.counted = [it for it in self.counted if it[0] > now - WINDOW] + [(now, size)]
        rates = (len(self.counted) / WINDOW, sum(it[1] for it in self.counted) / WINDOW)
        self.most = [max(pair) for pair in zip(self.most, rates)]


def read_as_server(it, msg_id):
    """All that is published for a cell, and the highest rates at which it came."""
    server, found = Server(), []
    while True:
        frames = it.kc.iopub_channel.socket.recv_multipart() if it.kc.iopub_channel.socket.poll(20_000) else None
        assert frames, "the kernel fell silent"
        message = it.kc.session.deserialize(it.kc.session.feed_identities(frames)[1])
        server.passes_on(frames, message)
        if message["parent_header"].get("msg_id") != msg_id:
            continue
        found.append((message["msg_type"], message["content"]))
        if message["content"].get("execution_state") == "idle":
            return found, server.most


def test_a_client_that_reads_gets_every_line(kernel):
    reply, outputs = kernel.run("for i in range(150_000):\n    print('line', i, '-' * 60)")
    assert reply["status"] == "ok"
    lines = kernel.text(outputs).splitlines()
    assert len(lines) == 150_000
    assert all(line == f"line {i} {'-' * 60}" for i, line in enumerate(lines))
    assert len(outputs) < 1000


def test_a_client_that_reads_late_gets_every_line(kernel):
    cell = kernel.kc.execute("for i in range(20):\n    print(str(i) * 1_000_000)\nprint('end')")
    time.sleep(2)
    text = kernel.text(kernel.outputs(cell))
    assert len(text) == (10 + 2 * 10 + 20 / 1_000_000) * 1_000_000 + 4 and text.endswith("end\n")


def test_long_text_is_sent_in_pieces(kernel):
    _, outputs = kernel.run("print('é' * 1_000_000)")
    assert kernel.text(outputs) == "é" * 1_000_000 + "\n"
    assert max(len(it["text"].encode()) for kind, it in outputs if kind == "stream") <= 128 << 10


def test_displays_stay_below_the_rate_of_a_server_and_all_arrive(behind_server):
    cell = behind_server.kc.execute("for i in range(4000):\n    display(i)")
    outputs, (messages, _) = read_as_server(behind_server, cell)
    shown = [it["data"]["text/plain"] for kind, it in outputs if kind == "display_data"]
    assert shown == [str(i) for i in range(4000)]
    assert messages <= MESSAGES


def test_text_stays_below_the_rate_of_a_server_and_all_arrives(behind_server):
    cell = behind_server.kc.execute("for i in range(60_000):\n    print('x' * 79)")
    outputs, (_, data) = read_as_server(behind_server, cell)
    assert len(behind_server.text(outputs)) == 60_000 * 80
    assert data <= BYTES


def test_updates_of_a_display_do_not_wait_and_the_last_arrives(behind_server):
    code = "display(0, display_id='bar')\nfor i in range(50_000):\n    update_display(i, display_id='bar')"
    cell = behind_server.kc.execute(code)
    outputs, (messages, _) = read_as_server(behind_server, cell)
    updates = [it["data"]["text/plain"] for kind, it in outputs if kind == "update_display_data"]
    assert updates[-1] == "49999" and updates == sorted(updates, key=int)
    assert len(updates) < 5000 and messages <= MESSAGES


def test_text_that_is_cleared_at_once_is_not_sent(behind_server):
    code = "for i in range(20_000):\n    clear_output(wait=True)\n    print(i)"
    cell = behind_server.kc.execute(code)
    outputs, (messages, _) = read_as_server(behind_server, cell)
    text = ""
    for kind, content in outputs:
        text = "" if kind == "clear_output" else text + content.get("text", "")
    assert text == "19999\n" and len(outputs) < 5000 and messages <= MESSAGES


def test_an_interrupt_ends_the_waiting(behind_server):
    cell = behind_server.kc.execute("for i in range(100_000):\n    display(i)")
    time.sleep(2)
    start = time.monotonic()
    behind_server.km.interrupt_kernel()
    assert behind_server.reply(cell)["content"]["ename"] == "KeyboardInterrupt"
    assert time.monotonic() - start < 2
    assert behind_server.run("1")[0]["status"] == "ok"


def rss(pid):
    with open(f"/proc/{pid}/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS")) * 1024


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="only Linux tells it")
def test_a_client_that_never_reads_is_waited_for_once_and_told(kernel):
    """It costs a bound of memory and a moment of the cell; others get everything."""
    info = kernel.km.get_connection_info()
    silent = zmq.Context.instance().socket(zmq.SUB)
    silent.rcvhwm = 1
    silent.subscribe(b"")
    silent.connect(f"tcp://{info['ip']}:{info['iopub_port']}")
    time.sleep(0.3)
    cells = [kernel.kc.execute("for i in range(50):\n    print('y' * 1_000_000)") for _ in range(4)]
    for cell in cells:
        assert len(kernel.text(kernel.outputs(cell, timeout=30))) == 50 * 1_000_001
    assert rss(kernel.km.provisioner.process.pid) < 400_000_000
    # When it reads at last it gets what was kept, is told of the rest, and misses nothing from then on.
    got, text, late = 0, "", False
    while not text.endswith("on\n"):
        assert silent.poll(20_000)
        frames = kernel.kc.session.feed_identities(silent.recv_multipart())[1]
        text = json.loads(frames[4]).get("text", "")
        got += len(text)
        if "not shown" in text:
            late = late or kernel.kc.execute("print('on')")
    assert 50_000_000 < got < 150_000_000
    silent.close(linger=0)

"""The protocol, over a toy language in which each line is a command (`kernel/src/echo.rs`)."""

import os
import re
import signal
import socket
import subprocess
import time
from pathlib import Path

import pytest
from conftest import Session, binary
from jupyter_client.blocking import BlockingKernelClient
from jupyter_client.connect import write_connection_file
from jupyter_kernel_test.msgspec_v5 import validate_message


def types(outputs):
    return [t if t != "status" else c["execution_state"] for t, c in outputs]


def test_order_of_messages(echo):
    reply, outputs = echo.run("print a\nshow 1 x\nprint b\nvalue")
    assert reply["status"] == "ok" and reply["execution_count"] == 1
    assert types(outputs) == [
        "busy", "execute_input", "stream", "display_data", "stream", "execute_result", "idle",
    ]
    assert echo.text(outputs) == "a\nb\n"


def test_error_has_all_fields_once(echo):
    reply, outputs = echo.run("fail ValueError no good")
    assert (reply["status"], reply["ename"], reply["evalue"]) == ("error", "ValueError", "no good")
    assert types(outputs) == ["busy", "execute_input", "error", "idle"]
    assert outputs[2][1]["traceback"] == reply["traceback"]


def test_a_bug_is_an_error_cell(echo):
    reply, _ = echo.run("panic on purpose")
    assert reply["ename"] == "InternalError" and "on purpose" in reply["evalue"]
    assert echo.run("print alive")[0]["status"] == "ok"


def test_many_small_prints_are_few_messages(echo):
    msg_id = echo.kc.execute("flood 50000")
    outputs = echo.outputs(msg_id)
    assert echo.text(outputs) == "".join(f"{n}\n" for n in range(50000))
    assert len(outputs) < 40


def test_text_is_shown_while_the_cell_runs(echo):
    echo.run("print warm")
    start = time.monotonic()
    msg_id = echo.kc.execute("print now\nsleep 1000")
    while echo.kc.get_iopub_msg(timeout=5)["msg_type"] != "stream":
        pass
    assert time.monotonic() - start < 0.7
    echo.outputs(msg_id)


def test_silent(echo):
    reply, outputs = echo.run("value", silent=True)
    assert reply["status"] == "ok" and types(outputs) == ["busy", "idle"]
    reply, _ = echo.run("value", store_history=False)
    assert reply["execution_count"] == 0
    assert echo.run("value")[0]["execution_count"] == 1


def test_user_expressions(echo):
    reply, _ = echo.run("print x", user_expressions={"a": "hello", "b": "fail E v"})
    assert reply["user_expressions"]["a"]["data"] == {"text/plain": "hello"}
    assert reply["user_expressions"]["b"]["ename"] == "E"


def test_stop_on_error_aborts_what_waits(echo):
    # While the first waits, all others come in.
    cells = [echo.kc.execute(code) for code in ["sleep 1000", "print 2", "fail E v"] + ["print 4"] * 17]
    replies = [echo.reply(it)["content"] for it in cells]
    assert [it["status"] for it in replies] == ["ok", "ok", "error"] + ["aborted"] * 17
    assert {it["ename"] for it in replies[3:]} == {"Aborted"}
    assert types(echo.outputs(cells[-1])) == ["busy", "idle"]
    assert echo.run("print on")[0]["status"] == "ok"


def test_without_stop_on_error_the_rest_runs(echo):
    cells = [echo.kc.execute(code, stop_on_error=False) for code in ["fail E v", "print on"]]
    assert [echo.reply(it)["content"]["status"] for it in cells] == ["error", "ok"]


def test_the_next_cell_after_an_error_runs(echo):
    for _ in range(5):
        assert echo.run("fail E v")[0]["status"] == "error"
        assert echo.run("print on")[0]["status"] == "ok"


def test_stdin(echo):
    msg_id = echo.kc.execute("ask Name:", allow_stdin=True)
    question = echo.kc.get_stdin_msg(timeout=10)
    assert question["content"] == {"prompt": "Name:", "password": False}
    echo.kc.input("Ada")
    assert echo.text(echo.outputs(msg_id)) == "Ada\n"


def test_stdin_is_refused_when_nobody_answers(echo):
    reply, _ = echo.run("ask Name:", allow_stdin=False)
    assert reply["ename"] == "StdinNotImplementedError"


def test_an_interrupt_ends_a_waiting_input(echo):
    msg_id = echo.kc.execute("ask Name:", allow_stdin=True)
    echo.kc.get_stdin_msg(timeout=10)
    echo.km.interrupt_kernel()
    assert echo.reply(msg_id)["content"]["ename"] == "KeyboardInterrupt"


@pytest.mark.parametrize("how", ["echo", "echo_by_signal"])
def test_interrupt(how, request):
    it = request.getfixturevalue(how)
    it.km.interrupt_kernel()
    assert it.run("print idle")[0]["status"] == "ok"
    running = it.kc.execute("sleep 10000")
    waiting = it.kc.execute("print never")
    time.sleep(0.3)
    start = time.monotonic()
    it.km.interrupt_kernel()
    assert it.reply(running)["content"]["ename"] == "KeyboardInterrupt"
    assert time.monotonic() - start < 1
    assert it.reply(waiting)["content"]["ename"] == "Aborted"
    assert it.run("print on")[0]["execution_count"] == 3


def test_completion_while_a_cell_runs(echo):
    cell = echo.kc.execute("sleep 1500")
    time.sleep(0.2)
    start = time.monotonic()
    asked = echo.kc.complete("pri")
    assert echo.reply(asked)["content"]["matches"] == ["print"]
    assert time.monotonic() - start < 0.5
    states = []
    while not states or states[-1] != (cell, "idle"):
        message = echo.kc.get_iopub_msg(timeout=5)
        if message["msg_type"] == "status":
            states.append((message["parent_header"]["msg_id"], message["content"]["execution_state"]))
    assert states == [(cell, "busy"), (asked, "busy"), (asked, "idle"), (cell, "busy"), (cell, "idle")]
    assert echo.reply(cell)["content"]["status"] == "ok"


def test_cursor_counts_code_points(echo):
    asked = echo.kc.complete("🙂é pri", 6)
    content = echo.reply(asked)["content"]
    assert (content["cursor_start"], content["cursor_end"]) == (3, 6)


def test_payloads(echo):
    reply, _ = echo.run("page help\nnext 1+1")
    assert reply["payload"] == [
        {"source": "page", "data": {"text/plain": "help"}, "start": 0},
        {"source": "set_next_input", "text": "1+1", "replace": False},
    ]


def test_display_ids_and_clear(echo):
    _, outputs = echo.run("show a one\nupdate a two\nclear")
    assert types(outputs)[2:5] == ["display_data", "update_display_data", "clear_output"]
    assert outputs[2][1]["transient"] == {"display_id": "a"}


def ask(it, channel, msg_type, content):
    """The reply to a request, and what is published for it."""
    message = it.kc.session.msg(msg_type, content)
    getattr(it.kc, f"{channel}_channel").send(message)
    msg_id = message["header"]["msg_id"]
    reply = it.reply(msg_id, channel)
    assert reply["msg_type"] == msg_type.replace("_request", "_reply")
    return reply["content"], types(it.outputs(msg_id))


@pytest.mark.parametrize("channel", ["shell", "control"])
def test_every_request_is_answered(echo, channel):
    for name, content in [
        ("nonsense_request", {}),
        ("create_subshell_request", {}),
        ("delete_subshell_request", {"subshell_id": "x"}),
        ("delete_subshell_request", {}),
        ("debug_request", {"type": "request", "seq": 4, "command": "debugInfo"}),
        ("connect_request", {}),
    ]:
        reply, outputs = ask(echo, channel, name, content)
        assert reply["status"] == "error" and reply["ename"] and reply["evalue"] and reply["traceback"]
        assert outputs == ["busy", "idle"]
    assert ask(echo, channel, "list_subshell_request", {})[0] == {"status": "ok", "subshell_id": []}
    assert ask(echo, channel, "interrupt_request", {})[0] == {"status": "ok"}


def test_a_debug_reply_is_one_of_the_debug_adapter_protocol(echo):
    reply, _ = ask(echo, "control", "debug_request", {"type": "request", "seq": 4, "command": "attach"})
    assert (reply["type"], reply["request_seq"], reply["command"]) == ("response", 4, "attach")
    assert reply["success"] is False and "debugger" in reply["message"]


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="only Linux tells it")
def test_usage(echo):
    echo.run("sleep 50")
    reply, _ = ask(echo, "control", "usage_request", {})
    assert reply["status"] == "ok" and reply["pid"] == echo.km.provisioner.process.pid
    assert 1e6 < reply["kernel_memory"] < reply["host_virtual_memory"]["total"]
    assert 0 <= reply["host_cpu_percent"] <= 100 and reply["kernel_cpu"] >= 0
    assert reply["hostname"] == socket.gethostname() and reply["cpu_count"] >= 1


def test_messages_that_are_no_requests_and_comms(echo):
    message = echo.kc.session.msg("nonsense", {})
    echo.kc.shell_channel.send(message)
    assert types(echo.outputs(message["header"]["msg_id"])) == ["busy", "idle"]
    message = echo.kc.session.msg("comm_open", {"comm_id": "c", "target_name": "t", "data": {}})
    echo.kc.shell_channel.send(message)
    assert types(echo.outputs(message["header"]["msg_id"])) == ["busy", "comm_close", "idle"]


def test_bad_content_is_answered(echo):
    for name in ["complete_request", "execute_request", "inspect_request"]:
        message = echo.kc.session.msg(name, {"code": 7})
        echo.kc.shell_channel.send(message)
        reply = echo.reply(message["header"]["msg_id"])["content"]
        assert reply["status"] == "error" and reply["traceback"]


def test_the_parent_header_comes_back_whole(echo):
    message = echo.kc.session.msg("kernel_info_request", {})
    message["header"]["subshell_id"] = "some"
    echo.kc.shell_channel.send(message)
    reply = echo.reply(message["header"]["msg_id"])
    assert reply["parent_header"]["subshell_id"] == "some"


def test_malformed_traffic_is_survived(echo):
    import zmq

    info = echo.km.get_connection_info()
    context = zmq.Context.instance()
    for port in ["shell_port", "control_port", "stdin_port"]:
        raw = context.socket(zmq.DEALER)
        raw.connect(f"tcp://{info['ip']}:{info[port]}")
        for frames in [[b""], [b"<IDS|MSG>"], [b"<IDS|MSG>", b"0", b"{", b"", b"", b""], [b"x"] * 9]:
            raw.send_multipart(frames)
        raw.close(linger=200)
    for port in [it for it in info if it.endswith("_port")]:
        for junk in [b"GET / HTTP/1.1\r\n\r\n" * 8, os.urandom(200), b""]:
            with socket.create_connection((info["ip"], info[port])) as peer:
                peer.sendall(junk)
    assert echo.run("print alive")[0]["status"] == "ok"
    assert echo.kc.is_alive()


def test_heartbeat_echoes(echo):
    import zmq

    info = echo.km.get_connection_info()
    beat = zmq.Context.instance().socket(zmq.REQ)
    beat.connect(f"tcp://{info['ip']}:{info['hb_port']}")
    for ping in [b"ping", b"\x00\xff" * 400]:
        beat.send(ping)
        assert beat.poll(5000) and beat.recv() == ping
    beat.close(linger=0)


@pytest.mark.parametrize("code", [None, "sleep 10000"])
def test_shutdown_is_answered_and_ends_the_process(code, installed):
    it = Session("notegrad-echo")
    if code:
        it.kc.execute(code)
        time.sleep(0.2)
    message = it.kc.session.msg("shutdown_request", {"restart": True})
    it.kc.control_channel.send(message)
    reply = it.reply(message["header"]["msg_id"], "control")
    validate_message(reply, "shutdown_reply", message["header"]["msg_id"])
    assert reply["content"]["restart"] is True
    it.km.provisioner.process.wait(5)
    it.close()


def test_output_just_before_shutdown_arrives(installed):
    it = Session("notegrad-echo")
    cell = it.kc.execute("flood 20000")
    assert it.reply(cell)["content"]["status"] == "ok"
    it.kc.shutdown()
    assert it.text(it.outputs(cell)).endswith("19999\n")
    it.close()


def wait_until_safe(process):
    """Waits until a process drops or takes SIGINT, the first thing it does: before that, an interrupt ends any program."""
    status, deadline = Path(f"/proc/{process.pid}/status"), time.monotonic() + 30
    while status.exists() and time.monotonic() < deadline:
        masks = re.findall(r"Sig(?:Ign|Cgt):\s*(\w+)", status.read_text())
        if any(int(mask, 16) >> (signal.SIGINT - 1) & 1 for mask in masks):
            return


def test_an_interrupt_during_start_up_is_survived(tmp_path):
    for delay in [0.0] * 20 + [0.003, 0.01, 0.05]:
        file, _ = write_connection_file(str(tmp_path / f"{delay}.json"))
        process = subprocess.Popen([binary(), "kernel", "--echo", "-f", file])
        wait_until_safe(process)
        time.sleep(delay)
        process.send_signal(signal.SIGINT)
        time.sleep(0.1)
        assert process.poll() is None
        process.kill()
        process.wait()


def test_a_client_that_does_not_read_harms_nobody(echo):
    import zmq

    info = echo.km.get_connection_info()
    lazy = zmq.Context.instance().socket(zmq.SUB)
    lazy.rcvhwm = 1
    lazy.subscribe(b"")
    lazy.connect(f"tcp://{info['ip']}:{info['iopub_port']}")
    time.sleep(0.3)
    for _ in range(20):
        reply, outputs = echo.run("\n".join("show x " + "y" * 50_000 for _ in range(20)))
        assert reply["status"] == "ok" and types(outputs).count("display_data") == 20
    lazy.close(linger=0)


def test_every_subscriber_is_welcomed(echo):
    import zmq

    info = echo.km.get_connection_info()
    for topic in [b"", b"", b"kernel"]:
        one = zmq.Context.instance().socket(zmq.SUB)
        one.subscribe(topic)
        one.connect(f"tcp://{info['ip']}:{info['iopub_port']}")
        assert one.poll(5000)
        frames = one.recv_multipart()
        message = echo.kc.session.deserialize(echo.kc.session.feed_identities(frames)[1])
        assert message["msg_type"] == "iopub_welcome"
        assert message["content"]["subscription"] == topic.decode()
        one.close(linger=0)


def test_a_stopped_subscriber_harms_nobody(echo, tmp_path):
    info = echo.km.get_connection_info()
    script = tmp_path / "subscriber.py"
    script.write_text(
        "import zmq, sys, time\n"
        "s = zmq.Context().socket(zmq.SUB)\n"
        "s.subscribe(b'')\n"
        f"s.connect('tcp://{info['ip']}:{info['iopub_port']}')\n"
        "s.recv_multipart()\n"
        "print('ready', flush=True)\n"
        "time.sleep(60)\n"
    )
    other = subprocess.Popen([os.sys.executable, str(script)], stdout=subprocess.PIPE, text=True)
    assert other.stdout.readline() == "ready\n"
    other.send_signal(signal.SIGSTOP)
    try:
        for _ in range(10):
            code = "\n".join("show x " + "y" * 200_000 for _ in range(15))
            reply, outputs = echo.run(code)
            assert types(outputs).count("display_data") == 15 and types(outputs)[-1] == "idle"
    finally:
        other.kill()
        other.wait()


@pytest.mark.parametrize("code", [None, "while True:\n    pass", "import torch\nwhile True:\n    torch.zeros(10**8)"])
def test_a_kernel_ends_with_the_process_that_started_it(tmp_path, code):
    file, _ = write_connection_file(str(tmp_path / "orphan.json"))
    script = (
        "import os, subprocess, sys, time\n"
        "os.environ['JPY_PARENT_PID'] = str(os.getpid())\n"
        f"p = subprocess.Popen([{binary()!r}, 'kernel', '-f', {file!r}])\n"
        "print(p.pid, flush=True)\n"
        "time.sleep(60)\n"
    )
    parent = subprocess.Popen([os.sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    pid = int(parent.stdout.readline())
    kc = BlockingKernelClient(connection_file=file)
    kc.load_connection_file()
    kc.start_channels()
    kc.wait_for_ready(timeout=20)
    if code:
        kc.execute(code)
        while kc.get_iopub_msg(timeout=10)["msg_type"] != "execute_input":
            pass
        time.sleep(0.2)
    kc.stop_channels()
    parent.kill()
    parent.wait()
    for _ in range(30):
        time.sleep(0.1)
        stat = f"/proc/{pid}/stat"
        if not os.path.exists(stat) or open(stat).read().rsplit(")", 1)[1].split()[0] == "Z":
            return
    os.kill(pid, signal.SIGKILL)
    raise AssertionError("the kernel outlived its parent")


def test_many_requests_at_once_are_all_answered(echo):
    asked = [echo.kc.complete("pri") for _ in range(300)]
    assert all(echo.reply(it)["content"]["matches"] == ["print"] for it in asked)

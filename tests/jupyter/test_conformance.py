"""What any Jupyter kernel must do, feature by feature, as the public kernel scorecards ask it: one check each.

The protocol: https://jupyter-client.readthedocs.io/en/stable/messaging.html
"""

import pytest
import zmq
from conftest import Session
from jupyter_kernel_test.msgspec_v5 import validate_message


@pytest.fixture(scope="module")
def it(installed):
    session = Session("notegrad")
    yield session
    session.close()


def shown(outputs, kind):
    return [content for of, content in outputs if of == kind]


def info(it):
    reply = it.reply(it.kc.kernel_info())
    validate_message(reply, "kernel_info_reply", reply["parent_header"]["msg_id"])
    return reply["content"]


# The basic protocol.


def test_heartbeat(it):
    where = it.km.get_connection_info()
    beat = zmq.Context.instance().socket(zmq.REQ)
    beat.connect(f"tcp://{where['ip']}:{where['hb_port']}")
    beat.send(b"ping")
    assert beat.poll(5000) and beat.recv() == b"ping"
    beat.close(linger=0)


def test_welcome(it):
    where = it.km.get_connection_info()
    subscriber = zmq.Context.instance().socket(zmq.SUB)
    subscriber.subscribe(b"")
    subscriber.connect(f"tcp://{where['ip']}:{where['iopub_port']}")
    assert subscriber.poll(5000)
    frames = it.kc.session.feed_identities(subscriber.recv_multipart())[1]
    assert it.kc.session.deserialize(frames)["msg_type"] == "iopub_welcome"
    subscriber.close(linger=0)


def test_kernel_info(it):
    assert info(it)["status"] == "ok"


def test_kernel_info_names_the_language(it):
    assert info(it)["language_info"]["name"]


def test_kernel_info_names_the_protocol(it):
    assert info(it)["protocol_version"].split(".")[0] == "5"


def test_stdout(it):
    assert "hello" in it.text(it.run("print('hello')")[1])


def test_stderr(it):
    _, outputs = it.run("import sys\nprint('error', file=sys.stderr)")
    assert "error" in it.text(outputs, "stderr")


def test_execute_reply(it):
    cell = it.kc.execute("1 + 1")
    reply = it.reply(cell)
    validate_message(reply, "execute_reply", cell)
    assert reply["content"]["status"] == "ok"
    it.outputs(cell)


def test_busy_comes_before_idle(it):
    _, outputs = it.run("1 + 1")
    states = [content["execution_state"] for content in shown(outputs, "status")]
    assert states == ["busy", "idle"]


def test_execute_input(it):
    assert shown(it.run("1 + 1")[1], "execute_input")[0]["code"] == "1 + 1"


# What a person needs at the keyboard.


def test_completion(it):
    it.run("test_variable_for_completion = 42")
    content = it.reply(it.kc.complete("test_variable_for_"))["content"]
    assert content["status"] == "ok" and content["matches"] == ["test_variable_for_completion"]


def test_inspection(it):
    it.run("test_variable_for_completion = 42")
    content = it.reply(it.kc.inspect("test_variable_for_completion"))["content"]
    assert content["status"] == "ok" and content["found"] and "42" in content["data"]["text/plain"]


def test_complete_code(it):
    assert it.reply(it.kc.is_complete("x = 1"))["content"]["status"] == "complete"


def test_incomplete_code(it):
    assert it.reply(it.kc.is_complete("def f(x):"))["content"]["status"] == "incomplete"


def test_history(it):
    it.run("history_marker = 1")
    content = it.reply(it.kc.history(hist_access_type="tail", n=10, output=False, raw=True))["content"]
    assert content["status"] == "ok" and content["history"][-1][2] == "history_marker = 1"


def test_comm_info(it):
    assert it.reply(it.kc.comm_info())["content"] == {"status": "ok", "comms": {}}


def test_a_syntax_error(it):
    reply, outputs = it.run("def")
    assert reply["status"] == "error" and reply["ename"] == "SyntaxError"
    assert [content["ename"] for content in shown(outputs, "error")] == ["SyntaxError"]


# Rich output.


def test_display(it):
    _, outputs = it.run("from IPython.display import display, HTML\ndisplay(HTML('<b>bold</b>'))")
    assert shown(outputs, "display_data")[0]["data"]["text/html"] == "<b>bold</b>"


def test_update_of_a_display(it):
    code = "from IPython.display import display, HTML\n" \
        "handle = display(HTML('<b>initial</b>'), display_id=True)\n" \
        "handle.update(HTML('<b>updated</b>'))"
    _, outputs = it.run(code)
    first, update = shown(outputs, "display_data")[0], shown(outputs, "update_display_data")[0]
    assert first["data"]["text/html"] == "<b>initial</b>" and update["data"]["text/html"] == "<b>updated</b>"
    assert first["transient"]["display_id"] == update["transient"]["display_id"]


def test_result(it):
    assert shown(it.run("1 + 1")[1], "execute_result")[0]["data"]["text/plain"] == "2"


def test_rich_result(it):
    _, outputs = it.run("from IPython.display import HTML\nHTML('<b>bold</b>')")
    assert shown(outputs, "execute_result")[0]["data"]["text/html"] == "<b>bold</b>"


# The rest.


def test_input(it):
    cell = it.kc.execute("print(input('Enter: '))", allow_stdin=True)
    assert it.kc.get_stdin_msg(timeout=10)["content"]["prompt"] == "Enter: "
    it.kc.input("test_input_42")
    assert it.text(it.outputs(cell)) == "test_input_42\n"
    assert it.reply(cell)["content"]["status"] == "ok"


def test_a_comm_that_nobody_expects(it):
    message = it.kc.session.msg("comm_open", {"comm_id": "c", "target_name": "nobody", "data": {}})
    it.kc.shell_channel.send(message)
    outputs = it.outputs(message["header"]["msg_id"])
    assert shown(outputs, "comm_close")[0]["comm_id"] == "c"
    assert it.run("1")[0]["status"] == "ok"


def test_interrupt(it):
    message = it.kc.session.msg("interrupt_request", {})
    it.kc.control_channel.send(message)
    assert it.reply(message["header"]["msg_id"], "control")["content"]["status"] == "ok"


def test_execution_count_rises(it):
    first, second = it.run("1")[0], it.run("1")[0]
    assert second["execution_count"] == first["execution_count"] + 1


def test_parent_headers(it):
    cell = it.kc.execute("print('hello')")
    reply = it.reply(cell)
    assert reply["parent_header"]["msg_id"] == cell
    state = None
    while state != "idle":
        message = it.kc.get_iopub_msg(timeout=10)
        if message["parent_header"]["msg_id"] == cell:
            assert message["parent_header"] == reply["parent_header"]
            state = message["content"].get("execution_state")


def test_shutdown(installed):
    it = Session("notegrad")
    message = it.kc.session.msg("shutdown_request", {"restart": False})
    it.kc.control_channel.send(message)
    reply = it.reply(message["header"]["msg_id"], "control")
    assert reply["content"] == {"status": "ok", "restart": False}
    it.km.provisioner.process.wait(5)
    it.close()

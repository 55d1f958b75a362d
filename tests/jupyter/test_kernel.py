"""Jupyter's own conformance tests with every attribute supplied, so that none is skipped."""

import time

import jupyter_kernel_test
import pytest
from conftest import Session


class TestKernel(jupyter_kernel_test.KernelTests):
    kernel_name = "notegrad"
    language_name = "notegrad"
    file_extension = ".ng"
    code_hello_world = 'print("hello, world")'
    code_stderr = 'import sys\nprint("oops", file=sys.stderr)'
    completion_samples = [
        {"text": "zi", "matches": ["zip"]},
        {"text": "math.is", "matches": []},
        {"text": "nonl", "matches": ["nonlocal"]},
    ]
    complete_code_samples = ["1", "print('hello, world')", "def f(x):\n  return x*2\n\n\n", "%lsmagic", "print?"]
    incomplete_code_samples = ["print('''hello", "def f(x):\n  x*2", "f(1,", "if x:", "[1,\n2"]
    invalid_code_samples = ["import = 7q", "x = )", "def 1f(): pass"]
    code_page_something = "print?"
    code_generate_error = "1/0"
    code_execute_result = [
        {"code": "6*7", "result": "42"},
        {"code": "'a' + 'b'", "result": "'ab'"},
        {"code": "[1, 2.5, None]", "result": "[1, 2.5, None]"},
    ]
    code_display_data = [{"code": "display([1, 2])", "mime": "text/plain"}]
    supported_history_operations = ("tail", "range", "search")
    code_history_pattern = "6?7*"
    code_inspect_sample = "print"
    code_clear_output = "clear_output()"


class TestWelcome(jupyter_kernel_test.IopubWelcomeTests):
    kernel_name = "notegrad"
    support_iopub_welcome = True

    @classmethod
    def tearDownClass(cls):
        # A heartbeat channel that is stopped before its thread has begun opens sockets for ever.
        while not cls.kc.hb_channel._running:
            time.sleep(0.01)
        super().tearDownClass()


def test_variables_survive_an_error(kernel):
    kernel.run("x = [1, 2]")
    assert kernel.run("1/0")[0]["ename"] == "ZeroDivisionError"
    assert kernel.run("x")[1][2][1]["data"]["text/plain"] == "[1, 2]"


def test_an_endless_loop_is_interrupted(kernel):
    kernel.run("n = 0")
    cell = kernel.kc.execute("while True:\n    n += 1")
    time.sleep(0.5)
    start = time.monotonic()
    kernel.km.interrupt_kernel()
    assert kernel.reply(cell)["content"]["ename"] == "KeyboardInterrupt"
    assert time.monotonic() - start < 0.5
    assert kernel.run("n > 0")[1][2][1]["data"]["text/plain"] == "True"


def test_sleep_is_interrupted(kernel):
    cell = kernel.kc.execute("import time\ntime.sleep(60)")
    time.sleep(0.3)
    kernel.km.interrupt_kernel()
    assert kernel.reply(cell)["content"]["ename"] == "KeyboardInterrupt"


def test_input(kernel):
    cell = kernel.kc.execute("name = input('Name: ')\nprint('hi', name)", allow_stdin=True)
    assert kernel.kc.get_stdin_msg(timeout=10)["content"]["prompt"] == "Name: "
    kernel.kc.input("Ada")
    assert kernel.text(kernel.outputs(cell)) == "hi Ada\n"
    assert kernel.run("input()", allow_stdin=False)[0]["status"] == "error"


def test_completion_of_live_names_while_a_cell_runs(kernel):
    kernel.run("a_long_name = 1\nwords = 'a b'")
    cell = kernel.kc.execute("import time\ntime.sleep(1.5)")
    time.sleep(0.2)
    start = time.monotonic()
    asked = kernel.kc.complete("y = a_lo")
    content = kernel.reply(asked)["content"]
    assert (content["matches"], content["cursor_start"]) == (["a_long_name"], 4)
    assert "split" in kernel.reply(kernel.kc.complete("words.spl"))["content"]["matches"]
    assert time.monotonic() - start < 0.8
    assert kernel.reply(cell)["content"]["status"] == "ok"


def test_inspection_of_a_live_value(kernel):
    kernel.run("def double(x):\n    'Twice as much.'\n    return x * 2")
    content = kernel.reply(kernel.kc.inspect("double(3)", 4))["content"]
    assert content["found"] and "Twice as much." in content["data"]["text/plain"]
    assert not kernel.reply(kernel.kc.inspect("nosuchname"))["content"]["found"]


def test_folders_are_made(kernel, tmp_path):
    folder = repr(str(tmp_path / "a" / "b"))
    made = f"import os\nos.makedirs({folder})\nos.makedirs({folder}, exist_ok=True)\nos.mkdir({folder} + '/c')\nos.listdir({folder})"
    assert kernel.run(made)[1][2][1]["data"]["text/plain"] == "['c']"
    for call, error in [
        (f"os.makedirs({folder})", "FileExistsError"),
        (f"os.mkdir({folder} + '/c')", "FileExistsError"),
        (f"os.mkdir({folder} + '/x/y')", "FileNotFoundError"),
        ("os.mkdir('')", "FileNotFoundError"),
    ]:
        assert kernel.run(call)[0]["ename"] == error


def test_user_expressions(kernel):
    reply, _ = kernel.run("x = 20", user_expressions={"y": "x + 1", "z": "nosuchname"})
    assert reply["user_expressions"]["y"]["data"]["text/plain"] == "21"
    assert reply["user_expressions"]["z"]["ename"] == "NameError"


def test_a_syntax_error_is_an_error_cell(kernel):
    reply, outputs = kernel.run("x = = 1")
    assert reply["ename"] == "SyntaxError"
    assert [t for t, _ in outputs] == ["status", "execute_input", "error", "status"]


def test_endless_recursion_is_an_error(kernel):
    assert kernel.run("def f(n):\n    return f(n + 1)\nf(0)")[0]["ename"] == "RecursionError"
    assert kernel.run("1")[0]["status"] == "ok"


@pytest.mark.parametrize("count", [20])
def test_clients_come_and_go(installed, count):
    it = Session("notegrad")
    for _ in range(count):
        kc = it.km.client()
        kc.start_channels()
        kc.wait_for_ready(timeout=10)
        cell = kc.execute("1+1")
        while kc.get_shell_msg(timeout=10)["parent_header"].get("msg_id") != cell:
            pass
        kc.stop_channels()
    it.close()


def test_a_handle_of_a_display(kernel):
    _, outputs = kernel.run("h = display('a', display_id='name')\nh.update('b')\nh.display('c')\nh")
    shown = [(t, c["data"]["text/plain"]) for t, c in outputs if "data" in c]
    assert shown == [
        ("display_data", "'a'"),
        ("update_display_data", "'b'"),
        ("display_data", "'c'"),
        ("execute_result", "<DisplayHandle display_id=name>"),
    ]
    assert [c["transient"].get("display_id") for t, c in outputs if "data" in c] == ["name"] * 3 + [None]
    _, outputs = kernel.run("a, b = display(1, display_id=True), display(display_id=True)\nb.update(2)\ndisplay(3)")
    ids = [c["transient"].get("display_id") for t, c in outputs if t.endswith("display_data")]
    assert len(set(ids[:2])) == 2 and ids[2] == ids[1] and ids[3] is None


@pytest.mark.parametrize("code", ["exit", "quit()", "exit()", "import sys\nsys.exit(0)", "raise SystemExit"])
def test_a_console_is_ended(kernel, code):
    reply, outputs = kernel.run(code)
    assert reply["status"] == "ok"
    assert reply["payload"] == [{"source": "ask_exit", "keepkernel": False}]
    assert [t for t, _ in outputs] == ["status", "execute_input", "status"]


def test_a_notebook_stops_at_exit_and_lives_on(kernel):
    message = kernel.kc.session.msg("execute_request", {"code": "x = 1\nexit()\nx = 2"})
    message["metadata"] = {"cellId": "0", "deletedCells": []}
    kernel.kc.shell_channel.send(message)
    reply = kernel.reply(message["header"]["msg_id"])["content"]
    assert reply["ename"] == "SystemExit" and reply["payload"] == []
    kernel.outputs(message["header"]["msg_id"])
    assert kernel.run("x")[1][2][1]["data"]["text/plain"] == "1"


def test_names_of_a_session_win_over_exit(kernel):
    assert kernel.run("exit = 3\nexit")[0]["payload"] == []
    assert kernel.run("exit")[1][2][1]["data"]["text/plain"] == "3"

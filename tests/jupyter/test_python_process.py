"""The process in which packages of Python run: how it is chosen, its output and input, interrupts, its end, and what it holds."""

import os
import signal
import sys
import time

import psutil
import pytest
from conftest import Session
from test_python import does, fails, hold, python, shown  # noqa: F401


@pytest.fixture
def fresh(installed):
    it = Session("notegrad")
    assert it.run(f"%python {sys.executable}")[0]["status"] == "ok"
    yield it
    it.close()


def worker_of(session):
    return int(shown(session, "%python import os as real_os\nreal_os.getpid()")[-1])


def is_there(pid):
    """Whether a process runs; one that nobody has waited for does not."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def is_gone(pid, within=5.0):
    end = time.monotonic() + within
    while is_there(pid):
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def counted(session, number):
    """Whether there are so many of `Counted`; what was dropped goes with the request after it."""
    hold(session, f"count() >= 0\ncount() == {number}")


def until(session, msg_id, text):
    """Waits until a request has printed this."""
    told = ""
    while text not in told:
        message = session.kc.get_iopub_msg(timeout=10)
        if message["parent_header"].get("msg_id") == msg_id and message["msg_type"] == "stream":
            told += message["content"]["text"]


def test_a_python_is_chosen(fresh):
    assert sys.executable.rsplit("/", 2)[0] in shown(fresh, "%python")[0]
    for path in ("/no/such", "/etc/passwd", "/tmp"):
        fails(fresh, f"%python {path}", "MagicError", path, "%python PATH")
    does(fresh, f"%python {sys.prefix}")
    does(fresh, "import sklearn")
    fails(fresh, "import nosuchpackage", "ModuleNotFoundError", "nosuchpackage", "pip install nosuchpackage")
    fails(fresh, "import sklearn.nosuchpart", "ModuleNotFoundError", "nosuchpart")
    does(fresh, "import sklearn\nwith sklearn.config_context(): pass")
    fails(fresh, "%python /no/such", "MagicError")
    fails(fresh, "%python import", "MagicError")
    does(fresh, "sklearn.get_config()")


def test_the_process_starts_at_the_first_package(installed, monkeypatch):
    monkeypatch.setenv("VIRTUAL_ENV", sys.prefix)
    it = Session("notegrad")
    try:
        does(it, "import numpy as np\nimport torch\nimport json\nx = np.zeros(3)")
        kernel = psutil.Process(it.km.provisioner.pid)
        assert not kernel.children()
        outputs = does(it, "import packaging")
        told = "".join(content["data"]["text/plain"] for _, content in outputs if "data" in content)
        assert "runs beside this session, for `packaging`; started in" in told, outputs
        assert len(kernel.children()) == 1
        assert not shown(it, "import dateutil")
    finally:
        it.close()


def test_ours_stay_ours(python, tmp_path):
    does(python, "import torch\nimport numpy\nimport matplotlib.pyplot\nimport math\nimport json")
    hold(python, "not hasattr(numpy, 'busdaycalendar') and torch.__name__ == 'torch' and type(torch.ones(1)) is torch.Tensor")
    does(python, """
        %python import numpy as real, json as real_json
        %python from numpy import linalg, busdaycalendar as days
        %python import os.path
    """)
    hold(python, "hasattr(real, 'busdaycalendar') and real_json.dumps([1]) == '[1]' and linalg.norm([3.0, 4.0]) == 5.0 and days is real.busdaycalendar")
    hold(python, "os.path.join('a', 'b') == 'a/b' and numpy is not real")
    fails(python, "%python import nosuchpackage", "ModuleNotFoundError", "nosuchpackage")
    (tmp_path / "colorsys.py").write_text("def mine():\n    return 'beside'\n")
    does(python, f"%cd {tmp_path}\nimport colorsys\nmine = colorsys.mine()")
    does(python, "%python import os as real_os")
    hold(python, f"mine == 'beside' and real_os.getcwd() == {str(tmp_path)!r}")
    does(python, f"%cd {os.getcwd()}")


def test_mistakes_are_found_before_the_cell_runs(python):
    start = "%%check early\nimport pandas as pd\nimport torch\n"
    make, tell = "frame = pd.DataFrame({'a': [1.0, 2.0]})\n", "print('ran')\n"
    does(python, start + make)

    def is_found(code, name):
        reply, outputs = python.run(code)
        assert reply["status"] == "error" and reply["ename"] == name, code
        assert "ran" not in python.text(outputs), code

    is_found(start + tell + "torch.zeros(2, 3) @ torch.zeros(4, 5)", "ShapeError")
    is_found("%%check early\n" + tell + "x = frame['a'].sum()\ntorch.zeros(2, 3) @ torch.zeros(4, 5)", "ShapeError")
    is_found("%%check early\n" + tell + "print(frame['a'] + nosuchname)", "NameError")
    is_found(start + make + tell + "torch.zeros(2, 3) @ torch.zeros(4, 5)", "ShapeError")
    does(python, start + make + "result = torch.zeros(2, 3) @ torch.tensor(frame.assign(b=1.0, c=2.0).values, dtype=torch.float32).T")
    hold(python, "result.shape == (2, 2)")


def test_traced_functions_use_packages(python):
    does(python, """
        import torch
        import pandas as pd
        from notegrad.jit import trace
        frame = pd.DataFrame({'a': [1.0, 2.0, 3.0]})
        x = torch.tensor([1.0, 2.0, 3.0])
    """)
    does(python, """
        calls, found = [], []
        @trace
        def f(x):
            y = torch.tensor(frame['a'].values, dtype=torch.float32) * x
            calls.append(1)
            return (y * y).sum() + float(frame['a'].max())
        for i in range(6):
            frame['a'] += 1
            found.append(f(x).item())
    """)
    hold(python, "found == [sum(((k + i + 1) * k) ** 2 for k in (1, 2, 3)) + 3.0 + i + 1 for i in range(6)] and len(calls) == 6")
    does(python, """
        %%trace
        total = 0.0
        for i in range(8):
            w = x * i
            total += (w * torch.tensor(frame['a'].values, dtype=torch.float32)).sum().item() + len(frame)
    """)
    hold(python, "abs(total - (28 * (1 * 7 + 2 * 8 + 3 * 9) + 24)) < 1e-3")


def test_cells_of_python(python):
    assert shown(python, "%%python\na = 20\na + 1") == ["21"]
    assert not shown(python, "%%python\na = 20\nNone")
    does(python, "values, n = [1, 2], 5")
    does(python, "%%python -i values,n -o total,f\ntotal = sum(values) + n\ndef f(x): return x + total")
    hold(python, "total == 8 and f(1) == 9")
    fails(python, "%%python -i nosuchname\n1", "MagicError", "nosuchname")
    fails(python, "%%python -o nosuchname\n1", "NameError", "nosuchname")
    reply = fails(python, "%%python\ndef g():\n    return 1 / 0\ng()", "ZeroDivisionError")
    assert "return 1 / 0" in "\n".join(reply["traceback"]) and ", line 4, in" in "\n".join(reply["traceback"])
    fails(python, "%%python\nx = = 1", "SyntaxError")
    does(python, "%%python\nimport sys\nsys.exit()")
    assert "<table" in shown(python, "%%python\nimport pandas\npandas.DataFrame({'a': [1]})", "text/html")[0]
    assert shown(python, "%%python\nimport matplotlib.pyplot as plt\nlines = plt.plot([1, 2])\n", "image/png")
    hold(python, "f(2) == 10")


def test_output(python):
    outputs = does(
        python,
        "%%python\nimport os, subprocess, sys\nprint('one')\nprint('two', file=sys.stderr)\nprint('three', end='')\nsys.stdout.flush()\n"
        "os.write(1, b'four\\n')\nsubprocess.run(['echo', 'five'])\nos.write(2, 'f\\u00fcnf\\n'.encode())\nprint('six')",
    )
    assert python.text(outputs, "stderr") == "two\n"
    told = python.text(outputs)
    assert [told.index(it) for it in ("one", "three", "six")] == sorted(told.index(it) for it in ("one", "three", "six"))
    assert all(it in told for it in ("four\n", "five\n", "f\u00fcnf\n")) and told.index("four") < told.index("five"), told
    does(python, "%%python -o say\ndef say(x): print('there', x)")
    assert python.text(does(python, """
        for i in range(3):
            print('here', i)
            say(i)
    """)) == "".join(f"here {i}\nthere {i}\n" for i in range(3))
    many = """
        %%python
        import threading
        def tell():
            for _ in range(500):
                print('x' * 50 + '\\n', end='')
        threads = [threading.Thread(target=tell) for _ in range(4)]
        for it in threads: it.start()
        for it in threads: it.join()
    """
    assert python.text(does(python, many)) == ("x" * 50 + "\n") * 2000


def test_output_comes_while_it_is_made(fresh):
    cell = fresh.kc.execute("%%python\nimport threading\nprint('a')\nprint('b')\nprint('begun')\nthreading.Event().wait(60)")
    until(fresh, cell, "begun")
    fresh.km.interrupt_kernel()
    assert fresh.reply(cell)["content"]["ename"] == "KeyboardInterrupt"


def test_input(python):
    cell = python.kc.execute("%%python\nprint('hi', input('Name: '))", allow_stdin=True)
    assert python.kc.get_stdin_msg(timeout=10)["content"]["prompt"] == "Name: "
    python.kc.input("Ada")
    assert python.text(python.outputs(cell)) == "hi Ada\n"
    assert python.run("%%python\ninput()", allow_stdin=False)[0]["status"] == "error"


@pytest.mark.parametrize(
    "body",
    [
        "time.sleep(60)",
        "while True: there += 1",
        "there = max(i for i in range(10 ** 12))",
        "f()",
    ],
    ids=["sleeps", "loops", "computes", "is called back"],
)
def test_an_interrupt_keeps_both_sides(python, body):
    does(python, "here = [1]\ndef endless():\n    while True:\n        here[0] += 1")
    cell = """
        %%python -i endless -o work
        import time
        there = 5
        f = endless
        def work():
            global there
            print('begun', flush=True)
            """
    does(python, cell + body)
    pid = worker_of(python)
    cell = python.kc.execute("work()")
    until(python, cell, "begun")
    start = time.monotonic()
    python.km.interrupt_kernel()
    assert python.reply(cell)["content"]["ename"] == "KeyboardInterrupt"
    assert time.monotonic() - start < 2
    python.outputs(cell)
    assert worker_of(python) == pid
    hold(python, "here[0] >= 1 and callable(work)")
    assert int(shown(python, "%%python\nthere")[0]) >= 5


def test_a_loop_over_small_calls_is_interrupted(python):
    does(python, "import pandas as pd\nseries = pd.Series([1, 2])\nn = 0")
    for _ in range(5):
        cell = python.kc.execute("print('begun')\nwhile True:\n    n += series.sum()")
        until(python, cell, "begun")
        python.km.interrupt_kernel()
        assert python.reply(cell)["content"]["ename"] == "KeyboardInterrupt"
        python.outputs(cell)
        hold(python, "series.sum() == 3")


def test_the_process_dies(fresh):
    does(fresh, "import pandas as pd\nold = pd.Series([1])\nkept = 7")
    words = fails(fresh, "%python import os as real_os\nreal_os.kill(real_os.getpid(), 9)", "RuntimeError")["evalue"]
    assert "signal 9" in words and "its objects are gone" in words, words
    for code in ("old.sum()", "old + 1", "len(old)", "old[0]", "str(old)", "for x in old: pass", "old.x = 1", "pd.Series([1])", "print(old)"):
        fails(fresh, code, "RuntimeError", "has ended", "import")
    hold(fresh, "kept == 7")
    does(fresh, "x = [old]")
    does(fresh, "import pandas as pd\nnew = pd.Series([1, 2])")
    hold(fresh, "new.sum() == 3 and isinstance(new, pd.Series)")
    fails(fresh, "new + old", "RuntimeError", "has ended")
    fails(fresh, "new.apply(lambda x: old)", "RuntimeError", "has ended")
    hold(fresh, "new.sum() == 3")
    fails(fresh, "%%python\nimport os\nprint('last words', flush=True)\nos._exit(3)", "RuntimeError", "3")
    does(fresh, "import pandas as pd")
    fails(fresh, "%python import os as real_os\npd.Series([1]).apply(lambda x: real_os._exit(4))", "RuntimeError")
    does(fresh, "import pandas as pd")
    hold(fresh, "pd.Series([1]).sum() == 1")


def test_what_is_dropped_is_freed_there(python):
    does(python, """
        %%python -o Counted,count,fail
        import gc
        class Counted:
            n = 0
            def __init__(self): Counted.n += 1
            def __del__(self): Counted.n -= 1
            def me(self): return self
            def call(self, f): return f(self)
        def count():
            gc.collect()
            return Counted.n
        def fail():
            it = Counted()
            raise ValueError(it)
    """)
    does(python, "a = Counted()\nb = [Counted(), {'k': Counted()}]\nc = a.me()")
    counted(python, 3)
    hold(python, "a is c")
    does(python, "a = None")
    counted(python, 3)
    does(python, "c = None\nb = None")
    counted(python, 0)
    does(python, "for i in range(100):\n    x = Counted()\n    x.call(lambda it: it.me())\nx = None")
    counted(python, 0)
    does(python, "for i in range(10):\n    try:\n        fail()\n    except ValueError:\n        pass")
    counted(python, 0)
    does(python, """
        def own(it):
            raise KeyError('a')
        for i in range(10):
            try:
                Counted().call(own)
            except KeyError:
                pass
    """)
    counted(python, 0)


def test_functions_of_ours_are_freed(python):
    does(python, "%%python -o keep,drop\nkept = []\ndef keep(f): kept.append(f)\ndef drop(): kept.clear()")
    does(python, """
        log = []
        class Big:
            def __call__(self, x):
                return x
            def __del__(self):
                log.append('gone')
    """)
    does(python, "big = Big()\nkeep(big)\nkeep(big)\nkeep(big.__call__)\nkeep(lambda x, big=big: x)\nbig = None")
    hold(python, "log == []")
    does(python, "drop()\ndrop()")
    hold(python, "log == ['gone']")
    does(python, "for i in range(100):\n    keep(Big())\n    drop()")
    hold(python, "len(log) == 101")


def test_reset_drops_objects(python):
    does(python, """
        %%python -o Counted,count
        import gc
        class Counted:
            n = 0
            def __init__(self): Counted.n += 1
            def __del__(self): Counted.n -= 1
        def count():
            gc.collect()
            return Counted.n
    """)
    does(python, "a, b = Counted(), [Counted()]")
    assert shown(python, "%%python\ncount()") == ["2"]
    pid = worker_of(python)
    does(python, "%reset")
    assert [shown(python, "%%python\ncount()") for _ in range(2)][1] == ["0"]
    fails(python, "a", "NameError")
    assert worker_of(python) == pid


def test_the_process_ends_with_the_kernel(installed):
    it = Session("notegrad")
    does(it, f"%python {sys.executable}")
    pid = worker_of(it)
    assert is_there(pid)
    it.kc.stop_channels()
    it.km.shutdown_kernel()
    assert is_gone(pid)


@pytest.mark.parametrize("body", ["", "while True: pass", "import time; time.sleep(600)"], ids=["idle", "busy", "asleep"])
def test_the_process_ends_after_kill_9_of_the_kernel(installed, body):
    it = Session("notegrad")
    does(it, f"%python {sys.executable}")
    pid = worker_of(it)
    if body:
        cell = it.kc.execute(f"%%python\nprint('begun', flush=True)\n{body}")
        until(it, cell, "begun")
    os.kill(it.km.provisioner.pid, signal.SIGKILL)
    assert is_gone(pid)
    it.close()

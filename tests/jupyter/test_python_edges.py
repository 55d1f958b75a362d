"""Packages of Python where it is easy to go wrong: both sides asking within one frame, classes that behave oddly, copies of the process."""

from test_python import does, fails, hold, python

__all__ = ["python"]


def test_a_function_kept_there_may_run_in_later_cells(python):
    does(python, "%%python -o Runner\nclass Runner:\n    def __init__(self, f): self.f = f\n    def run(self): return self.f()\n")
    does(python, "import torch\nhistory = []\nr = Runner(lambda: history.append(1))")
    does(python, "r.run()\nx = torch.randn(500, 500)\nfor i in range(20):\n    x = x @ x / 500\nassert history[0] == 1")


def test_hashes_that_ask_leave_arrays_alone(python):
    does(python, """
        %%python -o key,pair
        import numpy as np
        class Key:
            def __init__(self, ask): self.ask = ask
            def __hash__(self): return self.ask()
        def key(ask): return Key(ask)
        def pair(it, ask): return [{it}, np.full(20000, 5.0), ask]
    """.replace("\n        ", "\n").strip())
    does(python, "import numpy as np\nask = lambda: int(np.ones(30000).sum())\nh = key(ask)\nmade, numbers, same = pair(h, ask)")
    hold(python, "numbers.sum() == 100000 and same is ask and len(made) == 1")


def test_with_hands_exceptions_over_as_they_are(python):
    does(python, """
        %%python -o guard,seen
        import contextlib
        seen = []
        @contextlib.contextmanager
        def guard():
            try:
                yield 1
            except Exception as error:
                seen.append((type(error).__name__, str(error)))
                raise
    """.replace("\n        ", "\n").strip())
    does(python, "class Mine(Exception): pass\nkinds = []")
    for raised in ("ValueError('hello')", "Mine('own')"):
        does(python, f"try:\n    with guard():\n        raise {raised}\nexcept Exception as e:\n    kinds.append((type(e).__name__, str(e)))")
    hold(python, "kinds == [('ValueError', 'hello'), ('Mine', 'own')]")
    does(python, "%%python -o seen\npass")
    hold(python, "seen[0] == ('ValueError', 'hello') and 'own' in seen[1][1]")


def test_objects_take_keywords(python):
    does(python, "%%python -o call\ndef call(f): return f(1, k=5)\n")
    does(python, "class C:\n    def __call__(self, x, k=0):\n        return (x, k)")
    hold(python, "call(C()) == (1, 5)")


def test_a_class_of_the_same_name_is_another(python):
    does(python, "%%python -o go\nclass ConnectionError(Exception): pass\ndef go(): raise ConnectionError('theirs')\n")
    fails(python, "try:\n    go()\nexcept OSError:\n    pass", "ConnectionError", "theirs")


def test_odd_texts_and_exceptions_do_not_end_the_process(python):
    does(python, """
        %%python -o Shown,odd
        class Text(str): pass
        class Shown:
            def _repr_html_(self): return Text("<b>x</b>")
            def __repr__(self): return Text("shown")
        class Odd(Exception):
            def __str__(self): return Text("odd")
        def odd(): raise Odd
    """.replace("\n        ", "\n").strip())
    does(python, "Shown()")
    hold(python, "repr(Shown()) == 'shown'")
    fails(python, "odd()", "Odd", "odd")
    does(python, "%%python -o knot\nclass T: pass\nknot = [T()]\nknot.append(knot)\n")
    hold(python, "len(knot) == 2 and knot[0] is not None")


def test_whatever_goes_wrong_a_call_back_is_answered(python):
    does(python, """
        %%python -o call,log
        log = []
        class Key:
            def __hash__(self): return 1 if not log else int("no hash today")
        def call(f):
            it = {Key()}
            log.append("called")
            try:
                f(it)
            finally:
                log.append("left")
    """.replace("\n        ", "\n").strip())
    fails(python, "call(lambda it: it)", "ValueError", "no hash today")
    does(python, "%%python -o log\npass")
    hold(python, "log == ['called', 'left']")


def test_copies_of_the_process_keep_off(python):
    does(python, """
        %%python -o told,alone
        import os, multiprocessing
        def work(f): f(1)
        def told(f):
            children = [multiprocessing.get_context("fork").Process(target=work, args=(f,)) for _ in range(2)]
            [it.start() for it in children]
            [it.join() for it in children]
            return [it.exitcode for it in children]
        def alone():
            if os.fork() == 0:
                raise ValueError
            os.wait()
            return os.getpid()
    """.replace("\n        ", "\n").strip())
    does(python, "count = []")
    hold(python, "told(lambda n: count.append(n)) == [1, 1] and count == []")
    hold(python, "alone() == alone()")


def test_tracebacks_leave_out_how_things_are_read_and_loaded(python):
    for code, name in [("%python import nothing_here", "ModuleNotFoundError"), ("%%python\ndef f(:\n", "SyntaxError")]:
        trace = "\n".join(fails(python, code, name)["traceback"])
        assert "importlib" not in trace and "ast.py" not in trace, trace
    assert "line 2" in trace and "def f(:" in trace, trace

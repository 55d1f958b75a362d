"""Packages of a real Python beside the session: objects that stay there."""

import base64
import sys
import textwrap

import pytest
from conftest import Session

FRAME = """import pandas as pd
df = pd.DataFrame({'a': [1, 2, 3], 'b': [4.0, 5.0, 6.0], 'c': ['x', 'y', 'x']})
s = df['a']"""


@pytest.fixture(scope="module")
def python(installed):
    it = Session("notegrad")
    assert it.run(f"%python {sys.executable}")[0]["status"] == "ok"
    yield it
    it.close()


def does(session, code):
    """Runs a cell that must not fail; its outputs."""
    code = textwrap.dedent(code).strip("\n")
    reply, outputs = session.run(code)
    assert reply["status"] == "ok", f"{code}\n" + "\n".join(reply.get("traceback", []))
    return outputs


def fails(session, code, name, *words):
    code = textwrap.dedent(code).strip("\n")
    reply, _ = session.run(code)
    told = f"{code}\n{reply.get('ename')}: {reply.get('evalue')}"
    assert reply["status"] == "error" and reply["ename"] == name, told
    assert all(it in reply["evalue"] for it in words), told
    return reply


def shown(session, code, kind="text/plain"):
    """What a cell shows, of one media type."""
    found = [content["data"] for _, content in does(session, code) if "data" in content]
    return [it[kind] for it in found if kind in it]


def hold(session, claims):
    """Expressions, one a line, of which each must be true."""
    wrong = []
    for claim in filter(None, map(str.strip, claims.splitlines())):
        reply, outputs = session.run(claim)
        told = [c["data"]["text/plain"] for _, c in outputs if "data" in c] or [f"{reply.get('ename')}: {reply.get('evalue')}"]
        if told[0] not in ("True", "np.True_", "tensor(True)"):
            wrong.append(f"{claim}   # {told[0]}")
    assert not wrong, "\n" + "\n".join(wrong)


def test_reading_objects(python):
    does(python, FRAME)
    hold(
        python,
        """len(df) == 3 and not df.empty and 'a' in df and 'z' not in df
        df.shape == (3, 3) and list(df.columns) == ['a', 'b', 'c']
        df.loc[1, 'b'] == 5.0 and df.iloc[-1]['a'] == 3 and s.iloc[::2].tolist() == [1, 3]
        df[(df['a'] > 1) & (df['b'] < 6)]['a'].tolist() == [2]
        [it for it in df] == ['a', 'b', 'c'] and [*s] == [1, 2, 3] and list(enumerate(s))[2] == (2, 3)
        sum(s) == 6 and max(s) == 3 and sorted(s, reverse=True) == [3, 2, 1] and set(df['c']) == {'x', 'y'}
        list(zip(s, df['c'])) == [(1, 'x'), (2, 'y'), (3, 'x')] and ''.join(df['c']) == 'xyx'
        [(row.a, row.c) for row in df.itertuples()] == [(1, 'x'), (2, 'y'), (3, 'x')]
        [(key, len(group)) for key, group in df.groupby('c')] == [('x', 2), ('y', 1)]
        df.sort_values('a', ascending=False, ignore_index=True)['a'].tolist() == [3, 2, 1]
        pd.Series(*[[1, 2]], **{'name': 'n'}).name == 'n' and (lambda a, b: (b, a))(*s.iloc[:2]) == (2, 1)
        getattr(s, 'nosuchname', 5) == 5 and hasattr(s, 'sum') and not hasattr(s, 'nosuchname')
        callable(s.sum) and callable(pd.Series) and not callable(s)
        s is s and pd.NA is pd.NA and hash(pd.Timestamp('2020')) == hash(pd.Timestamp('2020'))
        str(pd.Timedelta('1D')) == '1 days 00:00:00' and repr(pd.Timestamp('2020')) == "Timestamp('2020-01-01 00:00:00')"
        f"{pd.Timestamp('2020-02-03'):%d/%m} {df['b'].mean():.2f} {pd.Timedelta('1D')!r:.5}" == '03/02 5.00 Timed'
        '%s' % pd.Timedelta('1D') == '{}'.format(pd.Timedelta('1D'))""",
    )
    fails(python, "df['nosuchname']", "KeyError", "nosuchname")
    fails(python, "df.nosuchname", "AttributeError", "'DataFrame' object has no attribute 'nosuchname'")
    fails(python, "if s > 1: pass", "ValueError", "truth value of a Series is ambiguous")
    fails(python, "pd.nosuchname", "AttributeError", "nosuchname")
    fails(python, "from pandas import nosuchname", "ImportError", "cannot import name 'nosuchname'")


def test_iteration_is_as_far_as_the_loop(python):
    does(python, """
        %%python -o Half,numbered
        class Half:
            def __iter__(self):
                return map(int, ['1', '2', '3', '4', '5', 'x'])
        def numbered():
            for i in range(5):
                print('made', i)
                yield i
    """)
    told = python.text(does(python, "for i in numbered():\n    print('got', i)\n    if i == 1:\n        break"))
    assert told == "made 0\ngot 0\nmade 1\ngot 1\n"
    hold(python, "next(numbered()) == 0 and list(zip(range(2), numbered())) == [(0, 0), (1, 1)]")
    does(python, "got = []\ntry:\n    for i in Half():\n        got.append(i)\nexcept ValueError:\n    pass")
    hold(python, "got == [1, 2, 3, 4, 5]")


def test_operators(python):
    does(python, f"{FRAME}\nimport decimal\nD = decimal.Decimal")
    hold(
        python,
        """[D(7) + 1, 1 + D(7), D(7) - 1, 1 - D(7), D(7) * 2, 2 * D(7), D(7) / 2, 14 / D(7)] == [8, 8, 6, -6, 14, 14, D('3.5'), 2]
        [D(7) // 2, D(7) % 4, 2 ** D(3), D(2) ** 3, pow(D(7), 2), divmod(D(7), D(2)), -D(1), +D(1)] == [3, 3, 8, 8, 49, (3, 1), -1, 1]
        (s @ s, (s & 1).tolist(), (1 | s).tolist(), (s ^ 1).tolist(), (~s).tolist()) == (14, [1, 0, 1], [1, 3, 3], [0, 3, 2], [-2, -3, -4])
        D(1) < 2 and 2 <= D(2) and D(3) > D(2) and D(1) == 1 and 1 != D(2) and 0 < D(1) < D(2) <= 2
        (s != 2).tolist() == [True, False, True] and (2 < s).tolist() == [False, False, True]
        round(D('3.567'), 2) == D('3.57') and int(D('3.7')) == 3 and float(D('3.5')) == 3.5 and bool(D(0)) is False
        sorted([D(3), D(1)]) == [1, 3] and min(D(3), D(1)) == 1 and sum([D(3), D(1)]) == 4 and D(1) in [D('1.0')]
        {D(1): 'a'}[D('1.0')] == 'a' and len({D(1), D('1.0'), D(2)}) == 2
        ['a', 'b'][s.iloc[0]] == 'b' and list(range(s.iloc[1])) == [0, 1] and 'ab' * s.iloc[1] == 'abab'""",
    )
    hold(python, "abs(D(-3)) == 3")
    does(python, "n = D(1)\nm = n\nn += 2\nk = df.copy()\nsame = k\nk['a'] += 1\nk *= 2")
    hold(python, "n == 3 and m == 1 and k is same and k['a'].tolist() == [4, 6, 8] and df['a'].tolist() == [1, 2, 3]")
    fails(python, "D(1) / 0", "DivisionByZero")
    does(python, "try:\n    D(1) / 0\nexcept ZeroDivisionError:\n    pass")
    fails(python, "D(1) + 'a'", "TypeError", "unsupported operand")


def test_writing_and_deleting(python):
    does(python, FRAME)
    does(python, """
        df.columns = ['x', 'y', 'z']
        df['w'] = [i * 2 for i in df['x']]
        df.loc[df['x'] > 2, 'y'] = 0
        df.iloc[0, 0] = 100
        del df['z']
    """)
    hold(python, "df.to_dict('list') == {'x': [100, 2, 3], 'y': [4.0, 5.0, 0.0], 'w': [2, 4, 6]}")
    does(python, """
        import types
        box = types.SimpleNamespace(a=1)
        box.b = [1, 2]
        setattr(box, 'c', 3)
        del box.a
        delattr(box, 'c')
    """)
    hold(python, "vars(box) == {'b': [1, 2]} and not hasattr(box, 'a')")
    fails(python, "del box.a", "AttributeError")
    fails(python, "del df['z']", "KeyError")


def test_classes(python):
    does(python, FRAME)
    hold(
        python,
        """isinstance(df, pd.DataFrame) and not isinstance(s, pd.DataFrame) and isinstance(s, (int, pd.Series)) and not isinstance(1, pd.Series)
        type(df) is pd.DataFrame and type(df) == pd.DataFrame and type(s).__name__ == 'Series' and s.__class__ is pd.Series
        type(pd.Series) is type and {pd.Series: 1}[type(s)] == 1 and {type(df), type(df)} == {pd.DataFrame}""",
    )
    does(python, "import collections\n%python import collections as real\nordered = real.OrderedDict(a=1)")
    hold(python, """
        isinstance(ordered, dict) and isinstance(pd.Series, type) and not isinstance(s, dict)
        issubclass(pd.Series, object) and not issubclass(pd.Series, pd.DataFrame)
        isinstance(s, int | pd.Series)
    """)
    reply = fails(python, "class Mine(pd.DataFrame):\n    pass", "TypeError")
    assert "DataFrame" in reply["evalue"] and "%%python" in reply["evalue"], reply["evalue"]


def test_with(python):
    does(python, FRAME)
    does(python, "with pd.option_context('display.max_rows', 2):\n    inside = pd.options.display.max_rows")
    hold(python, "inside == 2 and pd.options.display.max_rows != 2")
    fails(python, "with pd.option_context('display.max_rows', 2):\n    1 / 0", "ZeroDivisionError")
    hold(python, "pd.options.display.max_rows != 2")
    does(python, """
        import contextlib
        with contextlib.suppress(ValueError):
            raise ValueError('a')
        with contextlib.suppress(KeyError):
            df['nosuchname']
    """)


def test_exceptions(python):
    does(python, f"{FRAME}\nfrom sklearn.exceptions import NotFittedError\nfrom sklearn.linear_model import LogisticRegression")
    for kind in ("NotFittedError", "ValueError", "(KeyError, ValueError)", "Exception"):
        does(python, f"try:\n    LogisticRegression().predict([[1.0]])\nexcept {kind} as error:\n    e = error")
    hold(python, "type(e).__name__ == 'NotFittedError' and isinstance(e, NotFittedError) and isinstance(e, ValueError) and 'not fitted' in str(e)")
    fails(python, "try:\n    LogisticRegression().predict([[1.0]])\nexcept KeyError:\n    pass", "NotFittedError")
    fails(python, "try:\n    1 / 0\nexcept NotFittedError:\n    pass", "ZeroDivisionError")
    does(python, "try:\n    pd.read_csv('/no/such')\nexcept OSError as error:\n    e = error")
    hold(python, """
        isinstance(e, FileNotFoundError) and e.errno == 2 and e.filename == '/no/such'
        e.args == (2, 'No such file or directory') and str(e) == "[Errno 2] No such file or directory: '/no/such'"
    """)
    does(python, "import collections as ours\n%python import collections as theirs")
    hold(python, """
        {**theirs.OrderedDict(a=1)} == {'a': 1} and dict(**theirs.OrderedDict(b=2)) == {'b': 2}
    """)
    reply = fails(python, "def outer():\n    return df['nosuchname']\nouter()", "KeyError")
    trace = "\n".join(reply["traceback"])
    assert trace.index("outer()") < trace.index("In Python:") < trace.index("get_loc"), trace
    does(python, "try:\n    LogisticRegression().predict([[1.0]])\nexcept AttributeError as error:\n    e = error")
    does(python, "try:\n    raise NotFittedError('mine')\nexcept ValueError as error:\n    e = error")
    hold(python, "str(e) == 'mine' and isinstance(e, NotFittedError)")


def test_rich_display(python):
    outputs = does(python, f"{FRAME}\ndf")
    data = next(content["data"] for kind, content in outputs if kind == "execute_result")
    assert "<table" in data["text/html"] and "4.0" in data["text/plain"] and "<table" not in data["text/plain"]
    assert "<table" in shown(python, "display(df)", "text/html")[0]
    assert shown(python, "pd.DataFrame") == ["<class 'pandas.DataFrame'>"]
    (picture,) = shown(python, "axes = df.plot(y='a')", "image/png")
    assert base64.b64decode(picture).startswith(b"\x89PNG")
    assert not shown(python, "1", "image/png")
    # A plot of ours takes columns.
    assert len(shown(python, "import matplotlib.pyplot as plt\nlines = plt.plot(df['a'], df['b'])", "text/html")) == 1
    assert len(shown(python, "df.plot(y='a').figure", "image/png")) == 1


def test_completion_and_help(python):
    does(python, FRAME)
    for code, name in [("df.gr", "groupby"), ("pd.read_c", "read_csv"), ("from pandas import Data", "DataFrame")]:
        matches = python.reply(python.kc.complete(code))["content"]["matches"]
        assert any(it.endswith(name) for it in matches), (code, matches)
    hold(python, "'groupby' in dir(df) and 'read_csv' in dir(pd)")
    content = python.reply(python.kc.inspect("pd.read_csv", 11))["content"]
    assert "filepath_or_buffer" in content["data"]["text/plain"] and "comma-separated" in content["data"]["text/plain"]

"""Packages of a real Python beside the session: values and arrays both ways, and functions and objects of ours that Python uses."""

from test_python import FRAME, does, fails, hold, python  # noqa: F401


def test_values_both_ways(python):
    does(python, "%%python\nclass Box:\n    def put(self, it):\n        self.it = it\n        return it\nbox = Box()")
    does(python, "%%python -o box\n")
    values = r"""
        None
        True
        0
        -(2 ** 62)
        2 ** 62 - 1 + 2 ** 62
        1.5
        1e300
        '\xe4\U0001f600\0'
        ''
        3 + 4j
        ...
        []
        ()
        {}
        set()
        [1, [2.5, ('a', None)], {'k': {1, 2}, 3: [()]}]
        (1,)
        frozenset([(2, 3)])
        slice(1, None, -2)
        range(3, 9, 2)
        [[[[[[[[[[1]]]]]]]]]]
        {True: 1, (1, 'a'): 2.0}
        list(range(100000))
        ['a' * 10] * 1000
        int
        [str, dict]
    """.split("\n")[1:-1]
    hold(python, "\n".join(f"(lambda a, b: type(a) is type(b) and a == b and repr(a) == repr(b))(box.put({it}), {it})" for it in map(str.strip, values)))
    hold(python, "box.put(float('inf')) == float('inf') and box.put(float('nan')) != box.put(float('nan'))")
    does(python, "given = [1, [2]]\nbox.put(given).append(3)\nbox.it.append(4)")
    hold(python, "given == [1, [2]] and box.it == [1, [2]]")
    fails(python, "given.append(given)\nbox.put(given)", "ValueError", "contain themselves")
    does(python, """
        %%python -o knot,deep,big,stamp
        knot = [1]
        knot.append(knot)
        deep = [[]]
        big = [2 ** 70]
        import datetime
        stamp = {'day': datetime.date(2020, 1, 2)}
    """)
    hold(
        python,
        """knot[1] is knot and len(knot) == 2 and knot[0] == 1
        str(big[0]) == '1180591620717411303424' and float(big[0]) == 2.0 ** 70 and big[0] % 10 == 4 and big[0] > 5
        stamp['day'].year == 2020 and str(stamp['day']) == '2020-01-02' and box.put(stamp)['day'] is stamp['day']""",
    )


def test_dates_of_ours(python):
    does(python, "import datetime\nimport pandas as pd\nday = datetime.date(2020, 1, 2)\nstamp = pd.Timestamp('2020-01-02')")
    hold(
        python,
        """stamp + datetime.timedelta(days=1) == pd.Timestamp('2020-01-03')
        pd.Timestamp(day) == pd.Timestamp('2020-01-02') and pd.Timestamp(datetime.datetime(2020, 1, 2, 3)).hour == 3
        len(pd.date_range(day, periods=3)) == 3""",
    )


def test_arrays(python):
    does(python, "import torch\nimport numpy as np\n%python import numpy as real")
    kinds = "bool int8 int16 int32 int64 uint8 float16 float32 float64".split()
    hold(python, "\n".join(f"real.arange(4).astype('{it}').dtype == np.{it} and real.asarray(np.arange(4).astype('{it}')).dtype == np.{it}" for it in kinds))
    hold(python, "\n".join(f"str(real.dtype(np.{it})) == '{it}' and real.zeros(2, np.{it}).dtype == '{it}'" for it in kinds if it != "bool"))
    does(python, """
        %%python -o same
        def same(a, code, shape, order, total):
            flags = 'C' * a.flags.c_contiguous + 'F' * a.flags.f_contiguous
            return (a.dtype.name, a.shape, flags, float(a.sum())) == (code, shape, order, total)
    """)
    hold(
        python,
        """same(np.arange(6.0).reshape(2, 3), 'float64', (2, 3), 'C', 15.0)
        same(np.arange(6.0).reshape(2, 3).T, 'float64', (3, 2), 'F', 15.0)
        same(torch.arange(6).reshape(2, 3).T, 'int64', (3, 2), 'F', 15.0)
        same(np.arange(90000.0).reshape(300, 300).T, 'float64', (300, 300), 'F', 4049955000.0)
        same(torch.arange(90000, dtype=torch.int32).reshape(300, 300)[:, ::2], 'int32', (300, 150), 'C', 2024955000.0)
        same(np.arange(10)[::-3], 'int64', (4,), 'CF', 18.0)
        same(np.zeros((0, 3)), 'float64', (0, 3), 'CF', 0.0)
        same(np.array(2.5), 'float64', (), 'CF', 2.5)
        same(torch.tensor(2.5), 'float32', (), 'CF', 2.5)
        same(torch.tensor([True, False] * 20000), 'bool', (40000,), 'CF', 20000.0)
        same(torch.tensor([1.5, 2.0], dtype=torch.bfloat16), 'float32', (2,), 'CF', 3.5)
        type(np.float32(1.5)) is type(real.float32(1.5)) and real.float32(1.5) == 1.5 and real.asarray(np.float32(1.5)).dtype == np.float32
        real.arange(6).reshape(2, 3).strides == (24, 8) and real.arange(6).reshape(2, 3).T.strides == (8, 24)
        real.arange(90000).reshape(300, 300).T.strides == (8, 2400) and real.arange(90000).reshape(300, 300).T[7, 3] == 907
        (real.arange(100000)[::2] == np.arange(100000)[::2]).all() and (real.arange(6)[::-1] == np.arange(6)[::-1]).all()
        real.zeros((0, 3)).shape == (0, 3) and real.array(5.0).shape == () and float(real.array(5.0)) == 5.0
        (real.array([1, 2], dtype='>i4') == np.array([1, 2])).all() and real.array([1, 2], dtype='>i4').dtype == np.int32
        real.concatenate([np.ones(50000), np.zeros(50000), np.ones(3)]).sum() == 50003.0
        real.hypot(np.full(9000, 3.0), np.full(9000, 4.0)).max() == 5.0
        real.array(['a', 'bb']).tolist() == ['a', 'bb'] and real.array([1, 'a', None], dtype=object)[1] == 'a'
        real.array([1, 2], dtype='uint32').tolist() == [1, 2] and real.uint64(2 ** 62) * 2 - 1 == real.uint64(2 ** 62) + (2 ** 62 - 1)
        real.array([1 + 2j]).tolist() == [1 + 2j] or complex(real.array([1 + 2j])[0]) == 1 + 2j""",
    )
    fails(python, "real.mean(torch.ones(2, requires_grad=True))", "RuntimeError", "detach")
    does(python, "a = np.zeros(3)\nb = real.negative(a)\nb[0] = 5.0")
    hold(python, "a.tolist() == [0, 0, 0] and b.tolist()[0] == 5.0")


def test_columns_in_our_packages(python):
    does(python, f"{FRAME}\nimport torch\nimport numpy as np\nimport math\nnumbers = df[['a', 'b']]")
    hold(
        python,
        """np.asarray(numbers).shape == (3, 2) and np.array(s).tolist() == [1, 2, 3] and np.mean(s) == 2
        np.asarray(s, dtype=np.float32).dtype == np.float32
        torch.tensor(numbers.values).dtype == torch.float64 and torch.tensor(s).tolist() == [1, 2, 3]
        torch.from_numpy(numbers.values).shape == (3, 2) and torch.tensor(s.values, dtype=torch.float32).sum() == 6
        (np.array([1, 2, 3]) + s).tolist() == [2, 4, 6] and (s * np.array([1, 2, 3])).tolist() == [1, 4, 9]
        df.assign(d=np.array([1.0, 2.0, 3.0]), e=torch.tensor([1, 2, 3]))['e'].sum() == 6
        np.where(s > 1, 1, 0).tolist() == [0, 1, 1] and np.concatenate([s, s]).shape == (6,)
        math.sqrt(s.iloc[0]) == 1.0 and torch.zeros(s.iloc[1]).shape == (2,)""",
    )
    hold(
        python,
        """np.log(df['b']).tolist() == np.log(df['b'].values).tolist()
        np.sqrt(s).tolist() == np.sqrt(s.values).tolist() and np.abs(-s).tolist() == [1, 2, 3] and np.isnan(df['b']).tolist() == [False] * 3
        np.arange(3)[s > 1].tolist() == [1, 2]
        torch.arange(3)[torch.tensor((s > 1).values)].tolist() == [1, 2] and np.arange(4)[s].tolist() == [1, 2, 3]""",
    )


def test_classes_of_our_numpy_name_dtypes(python):
    does(python, f"{FRAME}\nimport numpy as np")
    hold(python, "df.astype({'a': np.float32})['a'].dtype == np.float32 and s.astype(float).dtype == np.float64\ndf.select_dtypes(include=np.int64).shape == (3, 1)")
    hold(python, """
        df.select_dtypes(include=np.number).shape == (3, 2)
        df.select_dtypes(include=[np.number]).shape == (3, 2)
        df.select_dtypes(exclude=[np.number]).shape == (3, 1)
    """)


def test_paths_and_files(python, tmp_path):
    does(python, FRAME)
    does(python, f"""
        import io
        import pathlib
        place = pathlib.Path({str(tmp_path)!r}) / 'a.csv'
        df.to_csv(str(place), index=False)
    """)
    hold(python, """
        place.read_text().startswith('a,b,c\\n1,4.0,x\\n') and pd.read_csv(str(place)).equals(df)
        pd.read_csv(io.StringIO('a,b\\n1,2\\n')).shape == (1, 2)
        pd.read_csv(open(str(place))).shape == (3, 3)
    """)
    hold(python, "pd.read_csv(place).equals(df)")


def test_calls_back(python):
    does(python, f"{FRAME}\nimport numpy as np")
    does(python, """
        def double(x):
            'Twice.'
            return x * 2
        class Adder:
            def __init__(self, n):
                self.n = n
            def __call__(self, x):
                return x + self.n
            def add(self, x, y=0):
                return x + self.n + y
        adder = Adder(10)
    """)
    hold(
        python,
        """s.apply(lambda x: x + 1).tolist() == [2, 3, 4] and s.map(double).tolist() == [2, 4, 6]
        s.map(adder).tolist() == [11, 12, 13] and s.apply(adder.add).tolist() == [11, 12, 13] and s.apply(adder.add, y=5).tolist() == [16, 17, 18]
        s.apply(str).tolist() == ['1', '2', '3'] and df['c'].apply(len).tolist() == [1, 1, 1] and s.apply(np.sqrt).iloc[0] == 1.0
        df.apply(lambda row: row['a'] + row['b'], axis=1).tolist() == [5.0, 7.0, 9.0]
        df.groupby('c')['a'].agg(lambda it: it.max() - it.min()).to_dict() == {'x': 2, 'y': 0}
        s.apply(lambda x: s.apply(lambda y: x * y).sum()).tolist() == [6, 12, 18]
        pd.Series(x * x for x in range(4)).tolist() == [0, 1, 4, 9] and pd.Series(map(double, [1, 2])).tolist() == [2, 4]
        df.rename(columns=str.upper).columns.tolist() == ['A', 'B', 'C'] and df.pipe(lambda d, k: d['a'] * k, 3).tolist() == [3, 6, 9]
        pd.Series([adder, adder]).iloc[0] is adder and pd.Series([double]).iloc[0](4) == 8 and pd.Series([adder]).iloc[0].n == 10""",
    )
    does(python, """
        from scipy import integrate, optimize
        found = optimize.minimize(lambda x: ((x - np.array([1.0, -2.0])) ** 2).sum(), np.zeros(2))
    """)
    hold(
        python,
        """np.allclose(found.x, np.array([1.0, -2.0]), atol=1e-4) and found.success
        abs(optimize.brentq(lambda x: x * x - 2, 0, 2) - 2 ** 0.5) < 1e-9 and abs(integrate.quad(lambda x: x ** 2, 0, 1)[0] - 1 / 3) < 1e-9""",
    )
    assert python.text(does(python, """
        calls = [0]
        def told(x):
            calls[0] += 1
            print(x)
            return x
        r = s.apply(told)
    """)) == "1\n2\n3\n"
    does(python, "%python import builtins as there")
    hold(python, """
        s.apply(adder).tolist() == [11, 12, 13]
        there.hasattr(adder, '__call__') and not there.hasattr(adder, '__len__')
    """)
    does(python, """
        import inspect as ours
        %python import inspect
        xs = np.linspace(0.0, 4.0, 50)
        def model(x, a, b):
            return a * np.exp(-b * x)
    """)
    hold(python, """
        str(inspect.signature(adder.add)) == '(x, y=0)'
        np.allclose(optimize.curve_fit(model, xs, model(xs, 2.5, 1.3))[0], np.array([2.5, 1.3]))
    """)


def test_ours_come_back_as_they_were(python):
    does(python, """
        %%python -o same,within,called
        def same(x):
            return x
        def within(x):
            return [x, {'k': x}]
        def called(f, *args):
            return f(*args)
    """)
    does(python, "class Thing:\n    pass\nthing = Thing()\ndef double(x):\n    return x * 2")
    hold(python, "same(thing) is thing and same(double) is double and within(thing)[1]['k'] is thing")
    hold(python, "called(lambda: thing) is thing and type(called(Thing)) is Thing and called(lambda: double)(4) == 8 and called(double, 4) == 8")
    hold(python, "called(lambda: (x for x in range(3))) is not None and sum(same(x for x in range(3))) == 3")


def test_exceptions_of_calls_back(python):
    does(python, FRAME)
    does(python, """
        class Own(Exception):
            pass
        made = Own('mine')
        def raising(x):
            raise made
        try:
            s.apply(raising)
        except Own as error:
            e = error
    """)
    hold(python, "e is made")
    does(python, "def nested(x):\n    return s.apply(raising)\ntry:\n    s.apply(nested)\nexcept Own as error:\n    e = error")
    hold(python, "e is made")
    fails(python, "s.apply(lambda x: 1 / 0)", "ZeroDivisionError")
    fails(python, "s.apply(lambda x: df['nosuchname'])", "KeyError", "nosuchname")
    does(python, """
        %%python -o attempt
        def attempt(f):
            try:
                f()
            except ZeroDivisionError as e:
                return 'caught: ' + str(e)
            except Exception as e:
                return type(e).__mro__[1].__name__ + ': ' + str(e)
    """)
    hold(python, """
        'zero' in attempt(lambda: 1 / 0) and attempt(lambda: 1 / 0).startswith('caught')
        attempt(lambda: raising(1)) == 'Exception: Own: mine'
    """)
    does(python, """
        %%python -o elsewhere
        from concurrent.futures import ThreadPoolExecutor
        def elsewhere(f):
            with ThreadPoolExecutor(1) as pool:
                return pool.submit(f).result()
    """)
    fails(python, "elsewhere(lambda: 1)", "RuntimeError", "main thread only")
    fails(python, "def f(n):\n    return s.apply(lambda x: f(n + 1))\nf(0)", "RecursionError")
    hold(python, "s.apply(lambda x: x).tolist() == [1, 2, 3]")


def test_sklearn_with_our_functions(python):
    does(
        python,
        """import numpy as np
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer
from sklearn.model_selection import cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
X, y = load_iris(return_X_y=True)
X1, X2, y1, y2 = train_test_split(X, y, random_state=0)
model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X1, y1)
accuracy = (model.predict(X2) == y2).mean()
def right(model, X, y):
    return (model.predict(X) == y).mean()""",
    )
    hold(python, """
        accuracy > 0.9 and abs(accuracy - model.score(X2, y2)) < 1e-9
        cross_val_score(model, X, y, scoring=right, cv=3).min() > 0.9
    """)
    does(python, """
        def twice(X):
            return X * 2
        model = make_pipeline(FunctionTransformer(twice), LogisticRegression(max_iter=1000))
    """)
    hold(python, """
        cross_val_score(model, X, y, cv=3).min() > 0.9
        cross_val_score(model, X, y, cv=3).min() > 0.9
        model.fit(X, y).score(X, y) > 0.9
    """)
    hold(python, "cross_val_score(model, X, y, cv=3, scoring=make_scorer(lambda a, b: (a == b).mean())).min() > 0.9")


def test_copies_of_what_stands_for_our_objects(python):
    does(python, """
        %python import copy as real_copy
        class Thing:
            def __init__(self):
                self.v = 3
            def __call__(self, x):
                return x + self.v
        thing = Thing()
        def double(x):
            return x * 2
    """)
    does(python, "import pandas as pd\nones = pd.Series([1, 1])")
    does(python, """
        for i in range(3):
            assert ones.map(real_copy.copy(double)).tolist() == [2, 2]
            assert real_copy.deepcopy([double])[0](4) == 8
            real_copy.copy(thing)
    """)
    hold(python, "ones.map(double).tolist() == [2, 2] and real_copy.copy(thing).v == 3")

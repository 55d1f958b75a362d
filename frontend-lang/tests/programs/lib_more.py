"""inspect, UserString, statistics and the errors of re."""

import inspect
import re
import statistics
from collections import UserDict, UserList, UserString
from functools import partial, wraps


def f(a, b=2, *args, c, d=4, **kw) -> int:
    """What f does.

        Indented.
    """
    return 1


s = inspect.signature(f)
print(s, list(s.parameters), s.parameters["b"].default, s.parameters["a"].default is inspect.Parameter.empty)
print(s.parameters["c"].kind.name, s.parameters["c"].kind == inspect.Parameter.KEYWORD_ONLY, s.return_annotation, repr(s), repr(s.parameters["b"]))
print([it.kind.name for it in s.parameters.values()])
print(inspect.getdoc(f))
for test in (inspect.isfunction, inspect.isbuiltin, inspect.isclass, inspect.ismethod, inspect.ismodule, inspect.isgenerator, inspect.isroutine):
    print(test.__name__, [test(it) for it in (f, len, int, [].append, inspect, (x for x in []), 3)])


class A:
    """doc of A"""

    def __init__(self, x, *, y=1):
        self.x = x

    def m(self, a):
        yield a

    @staticmethod
    def s(a):
        pass

    @classmethod
    def c(cls, a):
        pass

    def __call__(self, z):
        return z


a = A(1)
print(inspect.signature(a.m), inspect.signature(A.m), inspect.signature(A.s), inspect.signature(A.c), inspect.signature(A), inspect.signature(a))
print(inspect.ismethod(a.m), inspect.isfunction(A.m), inspect.isgeneratorfunction(A.m), inspect.isgeneratorfunction(f), [it[0] for it in inspect.getmembers(a, inspect.ismethod)])
bound = s.bind(1, c=3)
print(bound.arguments, bound.args, bound.kwargs)
bound.apply_defaults()
print(bound.arguments, bound.args, bound.kwargs)
for call in (lambda: s.bind(1), lambda: s.bind(), lambda: inspect.signature(A.s).bind(1, 2), lambda: inspect.signature(A.s).bind(q=1), lambda: inspect.signature(3)):
    try:
        print(call())
    except Exception as error:
        print(type(error).__name__, error)


def g(x: int, y: str = "a", /, *, z: float = 1.5) -> list[int]:
    pass


print(inspect.signature(g), inspect.getfullargspec(f))
print(inspect.signature(lambda x, y=(1, 2): 0), inspect.signature(partial(f, 1, d=5)))


@wraps(g)
def wrapped(*args):
    pass


print(inspect.signature(wrapped), inspect.unwrap(wrapped) is g, inspect.getmro(A)[0] is A)


class Text(UserString):
    def shout(self):
        return self.upper() + "!"


t = Text("abc")
print(t, repr(t), t.shout(), type(t.shout()).__name__, t + "d", "z" + t, len(t), t[0], t == "abc", "b" in t, t.data, t < "b", hash(t) == hash("abc"), t * 2)
print(t.find("c"), t.split("b"), t.replace("a", "x"), t.startswith("a"), ",".join(["p", "q"]), f"{t}", int(UserString("12")) + 1, UserString(5).isdigit())


class Double(UserDict):
    def __setitem__(self, key, value):
        super().__setitem__(key, value * 2)

    def __missing__(self, key):
        return f"no {key}"


d = Double(a=1)
d["b"] = 2
d.update(c=3)
print(d, len(d), d["zz"], d.get("q"), list(d), d == {"a": 2, "b": 4, "c": 6}, isinstance(d, dict), d.pop("a"), d | {"x": 1})
l = UserList([3, 1])
l.append(2)
print(sorted(l), l[1:], type(l[1:]).__name__, l + [1], l * 2, 2 in l, l == [3, 1, 2])

for data in ([40, 60], [2.5, 3, 10], [1, 2, 3, 4], [0.1, 0.2, 0.3], [3, 7, 11], [3], [1e10, 3], [0, 1], [0.7, 1.3, 2.9, 5.1, 0.01]):
    print(repr(statistics.harmonic_mean(data)), repr(statistics.mean(data)))
print(statistics.harmonic_mean([40, 60], weights=[5, 30]), statistics.mean([0.1] * 3), statistics.mean([1e300, 1e300]), statistics.mean([1, 2, 4]))
for at in range(1, 40):
    numbers = [((at * 37 + k * 101) % 997 + 1) / (k + 3) for k in range(at % 7 + 2)]
    print(repr(statistics.harmonic_mean(numbers)), repr(statistics.mean(numbers)))

for pattern in ("(", ")", "[", "a**", "*a", "a|*", "a???", "(?P<n", "\\", "[z-a]", "a{2,1}", "(?P=x)", "(?z)", "\\1", "(?i", "(?", "\\N", "(?<=a+)b"):
    try:
        re.compile(pattern)
        print("accepted", pattern)
    except re.error as error:
        print(pattern, "|", error, "|", error.msg, "|", error.pos)
for call in (lambda: re.sub("a", "\\2", "a"), lambda: re.sub("a", "\\g<x>", "a"), lambda: re.sub("(a)", "\\g<1", "a"), lambda: re.sub("a", "\\q", "a"), lambda: re.match("a", "a").group(2)):
    try:
        print(call())
    except Exception as error:
        print(type(error).__name__, error)


class Fresh:
    pass


n = Fresh()
n.__dict__ = {"q": 1}
print(n.q)
n.__dict__.update(a=1, b=2)
print(n.a, n.b, n.__dict__)
try:
    n.__dict__ = 3
except TypeError as error:
    print(error)

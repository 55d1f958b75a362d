"""Parts of the library that derived classes and small programs lean on."""
import dataclasses
import functools
import io
import json
import statistics
import string
from collections import UserDict, UserList


class Lower(UserDict):
    def __setitem__(self, key, item):
        super().__setitem__(key.lower(), item)

    def __getitem__(self, key):
        return super().__getitem__(key.lower())


d = Lower(A=1)
d["B"] = 2
print(d, d["a"], "b" in d, len(d), list(d), d.get("B"), dict(d), d == {"a": 1, "b": 2}, d.pop("a"), d.setdefault("q", 5), d)


class Numbers(UserList):
    def total(self):
        return sum(self.data)


n = Numbers([1, 2])
n.append(3)
print(n, n.total(), n[1:], len(n), n + [4], n == [1, 2, 3], type(n[:1]).__name__, 2 in n)


class Encoder(json.JSONEncoder):
    def default(self, o):
        return {"__set__": sorted(o)} if isinstance(o, set) else super().default(o)


print(json.dumps({"x": {3, 1}}, cls=Encoder), Encoder().encode([{2}]))
try:
    json.dumps(object, cls=Encoder)
except TypeError as e:
    print(e)

b = io.StringIO()
b.write("hello\n")
print("x", 1, file=b)
print(repr(b.getvalue()))
b = io.StringIO("l1\nl2\nl3")
print(repr(b.readline()), repr(b.read()), list(io.StringIO("a\nb")), b.tell(), b.seek(0), b.readlines())
with io.StringIO() as f:
    f.write("z")
    print(f.getvalue())
try:
    f.getvalue()
except ValueError as e:
    print(e)

t = string.Template("$a and ${b}, $$5")
print(t.substitute(a=1, b=2), t.safe_substitute(a=1))
for wrong in (lambda: t.substitute(a=1), lambda: string.Template("x\n $ y").substitute()):
    try:
        wrong()
    except (KeyError, ValueError) as e:
        print(type(e).__name__, e)


@functools.lru_cache
def seen(a):
    print("seen", a)
    return a


seen(1), seen(1.0), seen(True), seen(1)
print(seen.cache_info())
print(statistics.harmonic_mean([40, 60]), statistics.harmonic_mean([2, 3, 12]))
print(dataclasses.make_dataclass("P", ["x", ("y", int, 2)])(1), issubclass(ConnectionError, OSError), issubclass(FileExistsError, OSError))

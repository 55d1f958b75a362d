import math, itertools, functools, collections, json, copy, re, random, time
from collections import defaultdict, Counter, namedtuple, deque, OrderedDict
from dataclasses import dataclass, field
from functools import partial, reduce, lru_cache, wraps
import os.path
print(math.sqrt(16), math.pi, math.floor(-2.5), math.gcd(12, 18))
print(list(itertools.chain([1], [2, 3])), list(itertools.islice(itertools.count(5), 3)), list(itertools.product("ab", repeat=2)))
dd = defaultdict(list); dd["a"].append(1); dd["b"].append(2); print(dict(dd))
c = Counter("hello"); print(c.most_common(1), c["l"], c["z"])
P = namedtuple("P", "x y"); p = P(1, y=2); print(p, p.x, p[1], p._replace(x=5))
q = deque([1,2,3], maxlen=3); q.append(4); q.appendleft(0); print(list(q))
@dataclass
class Pt:
    x: int
    y: float = 2.0
    tags: list = field(default_factory=list)
    def norm(self): return (self.x**2 + self.y**2) ** 0.5
print(Pt(1), Pt(1) == Pt(1), Pt(3, 4.0).norm(), Pt(1).tags is Pt(1).tags)
print(reduce(lambda a, b: a * b, [1,2,3,4]), partial(pow, 2)(5))
@lru_cache(maxsize=None)
def fib(n): return n if n < 2 else fib(n-1) + fib(n-2)
print(fib(50))
def deco(f):
    @wraps(f)
    def w(*a): return f(*a)
    return w
@deco
def named(a):
    "docs"
    return a
print(named.__name__, named.__doc__, named(3))
print(json.dumps({"a": [1, 2.5, None, True], "b": "x"}), json.loads('{"k": [1, {"z": null}]}'))
a = [[1], [2]]; b = copy.copy(a); e = copy.deepcopy(a); a[0].append(9); print(b, e)
print(re.sub(r"(\w+)@(\w+)", r"\2 at \1", "me@home"), re.findall(r"\d+", "a1b22"), re.match(r"(\d+)-(\d+)", "10-20").groups())
print("a,b,c".split(","), "-".join(["x", "y"]), " pad ".strip(), "Hello".lower().replace("l", "L"), "abc".startswith("ab"), "x".zfill(3), "title case".title())
l = [3,1,2]; l.sort(); l.append(4); l.extend([5]); l.insert(0, 0); l.remove(2); print(l, l.pop(), l.index(3), l.count(1))
d = {"a": 1}; d.update(b=2); d.setdefault("c", []).append(3); print(d, d.get("z", 0), d.pop("a"), list(d.keys()), list(d.values()), list(d.items()))
for i, (k, v) in enumerate(d.items()): print(i, k, v)
s = {1, 2}; s.add(3); s.discard(1); print(sorted(s | {9}), sorted(s & {2}), s.issubset({2, 3, 4}))
print(os.path.join("a", "b"))

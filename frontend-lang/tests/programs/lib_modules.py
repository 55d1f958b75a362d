import itertools as it, functools, collections, copy, json, operator, string, re, os.path, sys, statistics
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from dataclasses import dataclass, field, asdict, astuple, replace, fields, FrozenInstanceError
from typing import List, Optional, Dict, Any, Callable, Union, Tuple
def t(f, *a, **k):
    try:
        print(repr(f(*a, **k)))
    except Exception as e:
        print(type(e).__name__, e)

print(list(it.islice(it.count(5, 2), 4)), list(it.islice(it.cycle("ab"), 5)), list(it.repeat(1, 3)), list(it.chain([1], "ab", (2,))), list(it.chain.from_iterable([[1], [2, 3]])))
print(list(it.accumulate([1, 2, 3])), list(it.accumulate([1, 2, 3], operator.mul)), list(it.accumulate([1, 2], initial=10)), list(it.compress("abcd", [1, 0, 1, 0])), list(it.dropwhile(lambda x: x < 3, [1, 3, 1])), list(it.takewhile(lambda x: x < 3, [1, 3, 1])), list(it.filterfalse(lambda x: x % 2, range(5))))
print([(k, list(g)) for k, g in it.groupby("aabbca")], [(k, len(list(g))) for k, g in it.groupby([1, 3, 2, 4], key=lambda x: x % 2)], list(it.starmap(pow, [(2, 3), (3, 2)])), list(it.pairwise("abcd")), list(it.zip_longest([1, 2, 3], "a", fillvalue="-")))
a, b = it.tee(iter(range(3))); print(list(a), list(b), list(it.product("ab", [1, 2])), list(it.product([0, 1], repeat=2)), list(it.permutations("abc", 2)), list(it.permutations(range(3)))[:3], list(it.combinations("abcd", 2)), list(it.combinations_with_replacement("ab", 2)))
print(list(it.islice(range(10), 2, 8, 3)), list(it.islice("abc", None)), list(it.islice(range(5), 3)), sum(1 for _ in it.product(range(5), repeat=3))); t(it.islice, [1], -1); t(it.combinations, "ab", -1)
print(functools.reduce(lambda a, b: a + b, [1, 2, 3]), functools.reduce(operator.mul, [1, 2, 3], 10)); t(functools.reduce, operator.add, [])
p = functools.partial(int, base=2); print(p("101"), functools.partial(print, "a", sep="-").args)
@functools.lru_cache(maxsize=None)
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
print(fib(60), fib.cache_info(), fib.__name__)
@functools.lru_cache(maxsize=2)
def sq(x): return x * x
print(sq(1), sq(2), sq(1), sq(3), sq(2), sq.cache_info())
@functools.wraps(sq)
def other(x):
    "doc"
    return 1
print(other.__name__, sorted([3, 1, 2], key=functools.cmp_to_key(lambda a, b: b - a)))
c = Counter("abracadabra"); print(c, c.most_common(2), c["zz"], sum(c.values()), sorted(c.elements())[:4]); c.update("aa"); c.subtract({"b": 5}); print(c, c["a"], +c); print(Counter(a=3, b=1) + Counter(a=1, c=2), Counter(a=3, b=1) - Counter(a=1, c=2), Counter(a=1) & Counter(a=2), Counter(a=1) | Counter(a=2), c.total(), Counter(), isinstance(c, dict))
d = defaultdict(list); d["a"].append(1); d["b"]; print(d, d["c"], len(d), "zz" in d, dict(d)); e = defaultdict(int, x=1); e["y"] += 2; print(e, sorted(e.items()))
o = OrderedDict([("a", 1), ("b", 2)]); o.move_to_end("a"); print(o, o.popitem(last=False), list(o))
q = deque([1, 2, 3], maxlen=3); q.append(4); q.appendleft(0); print(q, q.pop(), q.popleft(), len(q), q[0], list(q)); q.extend([5, 6]); q.rotate(1); print(q, deque("abc"), 5 in q, q.index(5)); t(deque().pop)
P = namedtuple("P", "x y"); pt = P(1, y=2); print(pt, pt.x, pt[1], pt._replace(x=5), pt._asdict(), P._fields, P._make([7, 8]), pt == (1, 2), len(pt), [*pt]); x, y = pt; print(x, y, isinstance(pt, tuple)); t(P, 1); t(P, 1, 2, 3); t(P, 1, z=2)
Q = namedtuple("Q", ["a", "b"], defaults=[9]); print(Q(1), {pt: 1}[(1, 2)]); t(namedtuple, "R", "a a"); t(namedtuple, "R", "class")
class V(namedtuple("V", "x y")):
    def norm(self): return self.x + self.y
print(V(1, 2).norm(), V(1, 2))
l = [1, [2, 3], {"k": [4]}]; s = copy.copy(l); dp = copy.deepcopy(l); l[1].append(9); print(s[1], dp[1], dp[2] is l[2]); r = [1]; r.append(r); r2 = copy.deepcopy(r); print(r2[1] is r2)
class A:
    def __init__(self): self.v = [1]
a1 = A(); a2 = copy.deepcopy(a1); a3 = copy.copy(a1); a1.v.append(2); print(a2.v, a3.v)
print(json.dumps({"a": [1, 2.5, None, True], "b": {"c": "é\n\"\\"}, "d": [], "e": {}}), json.dumps([1, "é"], ensure_ascii=False), json.dumps({"b": 1, "a": 2}, sort_keys=True), json.dumps([1, 2], separators=(",", ":")), json.dumps({1: 2, None: 3, True: 4, 1.5: 5}), json.dumps((1, 2)), json.dumps(float("nan")), json.dumps("\U0001f600"), json.dumps(1e100))
print(json.dumps({"a": [1, {"b": 2}], "c": [], "d": {}}, indent=2)); print(json.dumps([1, [2]], indent="\t"))
t(json.dumps, {1, 2}); t(json.dumps, {(1, 2): 3}); t(json.dumps, float("inf"), allow_nan=False); print(json.dumps({1, 2} and [A()], default=lambda o: o.v)); t(json.dumps, r)
print(json.loads('{"a": [1, 2.5, null, true, -3e2], "b": "\\u00e9\\ud83d\\ude00\\n"}'), json.loads("[]"), json.loads(' "x" '), json.loads("NaN"))
for bad in ["{", '{"a"', '{"a":', '{"a":1', '{"a":1,', "[1", "[1,", "[1,]", '"abc', '"a\nb"', '"\\x"', '"\\u12"', "1 2", "", "nul", "-", "{a:1}", "[1 2]", "01", "1.", '{\n"a" 1}']: t(json.loads, bad)
print(operator.itemgetter(1)([5, 6]), operator.itemgetter(0, 2)("abc"), operator.attrgetter("real")(5), operator.methodcaller("split", ",")("a,b"), operator.add(1, 2), operator.contains([1], 1))
print(string.ascii_lowercase, string.digits, string.punctuation, string.capwords("hello wORLD"))
m = re.match(r"(\w+)\s(?P<last>\w+)", "Jane Doe x"); print(m, m.group(), m.group(1, 2), m.groups(), m["last"], m.groupdict(), m.span(), m.start(2), m.end("last"))
print(re.search(r"\d+", "abc 123 de 45"), re.findall(r"\d+", "1 22 333"), re.findall(r"(\w)(\d)", "a1 b2"), re.sub(r"\d", lambda m: str(int(m.group()) * 2), "1 2 3"), re.sub(r"(\w+) (\w+)", r"\2 \g<1>", "hello world"), re.split(r"[,;]\s*", "a, b;c"), re.split(r"(-)", "a-b"), re.sub("x*", "-", "abxd"), re.findall(r"\b\w", "hi yo"), re.fullmatch(r"a+", "aaab"), re.compile(r"a.c", re.S).match("a\nc"), re.subn("a", "b", "aaa", count=2))
print([x.group() for x in re.finditer(r"[a-z]+", "ab cd")], re.findall(r"(?i)HELLO", "Hello hello"), re.findall(r"^\w+$", "a\nb", re.M), re.findall(r"\w+(?=!)", "hey you!"), re.search(r"(a)|b", "b").groups(), re.escape("a.b*c"), re.search("é", "café").span(), re.split(r"\s+", " a b "), re.findall("a{,2}", "aaa"))
print(os.path.join("a", "b", "/c", "d"), os.path.basename("/x/y.txt"), os.path.dirname("/x/y.txt"), os.path.splitext("a/b.tar.gz"), os.path.split("/a/b/"), os.path.normpath("a/../b//c"), sys.maxsize)
print(statistics.mean([1, 2, 3, 4]), statistics.mean([1, 2, 3]), statistics.median([3, 1, 2]), statistics.median([1, 2, 3, 4]), statistics.stdev([1, 2, 3, 4]), statistics.pvariance([1, 2, 3, 4]), statistics.mode([1, 1, 2]), statistics.quantiles([1, 2, 3, 4, 5]))
@dataclass
class Pt:
    x: int
    y: float = 2.0
    tags: List[str] = field(default_factory=list)
print(Pt(1), Pt(1, 3.0, ["a"]), Pt(1) == Pt(1), Pt(x=5, y=1), Pt(1) != Pt(2), asdict(Pt(1)), astuple(Pt(1)), replace(Pt(1), y=9), [f.name for f in fields(Pt)])
t(Pt); t(Pt, 1, 2, 3, 4); t(Pt, 1, z=2); t(Pt, 1, x=2)
@dataclass(order=True, frozen=True)
class F:
    a: int
    b: int = field(default=0, compare=False, repr=False)
print(F(1) < F(2), F(1), sorted([F(3), F(1)]), hash(F(1)) == hash(F(1)), {F(1): 2}[F(1)]); t(setattr, F(1), "a", 5)
@dataclass
class Child(Pt):
    z: int = 0
    def __post_init__(self): self.z = self.x * 2
print(Child(4), Child(1).tags)
def ann(a: Optional[int] = None, *b: Any, f: Callable[[int], int] = None, **k: Dict[str, Union[int, str]]) -> Tuple[int, ...]: return (a,)
print(ann(1))

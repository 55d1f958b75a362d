def show(f, *args, **kw):
    try:
        print(repr(f(*args, **kw)))
    except Exception as e:
        print(type(e).__name__, e)

a = [3, 1, 2]
a.append(5); a.extend((7, 8)); a.extend(range(2)); a.insert(0, 9); a.insert(-1, 6); a.insert(100, 4)
print(a, a.pop(), a.pop(0), a.pop(-2), a.index(2), a.count(1))
a.remove(1); a.reverse(); print(a)
a.sort(); print(a); a.sort(reverse=True); print(a); a.sort(key=lambda x: x % 3); print(a); a.sort(key=lambda x: x % 3, reverse=True); print(a)
b = a.copy(); b.clear(); print(a, b)
show([].pop); show([1].pop, 5); show([1].remove, 2); show([1].index, 2); show([1, 2, 1].index, 1, 1); show([1, "a"].sort); show([1].insert, "a", 1)
words = ["banana", "Apple", "cherry", "apple"]
print(sorted(words), sorted(words, key=str.lower), sorted(words, key=len, reverse=True), sorted([(1, "b"), (1, "a"), (0, "z")]))
print(sorted([3.5, 1, 2]), sorted([True, False, 2]), sorted([[2], [1, 5], [1]]), sorted({"b": 1, "a": 2}))
class P:
    def __init__(self, x): self.x = x
    def __lt__(self, o): return self.x < o.x
    def __repr__(self): return f"P{self.x}"
print(sorted([P(3), P(1), P(2)]), sorted([P(1), P(2)], reverse=True))
big = [(i * 7919) % 1009 for i in range(1000)]
print(sorted(big, key=lambda x: -x)[:5], sorted(big, key=lambda x: (x % 10, x))[:5], sorted(map(str, big))[:4])
l = [0, 1, 2, 3, 4, 5]
l[1:3] = ["a", "b", "c"]; print(l); del l[::2]; print(l); l[::2] = [10, 20]; print(l); l += [1]; l *= 2; print(l)
nested = [[1, 2], [3]]; c = list(nested); c[0].append(9); print(nested)
t = (1, 2, 1, 3)
print(t.count(1), t.index(3), t + (4,), t * 2, t[1:], t[::-1], hash((1, 2)) == hash((1, 2))); show(t.index, 9)
rec = [1]; rec.append(rec); print(rec)
d = {"a": 1, "b": 2}
print(d.keys(), d.values(), d.items(), d.get("a"), d.get("z"), d.get("z", 0), list(d), len(d))
d.setdefault("c", []).append(1); print(d.setdefault("a", 5), d)
print(d.pop("c"), d.pop("zz", None), d); show(d.pop, "zz"); show({}.popitem); print(d.popitem(), d)
d.update({"x": 1}, y=2); d.update([("z", 3)]); print(d); show(d.update, [1]); show(d.update, [(1, 2, 3)])
print(dict.fromkeys("ab"), dict.fromkeys([1, 2], 0), dict(a=1, b=2), dict([("k", "v")]), {**d, "q": 0}, d | {"w": 9})
k = d.keys(); d["new"] = 1; print(k, "new" in k, len(k)); print(d.keys() & {"a", "x"}, sorted(d.keys() - {"a"}), d.items() >= {("x", 1)})
print([x for x in reversed(d)], list(reversed(d.items()))[0], ("a", 1) in d.items(), 1 in d.values())
try:
    for x in d: d[x + "!"] = 1
except RuntimeError as e: print(e)
d2 = d.copy(); d2.clear(); print(len(d), d2)
show(lambda: {[]: 1}); show(lambda: d["nope"]); show(lambda: {1: 2}[3])
print({1: "a", 1.0: "b", True: "c"}, {(1, 2): 3}[(1, 2)], {"a": {"b": [1]}}["a"]["b"][0])
s = {1, 2, 3}
s.add(4); s.discard(9); s.remove(1); show(s.remove, 99)
print(sorted(s | {9}), sorted(s & {2, 3}), sorted(s - {2}), sorted(s ^ {2, 7}), s <= {2, 3, 4, 5}, s < s, s == {4, 3, 2}, {1}.isdisjoint({2}))
print(sorted(s.union([7], (8,))), sorted(s.intersection([2, 4])), sorted(s.difference([2])), sorted(s.symmetric_difference([2, 9])), s.issubset(range(10)), s.issuperset([2]))
s.update([5], {6}); s.difference_update([5]); s.intersection_update([2, 3, 6]); s.symmetric_difference_update([3, 10]); print(sorted(s))
f = frozenset([1, 2]); print(f, f | {3}, hash(f) == hash(frozenset([2, 1])), {f: 1}[frozenset([2, 1])]); show(lambda: {{1}})
print(set(), frozenset(), {1} | {1}, len(set("hello")), type({1} | frozenset([2])).__name__, type(frozenset([2]) | {1}).__name__)
e = set(); show(e.pop); e |= {1}; e -= {1}; print(e)
class D(dict):
    def __setitem__(self, k, v):
        super().__setitem__(k, v * 2)
    def __missing__(self, k):
        return "missing " + k
dd = D(); dd["a"] = 2; print(dd, dd["a"], dd["b"], len(dd), "a" in dd, dd.get("zz"), isinstance(dd, dict))
class L(list):
    def append(self, x):
        super().append(x + 1)
ll = L([1]); ll.append(5); print(ll, len(ll), ll[1], ll == [1, 6], sum(ll), [*ll])
x, *y, z = [1, 2, 3, 4]; print(x, y, z)
print([1, 2] < [1, 3], [1] == [1.0], (1, "a") < (1, "b"), [] < [0], [1, 2] != [1, 2])
print(list(zip([1, 2], "ab")), list(enumerate("ab", 1)), list(map(lambda q: q * 2, [1, 2])), list(filter(None, [0, 1, "", "a"])), any([0, 1]), all([]), sum([1, 2], 10))
print([[0] * 3 for _ in range(2)], [i for i in range(10) if i % 2], {i: i * i for i in range(3)}, {i % 2 for i in range(5)})
print((5).bit_length(), (3.0).is_integer(), (0.5).as_integer_ratio(), (255).bit_count(), (1.5).hex(), int("ff", 16), int("0b101", 0), float("1e3"), float("-inf"), int(-3.7))

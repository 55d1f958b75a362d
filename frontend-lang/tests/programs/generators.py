def gen(n):
    for i in range(n):
        x = yield i
        if x: print("got", x)
    return "end"
print(list(gen(3)))
g = gen(3)
print(next(g), g.send("a"), next(g), next(g, "default"))
try:
    next(gen(0))
except StopIteration as e: print("stop", e.value)
def outer():
    r = yield from gen(2)
    print("r", r)
    yield from [10, 20]
print(list(outer()))
print(sum(x * x for x in range(10)), max(len(w) for w in ["a", "bbb"]))
sq = (i * i for i in range(5) if i % 2)
print(next(sq), list(sq), list(sq))
def fib():
    a, b = 0, 1
    while True:
        yield a
        a, b = b, a + b
for v in fib():
    if v > 50: break
    print(v, end=" ")
print()
def tree(t):
    if isinstance(t, list):
        for s in t: yield from tree(s)
    else: yield t
print(list(tree([1, [2, [3, 4]], 5])))
def withfin():
    try:
        yield 1
        yield 2
    finally: print("cleanup")
w = withfin(); next(w); w.close()
for _ in withfin(): pass
def thrower():
    while True:
        try: yield "a"
        except ValueError as e: print("caught", e); yield "b"
t = thrower(); print(next(t), t.throw(ValueError("x")), next(t))
class Tree:
    def __init__(self, v, l=None, r=None): self.v, self.l, self.r = v, l, r
    def __iter__(self):
        if self.l: yield from self.l
        yield self.v
        if self.r: yield from self.r
print(list(Tree(2, Tree(1), Tree(3))))
print([ (i, j) for i in range(3) for j in range(i) if (i + j) % 2 ])
print({k: v for k, v in zip("abc", range(3))}, {c for c in "aab"} == {"a", "b"})
print([[r * c for c in range(3)] for r in range(3)])
def bad():
    yield 1
    raise StopIteration
try: list(bad())
except RuntimeError as e: print(e)
print(dict(enumerate("ab", 1)), list(zip([1,2],[3,4],[5,6])), list(map(lambda a, b: a + b, [1,2],[3,4])), list(filter(None, [0,1,2])))
print(list(reversed([1,2,3])), list(reversed("abc")), list(reversed(range(3))), list(iter(lambda it=iter([1,2,0]): next(it), 0)))
print(any(x > 3 for x in [1,5]), all([]), sorted([3,1,2], reverse=True), sorted("bca"), sorted(["bb","a"], key=len))
a = [1,2,3,4,5]
print(a[1:3], a[::-1], a[-2:], a[:-1:2], "hello"[::-1], (1,2,3)[1:], range(10)[2:8:3])
a[1:3] = [9]; print(a); del a[0]; print(a); a[::2] = [0, 0]; print(a)
def avg():
    total = n = 0
    val = None
    while True:
        x = yield val
        total += x; n += 1
        val = total / n
c = avg(); next(c); print(c.send(10), c.send(20))
def gp():
    for x in range(2):
        for y in gen(x + 1):
            yield x, y
print(list(gp()))

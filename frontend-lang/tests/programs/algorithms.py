def quicksort(a):
    if len(a) <= 1: return a
    p = a[len(a) // 2]
    return quicksort([x for x in a if x < p]) + [x for x in a if x == p] + quicksort([x for x in a if x > p])
print(quicksort([3, 6, 8, 10, 1, 2, 1]))
def sieve(n):
    s = [True] * (n + 1); s[0:2] = [False, False]
    for i in range(2, int(n ** 0.5) + 1):
        if s[i]: s[i*i::i] = [False] * len(s[i*i::i])
    return [i for i, p in enumerate(s) if p]
print(sieve(50))
def matmul(a, b): return [[sum(x * y for x, y in zip(r, c)) for c in zip(*b)] for r in a]
print(matmul([[1, 2], [3, 4]], [[5, 6], [7, 8]]))
def perms(xs):
    if not xs: yield []; return
    for i, x in enumerate(xs):
        for rest in perms(xs[:i] + xs[i+1:]): yield [x] + rest
print(list(perms([1, 2, 3])))
def hanoi(n, a="A", b="B", c="C"):
    return 0 if n == 0 else hanoi(n-1, a, c, b) + 1 + hanoi(n-1, c, b, a)
print(hanoi(8))
words = "the quick brown the lazy dog the end".split()
freq = {}
for w in words: freq[w] = freq.get(w, 0) + 1
print(sorted(freq.items(), key=lambda kv: (-kv[1], kv[0])))
def collatz(n):
    while n != 1:
        yield n
        n = n // 2 if n % 2 == 0 else 3 * n + 1
    yield 1
print(list(collatz(6)), sum(1 for _ in collatz(27)))
class Matrix:
    def __init__(self, rows): self.rows = [list(r) for r in rows]
    @property
    def T(self): return Matrix(zip(*self.rows))
    def __matmul__(self, o): return Matrix(matmul(self.rows, o.rows))
    def __eq__(self, o): return self.rows == o.rows
    def __getitem__(self, ij): i, j = ij; return self.rows[i][j]
    def __setitem__(self, ij, v): i, j = ij; self.rows[i][j] = v
    def __repr__(self): return "\n".join(" ".join(f"{v:4d}" for v in r) for r in self.rows)
m = Matrix([[1, 2], [3, 4]]); m[0, 1] = 7
print(m @ m.T); print(m.T[1, 0], m == m.T.T)
g = {"a": {"b": 1, "c": 4}, "b": {"c": 2, "d": 5}, "c": {"d": 1}, "d": {}}
def dijkstra(g, s):
    dist = {v: float("inf") for v in g}; dist[s] = 0; todo = set(g)
    while todo:
        u = min(todo, key=lambda v: (dist[v], v)); todo.remove(u)
        for v, w in g[u].items(): dist[v] = min(dist[v], dist[u] + w)
    return dist
print(dijkstra(g, "a"))
def gcd(a, b):
    while b: a, b = b, a % b
    return a
print(gcd(48, 36), [gcd(i, 12) for i in range(1, 13)])
print(sum(i * j for i in range(10) for j in range(10) if (i + j) % 3 == 0))
rng = 12345
def lcg():
    global rng
    rng = (rng * 1103515245 + 12345) % 2 ** 31
    return rng / 2 ** 31
w, b = 0.0, 0.0
data = [(x / 10, 3 * x / 10 + 1) for x in range(-10, 10)]
for epoch in range(200):
    gw = gb = 0.0
    for x, y in data:
        e = w * x + b - y
        gw += e * x; gb += e
    w -= 0.5 * gw / len(data); b -= 0.5 * gb / len(data)
print(f"{w:.4f} {b:.4f} {lcg():.6f}")
text = """alpha,1
beta,2"""
rows = [dict(zip(("n", "v"), line.split(","))) for line in text.splitlines()]
print(rows, {r["n"]: int(r["v"]) for r in rows})
stack = [1, 2]; stack.append(3); print(stack.pop(), stack)
print([*range(3), *"ab"], {**{"x": 1}, **{"y": 2}}, (*[1], 2))
print("%-5s|%5.1f|%03d" % ("ab", 2.345, 7), "{:>6}|{:<6}|{:^6}".format("a", "b", "c"))

def make():
    fs = []
    for i in range(3):
        def f(j=i): return (i, j)
        fs.append(f)
    return fs
print([f() for f in make()])
def a():
    x = 1
    def b():
        def c(): return x + 1
        return c()
    x = 10
    return b()
print(a())
def counter():
    c = 0
    def inc(by=1):
        nonlocal c
        c += by
        return c
    def get(): return c
    return inc, get
inc, get = counter(); inc(); inc(5); print(get())
x = "global"
class K:
    x = "class"
    y = x
    def m(self): return x
    z = [x for _ in range(2)]
    w = [v for v in [x]]
print(K.y, K().m(), K.z, K.w)
def outer(x):
    class Local:
        def get(self): return x
        val = x
    return Local
print(outer(5)().get(), outer(6).val)
print([[(lambda: (i, j))() for j in range(2)] for i in range(2)])
ls = [lambda: v for v in range(3)]
print([l() for l in ls])
def gen_scope():
    n = 3
    return sum(n * i for i in range(4))
print(gen_scope())
def cls_in_fn():
    class A:
        def __init__(self): self.v = 1
        def clone(self): return A()
    class B(A):
        def __init__(self):
            super().__init__()
            self.w = (lambda: super(B, self).clone().v)()
    return B()
print(cls_in_fn().w)
def walrus():
    if any((hit := v) > 2 for v in [1, 2, 3, 4]): return hit
print(walrus())
def shadow(list): return list
print(shadow(3))
try:
    def ref():
        print(later)
        later = 1
    ref()
except UnboundLocalError as e: print(e)
def free_err():
    def f(): return zz
    try: f()
    except NameError as e: print("free", str(e)[:40])
    zz = 1
free_err()
for i in range(2):
    try: raise ValueError(i)
    except ValueError as err: pass
try: err
except NameError: print("err gone")
d = {}
for d["k"], (p, *q) in [(1, (2, 3, 4)), (5, "xyz")]: print(d, p, q)
def f(n):
    if n == 0: return []
    return [n] + f(n - 1)
print(f(5))
def deep(n): return 0 if n == 0 else 1 + deep(n - 1)
print(deep(900))
memo = {}
def fibm(n):
    if n in memo: return memo[n]
    memo[n] = n if n < 2 else fibm(n-1) + fibm(n-2)
    return memo[n]
print(fibm(80))
def topo(v, visited, order):
    if v not in visited:
        visited.add(v)
        for c in {1: [2, 3], 2: [4], 3: [4], 4: []}[v]: topo(c, visited, order)
        order.append(v)
    return order
print(topo(1, set(), []))

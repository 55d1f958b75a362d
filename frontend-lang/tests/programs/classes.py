class A:
    """doc"""
    count = 0
    def __init__(self, x, y=2):
        self.x = x
        self.y = y
        A.count += 1
    def total(self): return self.x + self.y
    @property
    def double(self): return self.x * 2
    @double.setter
    def double(self, v): self.x = v / 2
    @staticmethod
    def st(a): return a + 1
    @classmethod
    def make(cls, v): return cls(v)
    def __repr__(self): return f"A({self.x!r}, {self.y!r})"
class B(A):
    def __init__(self, x):
        super().__init__(x, 10)
    def total(self): return super().total() * 100
    def __eq__(self, o): return isinstance(o, B) and self.x == o.x
    def __hash__(self): return hash(self.x)
    def __lt__(self, o): return self.x < o.x
    def __len__(self): return self.x
    def __bool__(self): return self.x != 0
    def __call__(self, *a, k=1): return a, k
    def __getitem__(self, i): return ("item", i)
    def __contains__(self, v): return v == 7
    def __add__(self, o): return B(self.x + (o.x if isinstance(o, B) else o))
    def __radd__(self, o): return B(o + self.x)
    def __iadd__(self, o):
        self.x += o
        return self
    def __neg__(self): return B(-self.x)
a = A(1); b = B(3)
print(a, b, a.total(), b.total(), A.count, B.count)
print(a.double); a.double = 10; print(a.x)
print(A.st(1), a.st(2), B.make(5), type(B.make(5)).__name__)
print(b == B(3), b != B(3), b == 3, b < B(4), B(4) > b, sorted([B(3), B(1)]))
print(len(b), bool(B(0)), b(1, 2, k=3), b[1], b[1:2], 7 in b, 8 in b)
print(b + 1, 1 + b, b + b, -b, sum([B(1), B(2)]))
b += 5; print(b)
print({B(1): "one"}[B(1)], len({B(1), B(1), B(2)}))
print(isinstance(b, A), issubclass(B, A), type(b) is B, B.__name__, B.__mro__[1].__name__, A.__doc__)
print(hasattr(a, "x"), hasattr(a, "q"), getattr(a, "q", 9))
setattr(a, "q", 4); print(a.q); del a.q; print(hasattr(a, "q"))
try:
    a.nothing
except AttributeError as e:
    print(type(e).__name__, str(e)[:40])
def add_to(cls):
    def w(f): setattr(cls, f.__name__, f); return f
    return w
@add_to(A)
def extra(self, k): return self.x * k
print(a.extra(3))
class Vec:
    def __init__(self, *v): self.v = v
    def __matmul__(self, o): return sum(p * q for p, q in zip(self.v, o.v))
    def __iter__(self): return iter(self.v)
    def __pow__(self, n): return Vec(*[p ** n for p in self.v])
    def __mul__(self, k): return Vec(*[p * k for p in self.v])
    __rmul__ = __mul__
    def __truediv__(self, k): return NotImplemented
    def __str__(self): return "Vec" + str(self.v)
    def __getattr__(self, name):
        if name == "z": return self.v[2]
        raise AttributeError(name)
print(Vec(1,2,3) @ Vec(4,5,6), list(Vec(1,2)), str(2 * Vec(1,2)), Vec(1,2)**2, Vec(1,2,9).z)
try: Vec(1) / 2
except TypeError as e: print(e)
try: Vec(1).w
except AttributeError as e: print("no", e)
class It:
    def __init__(self, n): self.n = n
    def __iter__(self): return self
    def __next__(self):
        if self.n == 0: raise StopIteration
        self.n -= 1
        return self.n
print(list(It(3)), max(It(4)), [*It(2)], sum(It(5)))
class Ctx:
    def __enter__(self): print("enter"); return 5
    def __exit__(self, t, v, tb): print("exit", t.__name__ if t else None, v); return t is ValueError
with Ctx() as c, Ctx(): print("in", c)
with Ctx(): raise ValueError("x")
print("after")
def w():
    for i in range(3):
        with Ctx():
            if i == 1: return i
            continue
print(w())
class D(dict):
    def __init__(self, *a, **k):
        super().__init__(*a, **k)
        self.extra = 1
    def __getattr__(self, k): return self[k]
d = D(a=1); d["b"] = 2
print(d, d.a, d.b, d.extra, len(d), isinstance(d, dict), list(d.items()), "a" in d)
class L(list):
    def total(self): return sum(self)
l = L([1,2,3]); l.append(4); print(l, l.total(), l[1:], len(l))
class Stack:
    items: list
    size: int = 0
    def __init__(self): self.items = []
print(Stack.size, Stack().items)
class Outer:
    class Inner:
        v = 3
    k = [i for i in range(3)]
    def m(self): return Outer.Inner.v
print(Outer().m(), Outer.k, Outer.Inner.__qualname__)
class P:
    def __setattr__(self, n, v):
        print("set", n)
        super().__setattr__(n, v)
p = P(); p.a = 1; print(p.a, p.__dict__)
class Base:
    subs = []
    def __init_subclass__(cls, tag=None, **k):
        super().__init_subclass__(**k)
        Base.subs.append((cls.__name__, tag))
class S1(Base, tag="t"): pass
class S2(Base): pass
print(Base.subs)
print(repr(A).replace("__main__.", ""), callable(A), callable(b))
m = b.total
print(m())

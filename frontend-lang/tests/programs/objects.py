class A:
    def __init__(self): self.log = ["A"]
    def who(self): return "A"
    def call(self): return self.who()
class B(A):
    def __init__(self): super().__init__(); self.log.append("B")
    def who(self): return "B" + super().who()
class C(B):
    def __init__(self): super().__init__(); self.log.append("C")
    def who(self): return "C" + super().who()
c = C(); print(c.log, c.call(), C.__mro__[2].__name__)
class Temp:
    def __init__(self): self._c = 0
    @property
    def c(self):
        "celsius"
        return self._c
    @c.setter
    def c(self, v):
        if v < -273: raise ValueError("cold")
        self._c = v
    @c.deleter
    def c(self): print("del"); self._c = None
t = Temp(); t.c = 5; print(t.c); del t.c; print(t.c)
try: t.c = -300
except ValueError as e: print(e)
class RO:
    @property
    def v(self): return 1
try: RO().v = 2
except AttributeError as e: print(e)
class Counter:
    def __init__(self, f): self.f, self.n = f, 0
    def __call__(self, *a):
        self.n += 1
        return self.f(*a)
@Counter
def sq(x): return x * x
print(sq(3), sq(4), sq.n)
class Money:
    def __init__(self, v): self.v = v
    def __format__(self, spec): return f"${self.v:{spec or '.2f'}}"
    def __index__(self): return int(self.v)
    def __int__(self): return int(self.v)
    def __float__(self): return float(self.v)
    def __abs__(self): return Money(abs(self.v))
    def __round__(self, n=0): return round(self.v, n)
    def __eq__(self, o): return self.v == o.v if isinstance(o, Money) else NotImplemented
    def __le__(self, o): return self.v <= o.v
m = Money(3.7)
print(f"{m} {m:.1f}", [10, 20, 30, 40][m], int(m), float(m), abs(Money(-2)).v, round(m, 1), m == 3, m != Money(3.7), m <= Money(4), Money(4) >= m)
try: {m: 1}
except TypeError as e: print(e)
class MyInt(int):
    def double(self): return self * 2
print(MyInt(5).double(), MyInt(3) + 1, MyInt(2) == 2, isinstance(MyInt(1), int), [1,2,3][MyInt(1)])
class Name(str):
    def shout(self): return self.upper() + "!"
print(Name("bob").shout(), Name("x") + "y", len(Name("abc")), Name("k") in {"k": 1})
class Registry(dict):
    def __missing__(self, k): self[k] = len(self); return self[k]
r = Registry(); print(r["a"], r["b"], r["a"], dict(r))
class Range3:
    def __len__(self): return 3
    def __getitem__(self, i):
        if i >= 3: raise IndexError
        return i * 10
print(list(Range3()), list(reversed(Range3())), 20 in Range3(), [*Range3()])
class Proxy:
    def __init__(self, t): self.__dict__["t"] = t if False else t
    def __getattr__(self, n): return ("missing", n)
class Slot:
    __slots__ = ("a",)
    def __init__(self): self.a = 1
print(Slot().a)
class Cmp:
    def __init__(self, v): self.v = v
    def __lt__(self, o): return self.v < o.v
    def __repr__(self): return f"Cmp({self.v})"
print(sorted([Cmp(3), Cmp(1)]), min(Cmp(2), Cmp(0)), max([Cmp(1), Cmp(5)]))
class Node:
    def __init__(self, v, nxt=None): self.v, self.nxt = v, nxt
    def __iter__(self):
        n = self
        while n: yield n.v; n = n.nxt
print(list(Node(1, Node(2, Node(3)))))
a = Node(1); a.other = a; print(a.other.other is a)
print(A.call(c), A.who(c), type(c).who is C.who, c.who == c.who)
def method(self): return self.log[-1]
A.last = method
print(c.last(), hasattr(A, "last"))
del A.last
print(hasattr(c, "last"))
class E1(Exception): pass
class E2(E1):
    def __str__(self): return "custom " + str(self.args)
try: raise E2(1, "a")
except E1 as e: print(e, repr(e))
print(str(Exception()), str(Exception(1)), str(Exception(1, 2)), repr(KeyError("k")), str(KeyError("k")))
class Opt:
    def __init__(self, **kw):
        for k, v in kw.items(): setattr(self, k, v)
o = Opt(lr=0.1, name="sgd"); print(vars(o) if True else 0, o.__dict__ == {"lr": 0.1, "name": "sgd"})
class WithClassAttr:
    n = 0
    items = []
    @classmethod
    def bump(cls): cls.n += 1; return cls.n
    @staticmethod
    def helper(*a): return len(a)
class Sub(WithClassAttr): pass
print(WithClassAttr.bump(), Sub.bump(), Sub.bump(), WithClassAttr.n, Sub.helper(1, 2), Sub().helper())
print(getattr(3, "real"), (5).bit_length(), "a".join(["1", "2"]), [].append, 1) if False else print("ok")
print(type(A) is type, type(A()).__name__, A.__name__, A.__qualname__, A.__module__)
x = type("Dyn", (), {}) if False else None
print(dir(RO())[-1], callable(RO), id(c) == id(c), hash("a") == hash("a"))
print(isinstance(E2(), (ValueError, E1)), issubclass(bool, int), isinstance(None, type(None)))

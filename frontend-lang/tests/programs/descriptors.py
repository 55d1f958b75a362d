"""Names of things, and attributes that classes answer for."""
import functools


def f():
    def g():
        pass

    class A:
        class B:
            def m(self):
                pass

        def k(self):
            return lambda: 1

    return g, A


g, A = f()
print(g.__qualname__, A, A.B, A.B.m.__qualname__, A().k().__qualname__, repr(A.B()).split(" at ")[0])
print(len.__module__, functools.wraps.__module__, int.__module__, ValueError.__module__, f.__module__, A.__module__)
A.__qualname__ = "Foo.A"
A.__module__ = "mm"
print(A, repr(A()).split(" at ")[0], A.__name__, A().__module__)


class Given:
    __module__ = "elsewhere"
    __qualname__ = "Outer.Given"


class Below(Given):
    pass


print(Given, Given().__module__, Below, Below.__module__, Below.mro(), Given in Below.mro())


@functools.wraps(f)
def wrapper():
    pass


print(repr(wrapper).split(" at ")[0])


class P:
    pass


p = P()
p.x = 1


def read(q):
    return q.x


print(read(p), read(p))
P.x = property(lambda self: "from the class")
print(p.x, read(p), getattr(p, "x"), p.__dict__)
for change in (lambda: setattr(p, "x", 2), lambda: delattr(p, "x")):
    try:
        change()
    except AttributeError as e:
        print(str(e).replace("<lambda>", "x").replace("property of", "property 'x' of"))
del P.x
print(p.x, read(p))


class Noted:
    """A data descriptor that keeps values under its own name."""

    def __set_name__(self, owner, name):
        self.name = name

    def __get__(self, obj, kind=None):
        if obj is None:
            return self
        return f"<{obj.__dict__.get(self.name, 'unset')}>"

    def __set__(self, obj, value):
        obj.__dict__[self.name] = value


class Q:
    a = Noted()
    b = Noted()

    def __init__(self, a):
        self.a = a

    def both(self):
        return self.a + self.b


q = Q(3)
print(q.a, q.b, q.both(), q.__dict__, q.both())
q.b = 4
print(q.a, q.b, q.both(), vars(q), getattr(q, "a"), [q.a for _ in range(3)])


class Once:
    """Not a data descriptor: the object's own attribute goes before it."""

    def __init__(self, func):
        self.func = func

    def __get__(self, obj, kind=None):
        obj.__dict__["value"] = "own"
        return self.func(obj)


class R:
    @Once
    def value(self):
        return "made"

    @functools.cached_property
    def total(self):
        print("computing")
        return 42

    @functools.singledispatchmethod
    def show(self, x):
        return f"any {x}"

    @show.register
    def _(self, x: int):
        return f"int {x}"

    @show.register(str)
    def _s(self, x):
        return f"str {x}"

    def power(self, x, n):
        return x**n

    square = functools.partialmethod(power, n=2)


r = R()
print(r.value, r.value, r.total, r.total, r.__dict__, r.show(1), r.show("s"), r.show(1.5), r.square(5))
try:
    print(pow(2, -1, 7), pow(3, -2, 11), (10).as_integer_ratio(), pow(2, -1, 4))
except ValueError as e:
    print(e)
print(OSError(2, "No such file"), repr(OSError("gone")), OSError("plain"), OSError(2, "gone", "a.txt"))

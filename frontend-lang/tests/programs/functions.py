def f(a, b=2, *args, c, d=4, **kw):
    return (a, b, args, c, d, kw)
print(f(1, c=3))
print(f(1, 5, 6, 7, c=8, e=9))
def tryit(fn, *a, **k):
    try:
        print(fn(*a, **k))
    except TypeError as e:
        print("TypeError:", e)
tryit(f)
tryit(f, 1)
tryit(f, 1, 2, c=1, b=3)
def g(x, y=1): return x + y
tryit(g)
tryit(g, 1, 2, 3)
tryit(g, 1, z=3)
tryit(g, 1, x=3)
def h(a, /, b, *, c=1): return a, b, c
tryit(h, 1, 2)
tryit(h, a=1, b=2)
tryit(h, 1, b=2, c=3)
tryit(h, 1, 2, 3)
print((lambda x, y=3: x * y)(4))
def outer():
    n = 0
    def inc():
        nonlocal n
        n += 1
        return n
    return inc
i = outer(); i(); print(i(), i())
fs = [lambda: k for k in range(3)]
print([q() for q in fs])
def fib(n): return n if n < 2 else fib(n-1) + fib(n-2)
print(fib(15))
def deco(tag):
    def wrap(fn):
        def inner(*a, **k):
            print("<", tag)
            r = fn(*a, **k)
            print(">", tag)
            return r
        return inner
    return wrap
@deco("x")
@deco("y")
def hello(name="you"):
    print("hello", name)
    return 5
print(hello(), hello(name="me"))
counter = 0
def bump():
    global counter
    counter += 1
bump(); bump(); print(counter)
def defaults(x, acc=[]):
    acc.append(x)
    return acc
print(defaults(1), defaults(2))
print(f.__name__, g.__doc__)
def rec(n):
    return rec(n + 1)
try:
    rec(0)
except RecursionError as e:
    print("RecursionError")
a, *b, c = range(6)
print(a, b, c)
(x, y), z = (1, 2), 3
print(x, y, z)
print(*[1, 2], *(3, 4), sep="-")
print({**{"a": 1}, "b": 2})
x = y = [1]
x.append(2)
print(y)
a, b = 1, 2
a, b = b, a
print(a, b)
a, b, c = 1, 2, 3
a, b, c = c, a, b
print(a, b, c)
def swap(l, i, j):
    l[i], l[j] = l[j], l[i]
    return l
print(swap([1,2,3], 0, 2))
if (n := len("abc")) > 2: print(n)
print([y := 5, y**2])
def ann(x: int, y: "str" = "a") -> float:
    z: int = 3
    return z
print(ann(1))

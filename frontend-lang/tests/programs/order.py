log = []
def t(v, r=None):
    log.append(v)
    return v if r is None else r
t(1) + t(2) * t(3)
f = lambda *a, **k: None
f(t("a"), *t("b", [1]), k=t("c"), **t("d", {"z": 1}))
{t("k1"): t("v1"), t("k2"): t("v2")}
t("obj", {})[t("idx")] = t("val")
x = [t(5), t(6)][t(0)]
t(1) < t(3) < t(2) < t(9)
t(0) and t(7); t(0) or t(8)
a = [0, 0]
i = 0
i, a[i] = 1, 9
print(a, i)
print(log)
def deco(n):
    print("make", n)
    def d(f): print("apply", n); return f
    return d
@deco(1)
@deco(2)
def g(a=print("default")): pass
class Meta:
    print("body")
    def m(self): pass
a = b = c = []
a.append(1); print(b, c is a)
x = 1
x += (x := 5)
print(x)
l = [1, 2, 3]
l[0], l[1:] = 9, [8]
print(l)
def gen():
    print("start"); yield 1; print("end")
for v in gen(): print(v)
try:
    for i in (1, 2): raise ValueError(i)
except ValueError as e: print("E", e)
else: print("else")
finally: print("finally")
def nested():
    try:
        try: return "inner"
        finally: print("f1")
    finally: print("f2")
print(nested())
def loop():
    while True:
        try:
            try: break
            finally: print("brk")
        finally: print("outer")
    return "left"
print(loop())
def ret_in_with():
    class C:
        def __enter__(self): return self
        def __exit__(self, *a): print("bye", a[0]); return False
    for i in range(2):
        with C() as c:
            for j in range(2):
                if j: return (i, j)
print(ret_in_with())
def swallow():
    class C:
        def __enter__(self): return self
        def __exit__(self, t, v, tb): return True
    r = []
    for i in range(3):
        with C():
            r.append(f"{i}{1 // (i - 1)}" + str(len([x for x in range(i)])))
    return r
print(swallow())
def exc_in_finally():
    try:
        try: 1/0
        finally: raise KeyError("k")
    except KeyError as e: return repr(e.__context__)
print(exc_in_finally())
def deep_handler():
    for i in range(3):
        try: raise ValueError(i)
        except ValueError as e:
            if i == 1: continue
            try: raise TypeError("t")
            except TypeError: pass
            print("h", e)
deep_handler()
def g2():
    try:
        x = yield 1
        print("x", x)
    except GeneratorExit: print("closed"); raise
    finally: print("fin")
q = g2(); next(q); q.close()

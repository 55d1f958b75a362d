for i in range(5):
    if i == 1: continue
    if i == 3: break
    print(i)
else: print("no")
for i in []: pass
else: print("else")
n = 5
while n:
    n -= 1
    if n == 2: continue
else: print("done", n)
def f(x):
    try:
        if x == 0: return "ret"
        if x == 1: raise ValueError("v")
        if x == 2: {}["k"]
        if x == 3: [][5]
        if x == 4: 1/0
        return "ok"
    except ValueError as e: return f"VE {e}"
    except (KeyError, IndexError) as e: return f"{type(e).__name__} {e}"
    else: return "else"
    finally: print("fin", x)
for i in range(4): print(f(i))
try: f(4)
except ZeroDivisionError as e: print("ZDE", e)
def g():
    for i in range(3):
        try:
            if i == 1: continue
            if i == 2: break
            print("body", i)
        finally: print("f", i)
    return i
print(g())
def h():
    try: return 1
    finally: return 2
print(h())
try:
    try: raise KeyError("a")
    except KeyError as e: raise ValueError("b") from e
except ValueError as e: print(repr(e), repr(e.__cause__))
try:
    try: 1/0
    except ZeroDivisionError: raise TypeError("t")
except TypeError as e: print(repr(e.__context__))
try:
    try: raise ValueError(1)
    except ValueError: raise
except ValueError as e: print("re", e.args)
class MyErr(Exception):
    def __init__(self, code, msg="m"):
        super().__init__(msg)
        self.code = code
try: raise MyErr(7)
except MyErr as e: print(e, e.code, e.args, isinstance(e, Exception))
try: raise NotImplementedError
except RuntimeError as e: print(type(e).__name__, e.args)
try: assert 1 == 1; assert False, "msg"
except AssertionError as e: print("AE", e)
try: undefined_name
except NameError as e: print("NE", str(e)[:35])
def loc():
    try: print(q)
    except UnboundLocalError as e: print("ULE")
    q = 1
loc()
try: int("x")
except ValueError as e: print(e)
try: "a" + 1
except TypeError as e: print(e)
try: 1 + "a"
except TypeError as e: print(e)
try: [1] + (2,)
except TypeError as e: print(e)
try: None.x
except AttributeError as e: print(e)
try: (1)(2)
except TypeError as e: print(e)
try: len(5)
except TypeError as e: print(e)
try: a, b = 1, 2, 3
except ValueError as e: print(e)
try: a, b = [1]
except ValueError as e: print(e)
try: 5[0]
except TypeError as e: print(e)
try: {[]: 1}
except TypeError as e: print(e)
try: [1,2,3]["a"]
except TypeError as e: print(e)
try: raise 5
except TypeError as e: print(e)
try: x = [1, 2]; x[5] = 1
except IndexError as e: print(e)
try: "abc"[10]
except IndexError as e: print(e)
try: None < 1
except TypeError as e: print(e)
try: del undefined_thing
except NameError as e: print(e)
print(1 < 2 < 3, 1 < 3 < 2, 3 > 2 > 1 == 1, 1 in [1] == True)
print(1 and 0, 1 and 2, 0 or 3, None or False, not 1, not [])
print("yes" if [] else "no")
x = 5
x += 2; x *= 3; x -= 1; x //= 2; x **= 2; x %= 7
print(x)
print(7 // 2, -7 // 2, 7 % -3, -7 % 3, 7.5 // 2, -7.5 % 2, 2 ** 10, 2 ** -1, 7 / 2, divmod(-7, 2))
print(1 << 5, 0xff >> 2, 5 & 3, 5 | 3, 5 ^ 3, ~5, True + True, 3 == 3.0, 1 == True)
print(0.1 + 0.2, 1e100, 1e-7, 3.0, float("inf"), -float("inf"), float("nan"), 1e16, 123456789012345680.0)
print(round(2.5), round(3.5), round(2.675, 2), round(1234, -2), abs(-3), min(3, 1, 2), max([1, 5, 2], key=lambda v: -v))
def match_it(v):
    match v:
        case 0: return "zero"
        case 1 | 2: return "small"
        case int(n) if n > 100: return f"big {n}"
        case str() as s: return "str " + s
        case [a]: return f"one {a}"
        case [a, *rest, b]: return f"{a} {rest} {b}"
        case {"k": v2, **others}: return f"map {v2} {others}"
        case None: return "none"
        case (): return "empty"
        case _: return "other"
for v in [0, 2, 500, "hi", [1], [1, 2, 3, 4], {"k": 1, "z": 2}, None, (), 3.5, 50]: print(match_it(v))
class Pt:
    __match_args__ = ("x", "y")
    def __init__(self, x, y): self.x, self.y = x, y
def where(p):
    match p:
        case Pt(0, 0): return "origin"
        case Pt(x=0, y=yy): return f"y={yy}"
        case Pt(xx, yy) if xx == yy: return "diag"
        case Pt(): return "pt"
print(where(Pt(0,0)), where(Pt(0,5)), where(Pt(2,2)), where(Pt(1,2)))

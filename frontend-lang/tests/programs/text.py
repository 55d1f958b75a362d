x = 3.14159; n = 42; s = "hi"
print(f"{x:.2f} {n:5d}|{n:<5}|{n:^5}|{n:>5}|{s:*^10} {n:#x} {n:08b} {1e6:,.1f} {0.25:.0%} {x:e}")
print(f"{s!r} {s!s} {n=} {x=:.1f} {s = } {{}} {'a' + 'b'} {[1,2][0]} {n:{5}} {x:{6}.{2}f}")
w = 8
print(f"{'q':>{w}}" f"{n}" "plain {n}")
print("{} {} {0}".format(1, 2) if False else "{0} {1} {0} {k}".format(1, 2, k=3), "%s %d %.2f" % ("a", 3, 2.5))
print(repr("it's"), repr('q"'), repr("a\nb\t\\"), "é", repr("é"), len("é"))
print([1, "a", None, True, 1.5, (1,), (), {}, set(), {"a": [1]}], (1, 2))
a = []; a.append(a); print(a)
print(str(1.0), str(None), repr([1.0, -0.0]), str(True), 10**15, -5)
print("a", "b", sep="", end="!\n")
print("abc" * 2, [0] * 3, "b" in "abc", "x" not in "abc", "a" < "b", [1,2] < [1,3], (1,) == (1,))
print(int("42"), int(3.9), int(-3.9), float("1.5"), bool(""), bool("0"), int("ff", 16), str(5), list("abc"), tuple([1]), dict(a=1), dict([(1, 2)]), set([1, 1]))
print(type(1), type("a"), type(None), type([]), type(int))
print(1_000_000, 0x1F, 0b11, 1e3, 'a' 'b', r"\n", """multi
line""")
print(range(5), range(1, 5), range(0, 10, 2), slice(1, 2), ..., NotImplemented)
print(chr(65), ord("a"), hex(255), bin(5), oct(8), pow(2, 5), pow(2, 5, 7))
print(isinstance(1, (int, str)), isinstance(True, int), isinstance("a", int | str) if True else 0)

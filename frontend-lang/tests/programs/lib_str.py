def show(f, *args):
    try:
        print(repr(f(*args)))
    except Exception as e:
        print(type(e).__name__, e)

s = "  Hello, World  "
print(repr(s.strip()), repr(s.lstrip()), repr(s.rstrip()), repr("xxaxx".strip("x")), repr("abcba".strip("ab")))
print("a,b,,c".split(","), "a,b,,c".split(",", 1), "a,b,,c".rsplit(",", 1), " a  b c ".split(), " a  b c ".split(None, 1))
print("a\nb\r\nc".splitlines(), "a\nb\n".splitlines(True), "".split(), "".split(","))
print("hello".find("l"), "hello".rfind("l"), "hello".find("z"), "hello".find("l", 3), "hello".find("l", -2), "hello".find("", 5), "hello".find("", 6))
show("hello".index, "z")
show("hello".rindex, "lo")
print("banana".count("a"), "banana".count("an"), "banana".count(""), "banana".count("a", 2), "aaa".count("aa"))
print("banana".replace("a", "o"), "banana".replace("a", "o", 2), "abc".replace("", "-"), "abc".replace("", "-", 2))
print("hello".startswith("he"), "hello".startswith(("x", "h")), "hello".endswith("lo", 2), "hello".startswith("l", 2), "".startswith(""))
show("a".startswith, 1)
show("a".startswith, (1,))
show("a".split, "")
show("a".split, 1)
print("-".join(["a", "b", "c"]), "".join("abc"), ", ".join({"x": 1, "y": 2}), "-".join([]))
show("-".join, [1, 2])
show("-".join, 5)
print("hello world".title(), "they're".title(), "hELLO".capitalize(), "Hello".swapcase(), "ß".upper(), "ÀÉ".lower(), "ΑΣ".lower())
print("Straße".casefold(), "abc".upper(), "ABC".lower())
print(repr("ab".center(7)), repr("ab".center(5, "*")), repr("ab".ljust(5, ".")), repr("ab".rjust(5, ".")), repr("a".center(0)))
show("a".center, 5, "ab")
print("42".zfill(5), "-42".zfill(5), "+4".zfill(4), "abc".zfill(2))
print("abc".isalpha(), "ab1".isalnum(), "12".isdigit(), "1.2".isdigit(), "".isalpha(), " \t".isspace(), "Ab".isupper(), "AB1".isupper(), "ab".islower(), "Ab Cd".istitle())
print("abc".isidentifier(), "1a".isidentifier(), "_x".isidentifier(), "²".isdigit(), "²".isdecimal(), "½".isnumeric(), "a b".isprintable(), "\n".isprintable(), "é".isascii())
print("a\tb\tcd".expandtabs(4), repr("\t".expandtabs()), repr("a\tb".expandtabs(0)))
print("prefix-body".removeprefix("prefix-"), "body.py".removesuffix(".py"), "x".removeprefix("y"))
print("k=v=w".partition("="), "k=v=w".rpartition("="), "kv".partition("="), "kv".rpartition("="))
t = str.maketrans("abc", "xyz", "d")
print(t, "aabbccdd".translate(t), "abc".translate({97: None, 98: "BB", 99: 67}))
print(str.maketrans({"a": 1, "b": None}))
show(str.maketrans, "ab", "c")
u = "naïve café 😀 日本"
print(len(u), u[3], u[-2:], u[::-1], u.find("é"), u.find("日"), u.upper(), u.split(), u.center(20, "·"))
print(u.index("😀"), u.count("é"), u.replace("é", "e"), u.partition("😀"))
for x in ["a'b", 'a"b', "a'b\"c", "\x00\x1f\x7f\x80\xa0", "\\\t\r\n", "\u200b\u2028", "é😀"]:
    print(repr(x), ascii(x))
print("%5.2f|%-8s|%+d|% d|%05d|%#x|%#o|%e|%g|%%|%c" % (1.234, "ab", 3, 4, -5, 255, 8, 12345.678, 1e-10, 65))
print("%s %r" % ("a", "a"), "%(x)d %(y)s" % {"x": 1, "y": [2]}, "%s" % (1,), "%s" % [1, 2], "%*d|%-*d|%.*f" % (5, 3, 5, 3, 2, 3.14159))
def pct(f, a):
    try:
        print(repr(f % a))
    except Exception as e:
        print(type(e).__name__, e)
for f, a in [("%d", "x"), ("%d", 1.7), ("%x", 1.5), ("%f", "x"), ("%y", 1), ("%", 1), ("%d %d", 1), ("%d", (1, 2)), ("a", 1), ("a", {}), ("%(a)s", 1), ("%(a)s", {"b": 1}), ("%c", "ab"), ("%.3s", "abcdef"), ("%d", None), ("%d", True), ("%i%%", 5), ("%5s|%-5s|", ("a", "b"))]:
    pct(f, a)
def fmt(s, *a, **k):
    try:
        print(repr(s.format(*a, **k)))
    except Exception as e:
        print(type(e).__name__, e)
fmt("{} {}", 1, 2); fmt("{1} {0}", 1, 2); fmt("{a} {b}", a=1, b=2); fmt("{0[1]} {0[0]}", [1, 2]); fmt("{d[k]}", d={"k": 5})
fmt("{:>{w}}|{:^{w}}", 1, 2, w=5); fmt("{!r:>5}", "a"); fmt("{{}}"); fmt("{0.real}", 3); fmt("{:,.2f}", 1234567.891); fmt("{:08.3f}", -3.14159)
fmt("{"); fmt("}"); fmt("{}"); fmt("{0"); fmt("{x}"); fmt("{} {0}", 1); fmt("{0} {}", 1); fmt("{!x}", 1); fmt("{:d}", "a"); fmt("{:{:{}}}", 1, 5, 3); fmt("{0.zzz}", 1.5); fmt("{:%}", 0.25); fmt("{:_}", 1234567); fmt("{:#b} {:#o} {:#X}", 5, 8, 255); fmt("{:e}", 12345.678); fmt("{:g} {:g}", 1e-5, 123456789.0)
print("{:10}|{:<10}|{:>10}|{:^10}|{:*^10}".format("ab", "ab", "ab", "ab", "ab"), "{:5}|{:<5}|{:05}".format(42, 42, -42), "{:+} {: } {:-}".format(1, 1, 1))
print(f"{3.14159:.2f} {42:5d}| {'x':>3} {1e10} {1e16} {1e-5} {0.1+0.2} {-0.0} {float('inf')} {True:5} {None}")
print("{:s}".format("a"), format(3, "b"), format(255, "x"), format(1.5, ".3"), format("x", "5") + "|")
try:
    format(None, "5")
except TypeError as e:
    print(e)
try:
    format([], "5")
except TypeError as e:
    print(e)
print("abc" "def", "ab" * 3, "a" + "b", "b" in "abc", "abc" < "abd", "a" < "B", max("hello"), sorted("hello"))
print("x".join(map(str, range(5))), list("abc"), tuple("ab"), set("a"), "abc"[1], "abc"[-1], "abcdef"[1:4], "abcdef"[::2], "abcdef"[::-1])
class S(str):
    def shout(self):
        return self.upper() + "!"
v = S("hi")
print(v, v.shout(), len(v), v + "x", v == "hi", isinstance(v, str), v.replace("h", "b"), f"{v:>5}")
print("mixed {} and {name!s:>4} {0!r}".replace("{}", "x").format("q", name="n"))
print("{:{fill}{align}{width}}".format("mid", fill="*", align="^", width=9))
print("tab\there", 'quote\'s', "a\\b", r"a\b", "\x41\u00e9")

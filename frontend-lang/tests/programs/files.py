# Files and folders, in an empty folder.
import csv
import glob
import io
import json
import os
from pathlib import Path, PurePath
with open("a.txt", "w") as f:
    print(f.write("one\ntwo\n"), f.name, f.closed, f.tell())
    print("three", 3, file=f)
print(f.closed, open("a.txt").read())
for line in open("a.txt"):
    print(repr(line))
with open("a.txt") as f:
    print(f.readline(), f.read(2), f.readlines(), f.read(), f.tell(), f.seek(0), f.readline())
with open("a.txt", "a") as f:
    f.write("é four\r\n")
print(open("a.txt").readlines(), open("a.txt", newline="").read()[-8:], os.path.getsize("a.txt"))
with open("a.txt", "r+") as f:
    f.write("ONE"); f.seek(0, 2); f.write("end"); f.seek(0); print(f.read())
def e(f):
    try: print(f())
    except OSError as x: print(type(x).__name__)
    except Exception as x: print(type(x).__name__, x)
e(lambda: open("none.txt"))
e(lambda: open("a.txt", "x"))
e(lambda: open("a.txt", "q"))
e(lambda: open("a.txt").write("x"))
e(lambda: open("b.txt", "w").read())
e(lambda: f.read())
e(lambda: open("b.txt", "w").write(3))
open("b.txt", "w").write("unclosed")
e(lambda: open("b.txt").read())
json.dump({"a": [1, 2]}, open("c.json", "w"))
print(json.load(open("c.json")))
p = Path("data") / "sub" / "x.tar.gz"
print(p, p.name, p.stem, p.suffix, p.suffixes, p.parent, list(p.parents), p.parts, repr(p))
print(p.with_suffix(".zip"), p.with_name("y"), p.exists(), Path("/a/b").is_absolute(), Path("a") == Path("./a/"), p.relative_to("data"))
e(lambda: p.relative_to("dat"))
p.parent.mkdir(parents=True, exist_ok=True)
(p.parent / "t.txt").write_text("hello")
(p.parent / "u.csv").write_text("a,b\n1,2\n")
print(sorted(Path("data").glob("**/*.txt")), sorted(Path("data").rglob("*")), [q.name for q in sorted(p.parent.iterdir())])
print((p.parent / "t.txt").read_text(), (p.parent / "t.txt").stat().st_size, Path("data").is_dir())
for d, ds, fs in os.walk("data"): print(d, ds, sorted(fs))
with open("t.csv", "w", newline="") as f:
    w = csv.writer(f); w.writerow(["name", "x y", 'q"uo', "a,b"]); w.writerows([[1, 2.5, None, True], ["new\nline", "", " s", "t"]])
print(repr(open("t.csv", newline="").read()))
with open("t.csv", newline="") as f:
    for row in csv.reader(f): print(row)
with open("t.csv", newline="") as f:
    for row in csv.DictReader(f): print(row)
s = io.StringIO(); w = csv.DictWriter(s, fieldnames=["a", "b"]); w.writeheader(); w.writerow({"a": 1, "b": "x"}); print(repr(s.getvalue()))
e(lambda: w.writerow({"c": 1}))
print(list(csv.reader(["a;b;'c;d'"], delimiter=";", quotechar="'")))
os.remove("b.txt"); print(os.path.exists("b.txt")); e(lambda: os.remove("b.txt"))
os.rename("c.json", "d.json"); print(sorted(x for x in os.listdir(".") if x.endswith("json")))
os.remove("d.json"); os.remove("t.csv"); os.remove("a.txt")
e(lambda: Path("data").rmdir())
for q in sorted(Path("data").rglob("*"), reverse=True): q.rmdir() if q.is_dir() else q.unlink()
Path("data").rmdir(); print(Path("data").exists(), os.path.abspath("x") == os.getcwd() + "/x", os.path.join(Path("a"), "b"))
print(f"{p}", "%s" % p, p.joinpath("a", "b"), Path(), Path.cwd() == Path(os.getcwd()), p < Path("e"), hash(p) == hash(Path(str(p))), Path("a", "b", "/c"), Path("x/..").resolve() == Path.cwd())

# Patterns.
Path("tree/a/b").mkdir(parents=True)
for name in ["tree/x.py", "tree/a/y.py", "tree/a/z.txt", "tree/a/b/w.py", "tree/[1].py"]:
    Path(name).touch()
for pattern in ["tree/*.py", "tree/*", "tree/**/*.py", "tree/?/[yz].*", "tree/[!x]*", "tree/[[]1].py", "none/*"]:
    print(pattern, sorted(glob.glob(pattern)), sorted(glob.glob(pattern, recursive=True)))
    print(sorted(str(it) for it in Path(".").glob(pattern)))
print(sorted(map(str, Path("tree").glob("**"))), Path("tree/a/y.py").match("a/*.py"), Path("a.py").match("*.txt"))
print([(top, sorted(folders), sorted(files)) for top, folders, files in os.walk("tree", topdown=False)])
e(lambda: Path("tree").mkdir())
e(lambda: list(Path("tree").glob("")))
for found in sorted(Path("tree").rglob("*"), reverse=True):
    found.rmdir() if found.is_dir() else found.unlink()
Path("tree").rmdir()
e(lambda: Path("tree").iterdir().__next__())
Path("tree").unlink(missing_ok=True)
# Names.
for text in ["a.b.c", ".hidden", "a.", "/", "..", "a/..", "a//b/./c/", ""]:
    p = PurePath(text)
    print(repr(p), repr(p.name), repr(p.stem), repr(p.suffix), p.suffixes, repr(str(p.parent)), p.parts, p.is_absolute())
e(lambda: Path("a").with_suffix("b"))
e(lambda: Path("/").with_name("b"))
print(Path("a/b.c").with_stem("d"), Path("a/b").with_suffix(".x"), "x" / Path("y"), Path("a/b/c").is_relative_to("a/b"))
# Places in a file.
with open("p.txt", "w+") as f:
    f.write("abcdef\nghi")
    print(f.tell(), f.seek(2), f.read(3), f.tell(), f.readline(), f.tell(), f.readline(), f.readline() == "")
    f.seek(0)
    print(f.truncate(4), f.read(), f.readable(), f.writable())
print(open("p.txt").read())
with open("p.txt", "a+") as f:
    print(f.tell(), f.read() == "")
    f.writelines(["1\n", "2\n"])
    f.seek(0)
    print(next(f), list(f))
with open("p.txt", newline="") as f:
    print(f.readlines(3), f.read())
os.remove("p.txt")
s = io.StringIO("one\ntwo\n\nthree")
print(s.readline(3), s.readline(), s.readlines(), s.seek(0), [line for line in s], s.write("!"), s.getvalue()[-6:])
print(s.seek(1), s.write("NE"), s.getvalue()[:4], s.truncate(2), s.getvalue())
# Ends of lines.
for newline in [None, "", "\n", "\r", "\r\n"]:
    with open("n.txt", "w", newline=newline) as f:
        print(f.write("a\nb\r\nc\rd"), end=" ")
    with open("n.txt", newline="") as f:
        print(repr(f.read()))
    with open("n.txt", newline=newline) as f:
        print([line for line in f])
e(lambda: open("n.txt", newline="x"))
# Places in text that is not ASCII, and reading after writing.
with open("n.txt", "w+", encoding="utf-8") as f:
    f.write("äöü\nß€\nz")
    print(f.tell(), f.seek(0), f.read(2), f.tell(), f.readline(), f.tell(), list(f), f.read(1) == "")
    print(f.seek(7), f.write("é"), f.seek(0), f.readlines())
s = io.StringIO("äöü\nß")
print(s.read(1), s.tell(), s.seek(3), s.readline(), s.readline(), s.tell(), s.seek(1), s.write("XY"), s.getvalue())
print(s.seek(7), s.write("end"), s.getvalue(), s.truncate(2), s.getvalue())
e(lambda: s.seek(0, 9))
# What is added by others, and with a mark of the order of bytes.
with open("n.txt", "a") as f, open("n.txt", "a") as g:
    f.write("1")
    f.flush()
    g.write("2")
with open("n.txt", "w", encoding="utf-8-sig") as f:
    f.write("é")
print(repr(open("n.txt").read()), repr(open("n.txt", encoding="utf-8-sig").read()), os.path.getsize("n.txt"))
with open("n.txt", "w") as f:
    f.write("0123456789")
    f.seek(3)
    f.write("abc")
    f.seek(0, 2)
    f.write("end")
print(open("n.txt").read())
os.remove("n.txt")
try:
    open("nowhere/at/all.txt", "w")
except FileNotFoundError as error:
    print(error.errno, error.filename)
Path("d/a").mkdir(parents=True)
for name in ["d/x.txt", "d/.hidden", "d/a/y.txt"]:
    Path(name).touch()
for pattern in ["d/*/", "./d/*.txt", "", "d/*", "d/.*", glob.escape("d/[x].txt"), "d/**/"]:
    print(sorted(glob.glob(pattern)), sorted(glob.glob(pattern, recursive=True)))
for found in sorted(Path("d").rglob("*"), reverse=True):
    found.rmdir() if found.is_dir() else found.unlink()
Path("d").rmdir()
e(lambda: csv.writer(io.StringIO()).writerow(5))
e(lambda: csv.reader(["a"], delimiter=""))
print(list(csv.reader(["é,b,c\r\n", "1,,3", "", "x"])))

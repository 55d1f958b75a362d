"""Programs made at random from a seed, with what CPython prints for each.

    python3 tests/differential/generate.py --seed 1 --count 1000 > programs.json

Writes a list of {"code": ..., "output": ...}; the output of a program that ends with an error has its class and message as
a last line. Programs keep to what both sides define: whole numbers within 64 bits, no order of sets, no addresses. CPython
3.11 or later; `tests/tests/differential.rs` runs the same programs and compares.
"""

import argparse
import contextlib
import io
import json
import random
import re
import sys
import warnings

NAMES = ["a", "b", "c", "d", "e", "n", "x", "y"]
WORDS = ["", "a", "Zed", "hello", "Hello World", "x,y,,z", "  pad ", "banana", "42", "-7", "3.5", "ünï", "tab\there", "line\nbreak", "it's"]
KINDS = ["int", "float", "str", "bool", "ints", "strs", "dict", "tuple", "none"]


class Maker:
    """One program. Expressions have a kind, but now and then one of another kind slips in, so that errors are met."""

    def __init__(self, seed):
        self.r = random.Random(seed)
        self.lines = []
        self.vars = {}
        self.count = 0

    def pick(self, *choices):
        return self.r.choice(choices)

    def fresh(self, prefix):
        self.count += 1
        return f"{prefix}{self.count}"

    def add(self, text, depth=0):
        self.lines.extend("    " * depth + line for line in text.split("\n"))

    # Expressions.

    def expr(self, kind, depth=3):
        if self.r.random() < 0.03:
            kind = self.r.choice(KINDS)
        known = [name for name, k in self.vars.items() if k == kind]
        if known and self.r.random() < 0.35:
            return self.r.choice(known)
        if depth <= 0:
            return self.literal(kind)
        return getattr(self, "make_" + kind)(depth - 1)

    def literal(self, kind):
        r = self.r
        if kind == "int":
            return str(r.choice([0, 1, 2, 3, 5, 7, 10, -1, -3, 12, 100, r.randint(-50, 50)]))
        if kind == "float":
            return str(r.choice([0.0, 0.5, 1.5, -2.25, 3.0, 1e3, 0.1, r.randint(-99, 99) / 8]))
        if kind == "str":
            return repr(r.choice(WORDS))
        if kind == "bool":
            return r.choice(["True", "False"])
        if kind == "none":
            return "None"
        if kind == "ints":
            return repr([r.randint(-9, 9) for _ in range(r.randint(0, 6))])
        if kind == "strs":
            return repr([r.choice(WORDS) for _ in range(r.randint(0, 4))])
        if kind == "tuple":
            return repr(tuple(r.choice([1, "t", 2.5, None, True, (1, 2)]) for _ in range(r.randint(0, 4))))
        return repr({r.choice(["k", "key", "z", 1, 2, (1, 2)]): r.randint(0, 20) for _ in range(r.randint(0, 4))})

    def make_none(self, d):
        return "None"

    def make_int(self, d):
        e, r = self.expr, self.r
        form = r.randrange(16)
        if form < 4:
            return f"({e('int', d)} {self.pick('+', '-', '+', '-')} {e('int', d)})"
        if form == 4:
            return f"({e('int', d)} * {e('int', 0)} % 9973)"
        if form == 5:
            return f"({e('int', d)} {self.pick('//', '%')} {e('int', d)})"
        if form == 6:
            return f"({e('int', d)} {self.pick('&', '|', '^')} {e('int', d)})"
        if form == 7:
            return f"len({e(self.pick('str', 'ints', 'strs', 'dict', 'tuple'), d)})"
        if form == 8:
            return f"{e('ints', d)}[{e('int', 0)}]"
        if form == 9:
            return f"{self.pick('sum', 'max', 'min', 'len')}({e('ints', d)})"
        if form == 10:
            return f"{self.pick('abs', 'int', '-', '~')}({e('int', d)})"
        if form == 11:
            return f"int({e(self.pick('str', 'float', 'bool'), d)})"
        if form == 12:
            return f"{e('str', d)}.{self.pick('find', 'count', 'index', 'rfind')}({e('str', 0)})"
        if form == 13:
            return f"({e('int', d)} if {e('bool', d)} else {e('int', d)})"
        if form == 14:
            return f"{e('dict', d)}.get({e('str', 0)}, {e('int', 0)})"
        return f"{e('ints', d)}.{self.pick('index', 'count')}({e('int', 0)})"

    def make_float(self, d):
        e, r = self.expr, self.r
        form = r.randrange(8)
        if form < 3:
            return f"({e('float', d)} {self.pick('+', '-', '*')} {e(self.pick('float', 'int'), d)})"
        if form == 3:
            return f"({e('int', d)} / {e(self.pick('int', 'float'), d)})"
        if form == 4:
            return f"round({e('float', d)}, {self.r.randint(0, 3)})"
        if form == 5:
            return f"float({e(self.pick('int', 'str', 'bool'), d)})"
        if form == 6:
            return f"({e('float', d)} {self.pick('//', '%')} {e('float', d)})"
        return f"{self.pick('abs', 'max', 'min')}({e('float', d)}, {e('float', d)})".replace("abs(", "sum((").replace("))", ")))") if r.random() < 0 else f"abs({e('float', d)})"

    def make_bool(self, d):
        e = self.expr
        form = self.r.randrange(9)
        if form < 2:
            k = self.pick("int", "float", "str", "ints")
            return f"({e(k, d)} {self.pick('<', '<=', '>', '>=', '==', '!=')} {e(k, d)})"
        if form == 2:
            return f"(not {e(self.r.choice(KINDS), d)})"
        if form == 3:
            return f"({e('bool', d)} {self.pick('and', 'or')} {e('bool', d)})"
        if form == 4:
            return f"({e('int', 0)} {self.pick('in', 'not in')} {e('ints', d)})"
        if form == 5:
            return f"({e('str', 0)} in {e(self.pick('str', 'strs', 'dict'), d)})"
        if form == 6:
            return f"{e('str', d)}.{self.pick('isdigit', 'isalpha', 'isupper', 'islower', 'isspace', 'istitle', 'isalnum')}()"
        if form == 7:
            return f"isinstance({e(self.r.choice(KINDS), d)}, {self.pick('int', 'str', '(int, float)', 'list', 'dict', 'tuple', 'bool')})"
        return f"({e('int', 0)} {self.pick('<', '<=')} {e('int', d)} {self.pick('<', '!=', '>')} {e('int', d)})"

    def spec(self, kind):
        r = self.r
        align = r.choice(["", "<", ">", "^", "*^", "0>", "="])
        sign = r.choice(["", "", "+", " "])
        width = r.choice(["", "3", "8", "12"])
        zero = r.choice(["", "", "0"]) if not align else ""
        comma = r.choice(["", "", ",", "_"])
        if kind == "int":
            return align + sign + r.choice(["", "#"]) + zero + width + r.choice(["d", "x", "b", "o", "", ",", "X", "_", "e", ".2f", "%", "c", "s"])
        if kind == "float":
            return align + sign + zero + width + comma + r.choice(["", ".0", ".1", ".2", ".3", ".10"]) + r.choice(["f", "e", "g", "", "%", "E", "G", "n", "d"])
        return align + width + r.choice(["", ".1", ".3"]) + r.choice(["", "s", "d"])

    def make_str(self, d):
        e, r = self.expr, self.r
        form = r.randrange(18)
        if form < 3:
            return f"({e('str', d)} + {e('str', d)})"
        if form == 3:
            return f"({e('str', d)} * {self.r.randint(-1, 3)})"
        if form == 4:
            return f"str({e(r.choice(KINDS), d)})"
        if form == 5:
            return f"repr({e(r.choice(KINDS), d)})"
        if form == 6:
            return f"{e('str', d)}.{self.pick('upper', 'lower', 'title', 'strip', 'swapcase', 'capitalize', 'lstrip', 'rstrip', 'casefold')}()"
        if form == 7:
            return f"{e('str', d)}.replace({e('str', 0)}, {e('str', 0)})"
        if form == 8:
            return f"{e('str', d)}{self.slice(d)}"
        if form == 9:
            return f"{e('str', d)}[{e('int', 0)}]"
        if form == 10:
            return f"{e('str', 0)}.join({e('strs', d)})"
        if form == 11:
            return f"{e('str', d)}.{self.pick('center', 'ljust', 'rjust')}({r.randint(0, 12)}{r.choice(['', ', ' + repr('*')])})"
        if form == 12:
            return f"{e('str', d)}.zfill({r.randint(0, 8)})"
        if form in (13, 14):
            kind = self.pick("int", "float", "str", "bool")
            return f"format({e(kind, d)}, {self.spec(kind)!r})"
        if form == 15:
            kind = self.pick("int", "float", "str")
            name = self.simple(kind)
            return f"f'<{{{name}{r.choice(['', '!r', '!s'])}}}|{{{name}:{self.spec(kind)}}}>'"
        if form == 16:
            return f"({r.choice(['%d', '%5d', '%s', '%r', '%.2f', '%-6s|', '%05.1f', '%x', '%e', '%g', '%%%s', '%+d'])!r} % ({e(self.pick('int', 'float', 'str'), d)},))"
        return f"{r.choice(['{}', '{:>6}', '{!r}', '{0}{0}', '{:^7}|', '{:.3}'])!r}.format({e(self.pick('int', 'float', 'str'), d)})"

    def simple(self, kind):
        known = [name for name, k in self.vars.items() if k == kind]
        return self.r.choice(known) if known else {"int": "(7)", "float": "(2.5)", "str": "str(1)"}[kind]

    def slice(self, d):
        def part():
            return self.pick("", str(self.r.randint(-7, 7)))

        return f"[{part()}:{part()}{self.pick('', ':', ':2', ':-1', ':-2', ':3')}]"

    def make_ints(self, d):
        e, r = self.expr, self.r
        form = r.randrange(14)
        if form == 0:
            return f"({e('ints', d)} + {e('ints', d)})"
        if form == 1:
            return f"({e('ints', d)} * {r.randint(-1, 3)})"
        if form == 2:
            return f"sorted({e('ints', d)}{self.pick('', ', reverse=True', ', key=abs', ', key=lambda v: (v % 3, v)')})"
        if form == 3:
            return f"{e('ints', d)}{self.slice(d)}"
        if form == 4:
            return f"list(range({e('int', 0)}, {r.randint(-5, 9)}, {self.pick(1, 2, 3, -1, -2)}))"
        if form == 5:
            v = self.fresh("v")
            return f"[{v} * {r.randint(-2, 3)} + {r.randint(0, 3)} for {v} in {e('ints', d)} if {v} {self.pick('> 0', '% 2 == 0', '!= 1', '% 3')}]"
        if form == 6:
            return f"list(map(lambda q: q {self.pick('+ 1', '* 2', '% 4')}, {e('ints', d)}))"
        if form == 7:
            return f"[len(w) for w in {e('strs', d)}]"
        if form == 8:
            return f"list({self.pick('reversed', 'set', 'tuple', 'list')}({e('ints', d)}))".replace("list(set(", "sorted(set(")
        if form == 9:
            return f"[p + q for p, q in zip({e('ints', d)}, {e('ints', d)})]"
        if form == 10:
            return f"[i * v for i, v in enumerate({e('ints', d)}, {r.randint(0, 2)})]"
        if form == 11:
            return f"[*{e('ints', d)}, {e('int', d)}, *{e('ints', 0)}]"
        if form == 12:
            return f"sorted({e('dict', d)}.values())"
        return f"list(filter({self.pick('None', 'lambda q: q > 0', 'lambda q: q % 2')}, {e('ints', d)}))"

    def make_strs(self, d):
        e, r = self.expr, self.r
        form = r.randrange(8)
        if form == 0:
            return f"{e('str', d)}.split({self.pick('', repr(','), repr('a'), 'None, 1', repr('l') + ', 1')})"
        if form == 1:
            return f"list({e('str', d)})"
        if form == 2:
            return f"sorted({e('strs', d)}{self.pick('', ', key=len', ', reverse=True', ', key=str.lower')})"
        if form == 3:
            return f"[w.{self.pick('upper', 'strip', 'title')}() for w in {e('strs', d)} if w]"
        if form == 4:
            return f"[str(v) for v in {e('ints', d)}]"
        if form == 5:
            return f"({e('strs', d)} + [{e('str', d)}])"
        if form == 6:
            return f"list({e('str', d)}.{self.pick('partition', 'rpartition')}({self.pick(repr(','), repr('a'), repr(' '))}))"
        return f"{e('str', d)}.{self.pick('splitlines', 'split', 'rsplit')}()"

    def make_dict(self, d):
        e, r = self.expr, self.r
        form = r.randrange(7)
        if form == 0:
            return f"{{w: len(w) for w in {e('strs', d)}}}"
        if form == 1:
            return f"dict(zip({e('strs', d)}, {e('ints', d)}))"
        if form == 2:
            return f"({e('dict', d)} | {e('dict', d)})"
        if form == 3:
            return f"{{**{e('dict', d)}, {e('str', d)}: {e('int', d)}}}"
        if form == 4:
            return f"dict(enumerate({e('ints', d)}))"
        if form == 5:
            return f"{{v: i for i, v in enumerate({e('ints', d)})}}"
        return f"dict.fromkeys({e('ints', d)}, {e('int', d)})"

    def make_tuple(self, d):
        e = self.expr
        form = self.r.randrange(6)
        if form == 0:
            return f"({e('int', d)}, {e('str', d)}, {e('bool', d)})"
        if form == 1:
            return f"tuple({e('ints', d)})"
        if form == 2:
            return f"({e('tuple', d)} + {e('tuple', d)})"
        if form == 3:
            return f"{e('tuple', d)}{self.slice(d)}"
        if form == 4:
            return f"divmod({e('int', d)}, {e('int', d)})"
        return f"({e('ints', d)}, {e('dict', d)})"

    # Statements.

    def program(self):
        self.add("def show(*values):\n    print(*[repr(value) for value in values])")
        blocks = [self.block_assign, self.block_assign, self.block_loop, self.block_function, self.block_class, self.block_try,
                  self.block_generator, self.block_mutate, self.block_match, self.block_closure, self.block_library,
                  self.block_with, self.block_unpack, self.block_while, self.block_data, self.block_compare]
        for _ in range(self.r.randint(3, 7)):
            self.r.choice(blocks)()
        for name in list(self.vars)[-4:]:
            self.add(f"show({name})")
        return "\n".join(self.lines) + "\n"

    def guarded(self, text):
        self.add("try:")
        self.add(text, 1)
        self.add("except Exception as error:\n    print(type(error).__name__, error)")

    def block_assign(self):
        for _ in range(self.r.randint(1, 4)):
            kind, name = self.r.choice(KINDS[:-1]), self.r.choice(NAMES)
            value = self.expr(kind)
            self.vars.pop(name, None)
            self.add(f"{name} = {self.literal(kind)}")
            self.guarded(f"{name} = {value}\nshow({name})")
            # The value may be of another kind after an error in disguise; the name keeps the kind that was meant.
            self.vars[name] = kind

    def block_loop(self):
        kind = self.pick("ints", "strs", "str", "dict", "tuple")
        v, out = self.fresh("v"), self.fresh("out")
        body = f"for {v} in {self.expr(kind)}:\n"
        body += f"    if {v} == {self.literal(self.pick('int', 'str'))}:\n        {self.pick('continue', 'break')}\n"
        body += f"    {out}.append({self.pick(v, f'({v}, len({out}))', f'repr({v})', f'[{v}] * 2')})\n"
        body += f"else:\n    {out}.append('else')\nshow({out})"
        self.add(f"{out} = []")
        self.guarded(body)
        self.guarded(f"for i, {v} in enumerate({out}):\n    if i > 2:\n        break\n    print(i, {v}, sep='-', end=';')\nprint()")

    def block_while(self):
        n = self.fresh("n")
        self.guarded(f"{n} = {self.r.randint(1, 40)}\nsteps = []\nwhile {n} != 1 and len(steps) < 12:\n    steps.append({n})\n    {n} = {n} // 2 if {n} % 2 == 0 else 3 * {n} + 1\nelse:\n    steps.append('end')\nshow(steps, {n})")

    def block_function(self):
        f = self.fresh("f")
        saved, self.vars = self.vars, {"p": "int", "q": "str", "rest": "tuple"}
        body = [f"def {f}(p, q={self.literal('str')}, *rest, flag={self.literal('bool')}, **kw):"]
        body.append(f"    if flag:\n        return {self.expr('str')}")
        body.append(f"    p {self.pick('+=', '-=', '*=', '//=', '%=')} {self.literal('int')}")
        body.append(f"    return p, q, rest, sorted(kw.items()), {self.expr(self.pick('int', 'ints', 'dict'))}")
        self.vars = saved
        self.add("\n".join(body))
        calls = [f"{f}({self.expr('int')})", f"{f}({self.expr('int')}, {self.expr('str')}, 1, 2, z=3)", f"{f}(p=2, flag=False)",
                 f"{f}(*{self.literal('tuple')})", f"{f}(1, **{{'q': 'kw', 'w': 1}})", f"{f}()", f"{f}(1, p=2)", f"{f}(1, 2, 3, flag=0, a=1)"]
        for call in self.r.sample(calls, 4):
            self.guarded(f"show({call})")

    def block_closure(self):
        f = self.fresh("make")
        op = self.pick("+", "-", "*")
        self.add(f"def {f}(start):\n    total = start\n    def step(by={self.r.randint(1, 5)}):\n        nonlocal total\n        total = (total {op} by) % 1000\n        return total\n    def peek():\n        return total, start\n    return step, peek")
        self.guarded(f"step, peek = {f}({self.r.randint(0, 9)})\nshow(step(), step({self.r.randint(0, 9)}), peek(), [step(k) for k in range(3)])")
        self.guarded(f"fs = [lambda x, k=k: x {op} k for k in range(3)]\ngs = [lambda: k for k in range(3)]\nshow([g(10) for g in fs], [g() for g in gs])")

    def block_class(self):
        c, d = self.fresh("C"), self.fresh("D")
        op, name = self.r.choice([("+", "add"), ("-", "sub"), ("*", "mul"), ("//", "floordiv"), ("%", "mod"), ("&", "and")])
        self.add(f"""class {c}:
    shared = {self.literal('ints')}
    def __init__(self, n, label={self.literal('str')}):
        self.n, self.label = n, label
    def __repr__(self):
        return f"{c}({{self.n!r}}, {{self.label!r}})"
    def __eq__(self, other):
        return isinstance(other, {c}) and self.n == other.n
    def __lt__(self, other):
        return self.n < other.n
    def __{name}__(self, other):
        if isinstance(other, int):
            return {c}(self.n {op} other)
        if not isinstance(other, {c}):
            return NotImplemented
        return {c}(self.n {op} other.n, self.label)
    def __r{name}__(self, other):
        return {c}(other {op} self.n, 'reflected')
    def __len__(self):
        return {self.r.randint(0, 3)}
    def __getitem__(self, i):
        return (self.n, self.label)[i]
    @property
    def double(self):
        return self.n * 2
    @double.setter
    def double(self, value):
        self.n = value // 2
    @classmethod
    def make(cls, *args):
        return cls(*args)
    @staticmethod
    def helper(x):
        return [x]
class {d}({c}):
    def __init__(self, n, extra=None):
        super().__init__(n, 'sub')
        self.extra = extra
    def __hash__(self):
        return {self.r.randint(0, 5)}
    def __call__(self, x=1):
        return self.n + x
    def __contains__(self, item):
        return item == self.n
    def __i{name}__(self, other):
        self.n = (self.n, other)
        return self""")
        one, two = self.r.randint(-5, 9), self.r.randint(1, 9)
        checks = [f"show({c}({one}) {op} {c}({two}), {c}({one}) {op} {two}, {one} {op} {c}({two}))", f"show({c}({one}) {op} 'x')",
                  f"show(sorted([{c}({one}), {c}({two}), {c}(0)]), max({c}({one}), {c}({two})), {c}(1) == {c}(1), {c}(1) != {d}(1))",
                  f"o = {d}({one})\no.double = {two}\nshow(o, o.double, o.extra, o(), o(5), {two} in o, bool(o), len(o))",
                  f"o = p = {d}({one})\no {op}= {two}\nshow(o.n, o is p)", f"show({c}.make(1, 'm'), {d}.make(2), {c}.helper(3), {d}(1).helper(4))",
                  f"show(list({c}(1)), {c}(2)[0], {c}(2)[-1])", f"show({c}(2)[5])", f"show({{{d}(1): 'd'}}[{d}(1)], isinstance({d}(1), {c}), issubclass({c}, {d}))",
                  f"show({c}(1).missing)", f"show({c}())", f"hash({c}(1))", f"{c}.shared.append(1)\nshow({d}.shared, {c}(1).shared is {d}.shared, vars({c}(1)))",
                  f"o = {c}(1)\no.double = 'x'", f"show({c}(1) < {c}('a'))", f"del {c}(1).nothing", f"show(getattr({c}(3), 'n'), hasattr({c}(1), 'zip'), {c}.__name__, type({d}(1)).__name__)"]
        for check in self.r.sample(checks, 6):
            self.guarded(check)

    def block_try(self):
        f = self.fresh("attempt")
        bad = self.pick("1 / 0", "int('x')", "[][1]", "{}['k']", "None.x", "1 + 'a'", "undefined", "5", "(1).x", "len(5)", "'a' < 1", "[1, 2].remove(3)", "next(iter([]))", "chr(-1)", "[].pop()", "{}.popitem()", "'abc'.index('z')", "a_b_c()", "5()", "[1][None]", "int([])", "float('1.x')", "tuple(5)", "dict([1])", "sum(['a'])", "min([])", "range(0, 1, 0)", "'%d' % 'x'", "'{}'.format()", "f'{1:q}'", "[1, 2][::0]", "sorted([1, 'a'])", "abs('x')", "round('x')", "ord('ab')", "-'a'", "{[]: 1}", "set([[]])", "raise_it()", "1 << -1", "0.0 ** -1", "1 % 0", "1.0 // 0", "divmod(1, 0)", "a, b = 1", "a, b = 1, 2, 3", "a, *b = []", "'a' * 'b'", "[1] + (1,)", "'x' in 5", "5 in 5", "for_ = 5\nfor q in for_: pass", "int('0x1', 10)", "pow(0, -1)", "'a'.join([1])", "list(zip([1], [], strict=True))", "assert 1 == 2, 'msg'", "assert []", "raise ValueError", "raise KeyError('k')", "raise 5", "del nothing")
        bad = bad.replace("\n", "\n        ")
        way = self.pick("return 'returned'", "pass", "log.append('more')")
        caught = self.pick("ValueError", "(TypeError, KeyError)", "LookupError", "ArithmeticError", "Exception")
        self.add(f"""def {f}(log):
    for turn in range(2):
        try:
            log.append('try')
            {bad.replace(chr(10) + '        ', chr(10) + '            ')}
            {way}
        except {caught} as error:
            log.append((type(error).__name__, str(error)))
            {self.pick('continue', 'break', 'pass', 'raise', "raise RuntimeError('second') from error", "return 'handled'")}
        else:
            log.append('else')
        finally:
            log.append('finally')
            {self.pick('pass', 'pass', 'log.append(turn)', 'break', "return 'finally'")}
    return 'end'""")
        self.guarded(f"log = []\ntry:\n    show({f}(log))\nfinally:\n    show(log)")

    def block_generator(self):
        g, h = self.fresh("gen"), self.fresh("outer")
        self.add(f"""def {g}(n, log):
    try:
        for i in range(n):
            got = yield i * {self.r.randint(1, 3)}
            if got is not None:
                log.append(got)
            {self.pick('if got == 2:' + chr(10) + '                return ' + repr('early'), 'pass')}
    except ValueError as error:
        log.append(('caught', str(error)))
        yield 'after'
    finally:
        log.append('done')
    return n
def {h}(n, log):
    result = yield from {g}(n, log)
    log.append(('result', result))
    yield from {self.literal(self.pick('ints', 'str', 'tuple'))}
    return 'all'""")
        action = self.pick("g.send(2)", "g.throw(ValueError('thrown'))", "g.close()", "next(g)", "g.throw(KeyError('k'))", "g.send('s')", "list(g)", "g.throw(ValueError)")
        make = self.pick(f"{g}({self.r.randint(0, 4)}, log)", f"{h}({self.r.randint(0, 4)}, log)")
        self.guarded(f"log = []\ng = {make}\ntry:\n    show(next(g))\n    show({action})\n    show(list(g))\nfinally:\n    show(log)")
        self.guarded(f"show(sum(v * v for v in {self.expr('ints')}), list(x for x in {h}(2, []) if x), max((len(w) for w in {self.expr('strs')}), default=-1))")

    def block_mutate(self):
        xs, r = self.fresh("xs"), self.r
        self.add(f"{xs} = {self.literal('ints')}\nalias = {xs}")
        for _ in range(r.randint(2, 5)):
            i, j = r.randint(-4, 6), r.randint(-4, 6)
            self.guarded(self.pick(f"{xs}.append({self.expr('int', 1)})", f"{xs}.insert({i}, {j})", f"{xs}[{i}:{j}] = {self.expr('ints', 1)}", f"del {xs}[{i}]", f"del {xs}[{i}:{j}:{self.pick(1, 2, -1)}]", f"{xs}.sort(key=lambda v: -v)", f"{xs}.reverse()", f"show({xs}.pop({i}))", f"{xs}.remove({i})", f"{xs}.extend({self.expr('ints', 1)})", f"{xs} += {self.expr(self.pick('ints', 'tuple', 'str'), 1)}", f"{xs} *= {r.randint(-1, 2)}", f"{xs}[::2] = {self.literal('ints')}", f"{xs}[{i}] = {j}", f"{xs}[{i}] += {j}"))
        self.add(f"show({xs}, alias is {xs})")
        m = self.fresh("m")
        self.add(f"{m} = {self.literal('dict')}")
        for _ in range(r.randint(2, 4)):
            key = self.pick("'k'", "'z'", "1", "(1, 2)", "None", "1.0", "True")
            self.guarded(self.pick(f"{m}[{key}] = {self.expr('int', 1)}", f"del {m}[{key}]", f"show({m}.pop({key}))", f"show({m}.pop({key}, 'gone'))", f"show({m}.setdefault({key}, []))", f"{m}.update({self.literal('dict')})", f"{m}[{key}] += 1", f"show({m}[{key}])", f"show({m}.popitem())", f"{m} |= {{'u': 1}}", f"show(list({m}.items()), {key} in {m}, {m}.get({key}))"))
        self.add(f"show({m}, list({m}), len({m}))")
        s = self.fresh("s")
        self.guarded(f"{s} = set({self.literal('ints')})\n{s}.{self.pick('add', 'discard', 'remove')}({r.randint(-3, 3)})\nt = {{1, 2, 3}}\nshow(sorted({s} | t), sorted({s} & t), sorted({s} - t), sorted({s} ^ t), {s} <= t, {s} == t, {s}.isdisjoint(t))")

    def block_match(self):
        f = self.fresh("kind")
        cases = ["case 0 | 1:\n            return 'bit'", "case int(k) if k < 0:\n            return ('neg', k)", "case bool():\n            return 'bool'", "case str() as text:\n            return text.upper()", "case []:\n            return 'empty'", "case [one]:\n            return ('one', one)", "case [first, *rest]:\n            return (first, rest)", "case [_, [inner, *_], *_]:\n            return ('inner', inner)", "case (1, x) | (x, 1):\n            return x", "case {'k': v, **rest}:\n            return (v, rest)", "case {}:\n            return 'mapping'", "case None:\n            return 'none'", "case float(x):\n            return x", "case 'hello' | 'a':\n            return 'word'", "case int() | float():\n            return 'number'", "case [int(p), str(q)]:\n            return (p, q)"]
        chosen = self.r.sample(cases, self.r.randint(2, 6))
        self.add(f"def {f}(value):\n    match value:\n        " + "\n        ".join(chosen) + "\n        case other:\n            return ('other', other)")
        self.guarded(f"show(*[{f}(v) for v in ({', '.join(self.expr(self.r.choice(KINDS), 1) for _ in range(4))}, [1, [2, 3]], (1, 5), {{'k': 1, 'j': 2}}, None, True, [3, 'x'])])")

    def block_with(self):
        c = self.fresh("Guard")
        self.add(f"class {c}:\n    def __init__(self, name, swallow=()):\n        self.name, self.swallow = name, swallow\n    def __enter__(self):\n        print('enter', self.name)\n        return self.name * 2\n    def __exit__(self, kind, value, trace):\n        print('exit', self.name, None if kind is None else kind.__name__, value)\n        return kind is not None and issubclass(kind, self.swallow)")
        bad = self.pick("1 / 0", "{}['q']", "int('z')", "print('fine')", "raise StopIteration(3)")
        self.guarded(f"with {c}('a', {self.pick('ZeroDivisionError', '()', 'LookupError', 'Exception')}) as one, {c}('b') as two:\n    print(one, two)\n    {bad}\nprint('after')")
        self.guarded(f"def leave():\n    for i in range(3):\n        with {c}(str(i)):\n            {self.pick('continue', 'break', 'return i', 'pass')}\n    return 'end'\nshow(leave())")

    def block_unpack(self):
        left = self.pick("a, b", "a, *b", "*a, b", "a, (b, c)", "a, b, *c", "[a, b]", "a, b, c", "(a, *b), c")
        right = self.pick(self.expr("tuple", 1), self.expr("ints", 1), self.expr("str", 1), "[1, [2, 3]]", "(1, 2)", "'xy'", "([1, 2, 3], 4)", "range(3)", "{'p': 1, 'q': 2}")
        self.guarded(f"{left} = {right}\nshow(a, b)")
        for name in "abc":
            self.vars.pop(name, None)
        self.guarded(f"def spread(*args, **kw):\n    return args, sorted(kw.items())\nshow(spread(*{self.literal(self.pick('ints', 'str', 'tuple'))}, 1, *[2], k=3, **{{'z': 4}}))")
        self.guarded(f"for x_, (y_, *z_) in [(1, 'ab'), (2, [3, 4, 5])]:\n    show(x_, y_, z_)")

    def block_library(self):
        e = self.expr
        self.guarded(self.pick(
            f"from collections import Counter\nc_ = Counter({e('str', 2)})\nshow(c_.most_common(2), sum(c_.values()), c_['zz'], sorted((c_ + Counter('ab')).items()))",
            f"from collections import defaultdict\nd_ = defaultdict(list)\nfor i, w in enumerate({e('strs', 2)}):\n    d_[len(w)].append(i)\nshow(dict(d_), d_)",
            f"from collections import deque\ndq_ = deque({e('ints', 2)}, maxlen={self.pick('None', '3')})\ndq_.append(9)\ndq_.appendleft(8)\ndq_.rotate({self.r.randint(-3, 3)})\nshow(dq_, dq_.pop(), dq_.popleft(), list(dq_))",
            f"from itertools import accumulate, chain, groupby, islice\nshow(list(accumulate({e('ints', 2)})), list(chain({e('ints', 1)}, 'ab')), [(k, list(g)) for k, g in groupby({e('ints', 2)}, key=lambda v: v % 2)], list(islice({e('ints', 1)}, 1, 4)))",
            f"from itertools import combinations, permutations, product, zip_longest\nshow(list(combinations({e('ints', 1)}, 2))[:6], list(permutations('abc', 2))[:4], list(product([0, 1], 'xy')), list(zip_longest({e('ints', 1)}, 'pq', fillvalue=0)))",
            f"from functools import reduce, partial\nshow(reduce(lambda p, q: (p * 3 + q) % 1009, {e('ints', 2)}, 1), partial(divmod, {self.r.randint(1, 99)})({self.r.randint(1, 9)}), reduce(max, {e('ints', 1)}))",
            f"import math\nshow(math.gcd({e('int', 1)}, {e('int', 1)}), math.floor({e('float', 1)}), math.ceil({e('float', 1)}), math.sqrt({e('int', 1)}), math.comb(7, {self.r.randint(0, 8)}), math.isclose(0.3, 0.1 + 0.2))",
            f"import json\nshow(json.dumps({e(self.pick('dict', 'ints', 'strs'), 2)}), json.loads(json.dumps({e(self.pick('ints', 'strs', 'float', 'str'), 2)})))",
            f"import re\nshow(re.findall(r{self.pick(repr('[a-z]+'), repr('[0-9]'), repr('(.)a'))}, {e('str', 2)}), re.sub('[aeiou]', '*', {e('str', 2)}), re.split('[, ]', {e('str', 1)}))",
            f"import random\nrandom.seed({self.r.randint(0, 99)})\nshow(random.randint(1, 100), random.choice({e('ints', 1)}), random.sample(range(20), 3), round(random.random(), 6), random.shuffle)" .replace(", random.shuffle)", ")"),
            f"import copy\nz_ = [{e('ints', 1)}, {e('dict', 1)}]\ny_ = copy.deepcopy(z_)\nw_ = copy.copy(z_)\nz_[0].append(99)\nshow(z_, y_, w_)",
            f"import string, operator\nshow(string.capwords({e('str', 1)}), sorted({e('dict', 1)}.items(), key=operator.itemgetter(1)), list(map(operator.neg, {e('ints', 1)})))",
            f"from collections import namedtuple\nP_ = namedtuple('P_', 'x y', defaults=[{self.literal('int')}])\np_ = P_({e('int', 1)})\nshow(p_, p_._replace(x=0), p_ == (p_.x, p_.y), p_._asdict(), [*p_])",
        ))

    def block_data(self):
        c = self.fresh("Rec")
        options = self.pick("", "(order=True)", "(frozen=True)", "(frozen=True, order=True)", "(eq=False, repr=False)")
        self.add(f"from dataclasses import dataclass, field, asdict, replace\n@dataclass{options}\nclass {c}:\n    n: int\n    s: str = {self.literal('str')}\n    items: list = field(default_factory=list, compare={self.pick('True', 'False')})\n    def total(self):\n        return self.n + len(self.s)")
        for check in self.r.sample([f"show({c}(1).total(), {c}(2, 'q').s, {c}(n=3).items)", f"show({c}(1, 'a') == {c}(1, 'a', [5]))", f"show(sorted([{c}(2, 'b'), {c}(1, 'z'), {c}(1, 'a')])[0].s)", f"r_ = {c}(1)\nr_.n = 5\nshow(r_.n)", f"show(asdict({c}(1, 'x', [1, [2]])), replace({c}(1), n=9).n)", f"show({c}())", f"show({c}(1) < {c}(2))"], 4):
            self.guarded(check)
        if "repr=False" not in options:
            self.guarded(f"show({c}(1), [{c}(2, 'x')])")

    def block_compare(self):
        k = self.r.choice(KINDS)
        self.guarded(f"p_, q_ = {self.expr(k)}, {self.expr(k)}\nshow(p_ == q_, p_ != q_, p_ is None, bool(p_), [p_] == [q_], p_ and q_, p_ or q_)")
        self.guarded(f"show(p_ < q_, p_ >= q_, (p_, 1) < (q_, 2), max(p_, q_))")
        self.guarded(f"show((w_ := {self.expr('int')}) + 1, w_, [u_ for t_ in {self.expr('ints', 1)} if (u_ := t_ + 1) % 2])")


def run(code):
    """What CPython prints, and the error at its end; `None` if the program leaves what both sides define."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec(compile(code, "<program>", "exec"), {"__name__": "__main__"})
        except (RecursionError, MemoryError, SyntaxError):
            return None
        except BaseException as error:
            print(f"!! {type(error).__name__}: {error}")
    text = out.getvalue()
    wide = any(abs(int(digits)) >= 2**62 for digits in re.findall(r"-?\d{18,}", text) if "." not in digits)
    if wide or " at 0x" in text or "0x7f" in text or len(text) > 20000:
        return None
    return text


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=1000)
    args = parser.parse_args()
    programs, at = [], 0
    while len(programs) < args.count:
        code = Maker(args.seed * 1_000_003 + at).program()
        at += 1
        output = run(code)
        if output is not None:
            programs.append({"code": code, "output": output})
    json.dump(programs, sys.stdout)


if __name__ == "__main__":
    main()

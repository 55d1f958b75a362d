"""Enumerations: flags, members of other types, and those made by a call."""
import enum
from enum import CONFORM, Enum, Flag, IntEnum, IntFlag, StrEnum, auto, unique


def show(f):
    try:
        print(repr(f()))
    except Exception as e:
        print(type(e).__name__, e)


class Perm(Flag):
    R = auto()
    W = auto()
    X = auto()
    RW = R | W


print(Perm, Perm.R, repr(Perm.R | Perm.W), repr(Perm.RW), ~Perm.R, Perm(0), Perm(7), type(Perm.R | Perm.X))
show(lambda: Perm(8))
show(lambda: Perm("x"))
show(lambda: Perm.R | 1)
print(Perm.R in Perm.RW, Perm.X in Perm.RW, Perm.RW & Perm.R, Perm.RW ^ Perm.R, list(Perm), list(Perm.RW), len(Perm), len(Perm.RW))
print(bool(Perm(0)), bool(Perm.R), str(Perm.R | Perm.X), (Perm.R | Perm.X).value, (Perm.R | Perm.X).name, Perm["W"], list(Perm.__members__))
print(f"{Perm.R}", (Perm.R | Perm.W) is Perm.RW, {Perm.R | Perm.W: 1}[Perm.RW], repr(~Perm(0)), Perm.R | Perm.W | Perm.X)
p = Perm.R
p |= Perm.X
print(p)
p &= ~Perm.R
print(p)
p ^= Perm.W
print(p)


class IP(IntFlag):
    A = 1
    B = 2
    C = 4


for value in (IP.A, IP.A | IP.C, IP.A | 8, IP(3), IP.A + 1, ~IP.A, IP(16), 1 | IP.B, IP.A & IP.B):
    print(repr(value), str(value), f"{value}")
print(IP.A == 1, IP.A < IP.B, isinstance(IP.A, int), list(IP), IP.A in (IP.A | IP.B), int(IP.A | IP.B), (IP.A | IP.B).value)


class Strict(Flag):
    A = 1
    C = 4
    F = 8


class Loose(Flag, boundary=CONFORM):
    A = 1
    B = 2


show(lambda: Strict(2))
show(lambda: ~Strict.A)
show(lambda: Loose(7))

Animal = Enum("Animal", "CAT DOG")
print(Animal, list(Animal), Animal.CAT, Animal(2), Animal.__module__)
print(list(Enum("Col", ["RED", "BLUE"])), list(Enum("D", {"A": 10, "B": 20})), list(Enum("S", "x, y", start=5)))
I = IntEnum("I", [("P", 3), ("Q", 4)])
print(list(I), I.P + 1)


class Planet(Enum):
    EARTH = (5.97, 6.37)

    def __init__(self, mass, radius):
        self.mass = mass
        self.radius = radius

    @property
    def ratio(self):
        return self.mass / self.radius


print(Planet.EARTH.ratio, repr(Planet.EARTH), Planet.EARTH.value)


class Shape(Enum):
    SQ = 1
    ALIAS = 1

    def area(self):
        return 3

    @classmethod
    def default(cls):
        return cls.SQ

    def __str__(self):
        return self.name.lower()


print(repr(Shape.ALIAS), str(Shape.SQ), Shape.default(), Shape.SQ.area(), list(Shape), f"{Shape.SQ}", "%s" % Shape.SQ, "{:>5}".format(Shape.SQ))
print(dict(Shape.__members__))


def assign():
    Shape.SQ = 3


def delete():
    del Shape.SQ


def extend():
    class More(Shape):
        pass


def twice():
    @unique
    class U2(Enum):
        A = 1
        B = 1


for wrong in (assign, delete, extend, twice, lambda: Shape(9), lambda: Shape["zz"], lambda: Shape.SQ < Shape.ALIAS):
    show(wrong)


class Weekday(IntEnum):
    MON = auto()
    TUE = auto()


print(Weekday.MON < Weekday.TUE, sorted([Weekday.TUE, Weekday.MON]), str(Weekday.MON), f"{Weekday.MON}", Weekday.MON + 1)
print([10, 20][Weekday.MON], format(Weekday.TUE, "03d"), repr(max(Weekday)), "%d" % Weekday.MON, repr(Weekday(1)))


class Word(StrEnum):
    A = auto()
    B = "bee"


print(Word.A, Word.A == "a", Word.B.upper(), f"{Word.B}", repr(Word("bee")))


class Forgiving(Enum):
    A = 1

    @classmethod
    def _missing_(cls, value):
        return cls.A


class Named(Enum):
    def _generate_next_value_(name, start, count, last_values):
        return name.title()

    AB = auto()
    CD = auto()


class Some(Enum):
    X = enum.member(1)
    f = enum.nonmember(5)


print(Forgiving(77), list(Named), {m.name: m.value for m in Named}, Named.AB.__class__, isinstance(Named.AB, Named), Some.X, Some.f)
match Shape.SQ:
    case Shape.SQ:
        print("matched")

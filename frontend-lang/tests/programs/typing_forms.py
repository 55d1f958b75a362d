"""What annotations mean, as text and as values."""
import dataclasses
import typing
from typing import (
    Annotated, Any, Callable, ClassVar, Dict, Generic, Iterable, List, Literal, NamedTuple, NewType,
    Optional, Protocol, Sequence, Tuple, TypedDict, TypeVar, Union, get_args, get_origin, get_type_hints,
    runtime_checkable,
)


def show(f):
    try:
        print(repr(f()))
    except Exception as e:
        print(type(e).__name__, e)


T = TypeVar("T")
for it in (
    list[int], dict[str, int], int | None, tuple[int, ...], list[list[int]], list[int] | None, type[int], tuple[()],
    Optional[int], List[int], List, Union[int, str], Union[int, None], Union[int, str, None], Callable[[int], str],
    Callable[..., int], Any, T, Literal["a", 1], Dict[str, List[int]], Tuple[int, ...], Iterable[int], Sequence,
    ClassVar[int], Annotated[int, "x"], List["A"], List[T][int], Optional[List[int]], list[T],
):
    print(it)


def f(a: int, b: list[int] = [], *, c: "str" = "x", d: Optional[int] = None) -> dict[str, int]:
    pass


def g(x: "list[int] | None", y: Callable[[int], str], z: int | None = None):
    pass


class A:
    x: int
    y: List[int] = []
    z: "A"


class B(A):
    w: float = 1.0


print(f.__annotations__, A.__annotations__, g.__annotations__)
print(get_type_hints(f), get_type_hints(B), get_type_hints(g))


def h(x: "Nowhere"):
    pass


show(lambda: get_type_hints(h))
print(get_origin(list[int]), get_args(dict[str, int]), list[int].__origin__, list[int].__args__, get_origin(int))
print(get_origin(Optional[int]), get_args(Optional[int]), get_args(Callable[[int], str]), get_args(int | str), get_origin(int | str))
print(list[int]([1, 2]), isinstance([1], list), isinstance(1, int | str), isinstance(1, Union[int, str]), isinstance(None, Optional[int]))
show(lambda: isinstance([1], list[int]))
show(lambda: isinstance([1], List[int]))
show(lambda: List())
show(lambda: int[3])
print(list[int] == list[int], List[int] == List[int], int | str == str | int, Optional[int] == Union[None, int], {list[int]: 1}[list[int]])
print(isinstance([], List), type(int | None), type(list[int]))

UserId = NewType("UserId", int)
print(UserId, UserId(3) + 1)
Point = NamedTuple("Point", [("x", int), ("y", int)])
print(Point(1, 2), Point.__annotations__, Point._fields, Point, Point.__module__)


class Pair(NamedTuple):
    """Two numbers."""

    a: int
    b: int = 5

    def total(self):
        return self.a + self.b


print(Pair(1), Pair(1, b=2).total(), Pair, Pair.__doc__, Pair._field_defaults)


class Stack(Generic[T]):
    def __init__(self):
        self.items: list[T] = []

    def push(self, item: T) -> None:
        self.items.append(item)


s = Stack[int]()
s.push(1)
print(Stack[int], s.items, Stack.push.__annotations__)


class IntStack(Stack[int]):
    pass


class Names(List[str]):
    def first(self):
        return self[0]


print(IntStack.__mro__[1], Names(["x"]).first(), issubclass(Names, list))


class Movie(TypedDict):
    name: str
    year: int


print(Movie(name="a", year=1), Movie, Movie.__annotations__)


@runtime_checkable
class Shows(Protocol):
    def show(self) -> str: ...


class Thing:
    def show(self):
        return "thing"


print(isinstance(Thing(), Shows), isinstance(3, Shows), Shows)


@dataclasses.dataclass
class D:
    x: int
    y: list[int] = dataclasses.field(default_factory=list)
    kind: ClassVar[str] = "d"
    scale: dataclasses.InitVar[int] = 2

    def __post_init__(self, scale):
        self.x *= scale


print(D(1), D(1, scale=5), [(it.name, it.type) for it in dataclasses.fields(D)])
print(dataclasses.make_dataclass("P3", ["x", ("y", int), ("z", int, 5)])(1, 2))


def ordered(a: int, *c: float, d: list[int] = None, **e: dict) -> tuple[int, ...]:
    return a


print(ordered.__annotations__, ordered.__defaults__, ordered.__kwdefaults__, (lambda: 3).__call__())

"""The program of the process in which Python packages run; `wire.rs` and `requests.rs` are its other side.

Frames are a length of four bytes and a marshalled tuple (version 2 of the format). The notebook sends a request and waits; the answer is
a reply, before which may come calls back into the notebook, which it answers in the same way, and output. So both sides strictly take turns,
and what stands in shared memory belongs to the frame that was sent last.

What is passed: None, bool, int of 64 bits, float, complex, str and Ellipsis as they are, all else as a tuple that begins with a tag.
"""

import builtins
import importlib
import importlib.util
import io
import itertools
import linecache
import marshal
import operator
import os
import signal
import sys
import threading
import time
import traceback
import types
import warnings
import weakref

# Tags of values.
LIST, TUPLE, DICT, SET, FROZENSET, SLICE, RANGE, OBJECT, GUEST, ARRAY, DTYPE, TYPE = range(12)

# Kinds of frames that this side sends.
DONE, FAILED, CALL_BACK, OUTPUT = range(4)
# The kind of frames by which the notebook answers a call back; requests have the numbers above it.
ANSWERED, RAISED = range(2)

# What is known of an object without asking.
IS_CALLABLE, IS_CLASS, IS_MODULE, IS_ITERATOR = 1, 2, 4, 8

# Arrays of more bytes travel in shared memory.
INLINE = 1 << 14
# Containers that lie deeper in each other stay here.
DEEPEST = 64
# Seconds for which an iterator is read ahead, and items.
AHEAD, MOST_AHEAD = 0.002, 1024
# Seconds that a process whose notebook is gone may take to end by itself.
PATIENCE = 1.0

PLAIN = {type(None), bool, float, complex, str, type(...)}
# Classes that both sides have.
SHARED = {int, float, complex, bool, str, list, tuple, dict, set, frozenset, object, type, slice, range}
DTYPES = {"b1", "i1", "i2", "i4", "i8", "u1", "u2", "f2", "f4", "f8", "c8", "c16"}


# ---- The channel ----

channel = os.fdopen(os.dup(0), "rb", 1 << 16)
channel_out = os.dup(0)
lifeline = os.dup(1)
os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
os.dup2(2, 1)
shared = os.open(os.environ.pop("NOTEGRAD_SHARED", os.devnull), os.O_RDWR)

sending = threading.RLock()
main_thread = threading.main_thread()
# Whether code runs that an interrupt may stop, and whether one came while none ran.
running = False
interrupted = False


def read_frame():
    header = channel.read(4)
    if len(header) < 4:
        sys.exit(0)
    size = int.from_bytes(header, "little")
    payload = channel.read(size)
    if len(payload) < size:
        sys.exit(0)
    return marshal.loads(payload)


def send_bytes(payload):
    rest = memoryview(len(payload).to_bytes(4, "little") + payload)
    with sending:
        while rest:
            rest = rest[os.write(channel_out, rest):]


class Calm:
    """Interrupts wait while this is entered."""

    def __enter__(self):
        global running
        self.before = running
        if threading.current_thread() is main_thread:
            running = False

    def __exit__(self, *error):
        global running, interrupted
        if threading.current_thread() is main_thread:
            running = self.before
            if running and interrupted and error[0] is None:
                interrupted = False
                raise KeyboardInterrupt


def on_interrupt(_number, _frame):
    global interrupted
    if running:
        raise KeyboardInterrupt
    interrupted = True


def watch():
    """Waits for interrupts, and for the end of the notebook."""
    while os.read(lifeline, 1):
        signal.pthread_kill(main_thread.ident, signal.SIGINT)
    time.sleep(PATIENCE)
    os._exit(1)


class Stream(io.TextIOBase):
    """`sys.stdout` and `sys.stderr`: what is written is shown by the notebook."""

    encoding = "utf-8"

    def __init__(self, name):
        self.name, self.parts, self.latest = name, [], 0.0

    def writable(self):
        return True

    def isatty(self):
        return False

    def write(self, text):
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        self.parts.append(text)
        if "\n" in text or "\r" in text or len(self.parts) > 1000:
            now = time.monotonic()
            if now - self.latest > 0.02:
                self.latest = now
                self.flush()
        return len(text)

    def flush(self):
        with Calm(), sending:
            text, self.parts = "".join(self.parts), []
            if text:
                send_bytes(marshal.dumps((OUTPUT, self.name == "<stderr>", text), 2))


# ---- Objects that stay here ----

objects = {}
numbers = {}
counts = {}
next_number = itertools.count(1)
known_types = {}


def refer(item):
    """An object by its number; the notebook gives back as many as it was given."""
    number = numbers.get(id(item))
    if number is None:
        number = next(next_number)
        numbers[id(item)], objects[number], counts[number] = number, item, 0
    counts[number] += 1
    kind = type(item)
    flags = (
        callable(item) * IS_CALLABLE
        | isinstance(item, type) * IS_CLASS
        | isinstance(item, types.ModuleType) * IS_MODULE
        | hasattr(kind, "__next__") * IS_ITERATOR
    )
    known = known_types.get(kind)
    if known is None:
        known = known_types[kind] = len(known_types)
        return (OBJECT, number, flags, known, str(kind.__module__), kind.__qualname__)
    return (OBJECT, number, flags, known)


def give_back(released):
    for number, count in released:
        counts[number] -= count
        if not counts[number]:
            item = objects.pop(number)
            del counts[number], numbers[id(item)]


class Unfit(Exception):
    """A container that does not travel as a value."""


cursor = 0


def encode(item):
    """A value for the notebook, or the number of an object that stays here."""
    try:
        return encoded(item, 0)
    except Unfit:
        return refer(item)


def encoded(item, depth):
    kind = type(item)
    if kind in PLAIN:
        return item
    if kind is int:
        return item if -(1 << 63) <= item < 1 << 63 else refer(item)
    known = CONTAINERS.get(kind)
    if known is not None:
        if depth > DEEPEST:
            raise Unfit
        return known(item, depth + 1)
    if kind in GUESTS:
        return (GUEST, object.__getattribute__(item, "__dict__")["_key"])
    if kind is type and item in SHARED:
        return (TYPE, item.__name__)
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(item, (numpy.ndarray, numpy.generic)):
        return encoded_array(numpy, item)
    return refer(item)


def encoded_items(items, depth):
    if PLAIN.issuperset(map(type, items)):
        return list(items)
    return [encoded(it, depth) for it in items]


CONTAINERS = {
    list: lambda it, depth: (LIST, encoded_items(it, depth)),
    tuple: lambda it, depth: (TUPLE, encoded_items(it, depth)),
    dict: lambda it, depth: (DICT, encoded_items(list(itertools.chain.from_iterable(it.items())), depth)),
    set: lambda it, depth: (SET, encoded_items(it, depth)),
    frozenset: lambda it, depth: (FROZENSET, encoded_items(it, depth)),
    slice: lambda it, depth: (SLICE, encoded(it.start, depth), encoded(it.stop, depth), encoded(it.step, depth)),
    range: lambda it, depth: (RANGE, encoded(it.start, depth), encoded(it.stop, depth), encoded(it.step, depth)),
}


def encoded_array(numpy, item):
    """dtype, shape, whether it is a scalar, whether the order of its dimensions is reversed, and its bytes or where they are."""
    global cursor
    is_scalar = isinstance(item, numpy.generic)
    if isinstance(item, numpy.str_):
        return str(item)
    code = item.dtype.str[1:]
    if code not in DTYPES or type(item) not in (numpy.ndarray, numpy.memmap) and not is_scalar:
        return refer(item)
    array = numpy.asarray(item, dtype=item.dtype.newbyteorder("="))
    is_reversed = array.ndim > 1 and array.flags.f_contiguous and not array.flags.c_contiguous
    array = numpy.ascontiguousarray(array.T if is_reversed else array)
    shape = item.shape
    if array.nbytes <= INLINE:
        return (ARRAY, code, shape, is_scalar, is_reversed, array.tobytes())
    at, cursor = cursor, cursor + (array.nbytes + 63 & -64)
    rest, place = memoryview(array.reshape(-1).view(numpy.uint8)), at
    while rest:
        written = os.pwrite(shared, rest, place)
        rest, place = rest[written:], place + written
    return (ARRAY, code, shape, is_scalar, is_reversed, at)


def decode(value):
    """What the notebook has passed."""
    if type(value) is not tuple:
        return value
    return DECODERS[value[0]](value)


def decoded_dict(value):
    items = map(decode, value[1])
    return dict(zip(items, items))


def decoded_array(value):
    _, code, shape, is_scalar, is_reversed, data = value
    try:
        import numpy
    except ImportError:
        raise ImportError("arrays and tensors travel as NumPy arrays, and this Python has no numpy: install it there") from None
    array = numpy.empty(shape[::-1] if is_reversed else shape, code)
    flat = array.reshape(-1).view(numpy.uint8)
    if isinstance(data, bytes):
        flat[:] = numpy.frombuffer(data, numpy.uint8)
    else:
        rest = memoryview(flat)
        while rest:
            count = os.preadv(shared, [rest], data)
            rest, data = rest[count:], data + count
    array = array.T if is_reversed else array
    return array[()] if is_scalar else array


def decoded_dtype(code, is_class):
    import numpy

    dtype = numpy.dtype(code)
    return dtype.type if is_class else dtype


DECODERS = {
    LIST: lambda it: [decode(x) for x in it[1]],
    TUPLE: lambda it: tuple([decode(x) for x in it[1]]),
    DICT: decoded_dict,
    SET: lambda it: set(map(decode, it[1])),
    FROZENSET: lambda it: frozenset(map(decode, it[1])),
    SLICE: lambda it: slice(decode(it[1]), decode(it[2]), decode(it[3])),
    RANGE: lambda it: range(it[1], it[2], it[3]),
    OBJECT: lambda it: objects[it[1]],
    GUEST: lambda it: guest(it[1], it[2], it[3]),
    ARRAY: decoded_array,
    DTYPE: lambda it: decoded_dtype(it[1], it[2]),
    TYPE: lambda it: getattr(builtins, it[1]),
}


# ---- Objects of the notebook ----

# Keys of those that are not needed here any more, and how often each was passed; those that are.
guests_gone = []
guests = weakref.WeakValueDictionary()


class GuestError(Exception):
    """An exception of the notebook that is of no class of Python."""


def call_back(key, what, *args, **keywords):
    """Asks the notebook about one of its objects."""
    global cursor
    if threading.current_thread() is not main_thread:
        raise RuntimeError("functions and objects of the notebook can be used in the main thread only")
    with Calm():
        flush()
        cursor = 0
        send((CALL_BACK, key, what, [encode(it) for it in args], [(name, encode(it)) for name, it in keywords.items()]))
        while True:
            frame = read_frame()
            if frame[0] <= RAISED:
                break
            answer(frame)
    if frame[0] == ANSWERED:
        return decode(frame[1])
    raise exception_of(*frame[1:])


def exception_of(key, name, message):
    """An exception that has been raised in the notebook, here; if it comes back, the notebook knows it by its key."""
    if name == "KeyboardInterrupt":
        return KeyboardInterrupt(message)
    if name == "StopIteration":
        return StopIteration()
    base = getattr(builtins, name, None)
    is_known = isinstance(base, type) and issubclass(base, Exception)
    try:
        error = base(message) if is_known else GuestError(f"{name}: {message}")
    except TypeError:
        error = GuestError(f"{name}: {message}")
    error._notegrad_key = key
    return error


class Guest:
    """An object of the notebook."""

    def __init__(self, key, name):
        self.__dict__.update(_key=key, _count=0, __name__=name, __qualname__=name)

    def __del__(self):
        guests_gone.append((self._key, self._count))

    def __repr__(self):
        return call_back(self._key, "repr")

    def __getattr__(self, name):
        if name.startswith("__") and name.endswith("__") or name.startswith("_repr_") or name.startswith("_ipython_"):
            raise AttributeError(name)
        return call_back(self._key, "getattr", name)


class Function(Guest):
    """Something of the notebook that can be called."""

    def __call__(self, *args, **keywords):
        return call_back(self._key, "call", *args, **keywords)

    def __get__(self, instance, _owner=None):
        return self if instance is None else types.MethodType(self, instance)


class Iterator(Guest):
    """An iterator of the notebook."""

    def __iter__(self):
        return self

    def __next__(self):
        return call_back(self._key, "next")


class Object(Function):
    """Any other object of the notebook."""

    def __setattr__(self, name, value):
        call_back(self._key, "setattr", name, value)

    def __str__(self):
        return call_back(self._key, "str")

    def __len__(self):
        return call_back(self._key, "len")

    def __bool__(self):
        return call_back(self._key, "bool")

    def __iter__(self):
        return call_back(self._key, "iter")

    def __getitem__(self, index):
        return call_back(self._key, "getitem", index)

    def __setitem__(self, index, value):
        call_back(self._key, "setitem", index, value)

    def __contains__(self, item):
        return call_back(self._key, "contains", item)

    def __eq__(self, other):
        return call_back(self._key, "eq", other)

    __hash__ = object.__hash__


GUEST_KINDS = (Function, Iterator, Object)
GUESTS = set(GUEST_KINDS)


def guest(key, kind, name):
    """The one that stands for an object of the notebook."""
    found = guests.get(key)
    if found is None:
        found = guests[key] = GUEST_KINDS[kind](key, name)
    found.__dict__["_count"] += 1
    return found


# ---- Requests ----


def find(name):
    """Whether there is a package or module of this name, which must have no dots; it is not loaded."""
    try:
        return name in sys.modules or importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def call(target, args, keywords):
    return decode(target)(*map(decode, args), **{name: decode(it) for name, it in keywords})


def call_method(target, name, args, keywords):
    return getattr(decode(target), name)(*map(decode, args), **{name: decode(it) for name, it in keywords})


def call_special(target, name, args):
    item = decode(target)
    return getattr(type(item), name)(item, *map(decode, args))


def next_items(target, wanted):
    """Up to so many items, and whether there are more: iterators are read ahead, for a short time, where that runs no code of cells."""
    iterator, items, wanted = decode(target), [], min(wanted, MOST_AHEAD)
    frame = getattr(iterator, "gi_frame", None)
    if frame is not None and frame.f_globals is user.__dict__ or type(iterator) in GUESTS:
        wanted = 1
    end = time.monotonic() + AHEAD
    for item in itertools.islice(iterator, wanted):
        items.append(item)
        if time.monotonic() > end:
            break
    else:
        return (items, len(items) == wanted)
    return (items, True)


def as_array(target):
    import numpy

    item = decode(target)
    array = numpy.asarray(item)
    if array.dtype.kind in "mM":
        array = array.astype("i8")
    if array.dtype.str[1:] in ("u4", "u8"):
        array = array.astype("i8")
    if array.dtype.str[1:] not in DTYPES:
        words = f"{type(item).__name__} of dtype {array.dtype} has no form as an array of numbers"
        raise TypeError(words)
    return numpy.asarray(array)


def form(target):
    """How an object wants to be shown: a name of `FORMS` and its data, or None."""
    item = decode(target)
    if isinstance(item, type):
        return None
    figures = sys.modules.get("matplotlib.figure")
    if figures is not None and isinstance(item, figures.Figure):
        if "matplotlib.pyplot" in sys.modules:
            sys.modules["matplotlib.pyplot"].close(item)
        return Raw(("png", picture(item)))
    bundle = getattr(item, "_repr_mimebundle_", None)
    bundle = bundle() if callable(bundle) else {}
    bundle = bundle[0] if isinstance(bundle, tuple) else bundle or {}
    for name, media in FORMS.items():
        show = getattr(item, f"_repr_{name}_", None)
        data = bundle.get(media)
        if data is None and callable(show):
            data = show()
            data = data[0] if isinstance(data, tuple) else data
        if isinstance(data, bytes if name == "png" else str):
            return Raw((name, data))
    return None


FORMS = {
    "html": "text/html",
    "svg": "image/svg+xml",
    "png": "image/png",
    "markdown": "text/markdown",
    "latex": "text/latex",
}


def picture(figure):
    data = io.BytesIO()
    figure.savefig(data, format="png", bbox_inches="tight")
    return data.getvalue()


def figures():
    """PNGs of the figures that a cell has drawn, which are closed."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is None or not pyplot.get_fignums():
        return []
    drawn = [picture(pyplot.figure(number)) for number in pyplot.get_fignums()]
    pyplot.close("all")
    return Raw(drawn)


def describe(target):
    """Signature and documentation."""
    import inspect

    item = decode(target)
    try:
        signature = str(inspect.signature(item))
    except (TypeError, ValueError):
        signature = None
    return (signature, inspect.getdoc(item))


user = types.ModuleType("__main__")


def run_cell(text, name):
    """Runs a cell; the value of its last expression."""
    import ast

    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    tree = ast.parse(text, name)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, name, "exec"), user.__dict__)
    if last is not None:
        return eval(compile(ast.Expression(last.value), name, "eval"), user.__dict__)


def set_name(name, value):
    user.__dict__[name] = decode(value)


def get_name(name):
    try:
        return user.__dict__[name]
    except KeyError:
        raise NameError(f"name '{name}' is not defined in Python") from None


BINARY = {
    name: getattr(operator, name)
    for name in "add sub mul truediv floordiv mod pow matmul and_ or_ xor lshift rshift eq ne lt le gt ge".split()
}
BINARY.update((f"i{name.rstrip('_')}", getattr(operator, f"i{name.rstrip('_')}")) for name in list(BINARY) if name not in "eq ne lt le gt ge")
UNARY = {"neg": operator.neg, "pos": operator.pos, "invert": operator.invert, "abs": abs}
CONVERSIONS = {"int": int, "float": float, "complex": complex, "index": operator.index, "bool": bool, "repr": repr, "str": str, "hash": hash, "len": len}

REQUESTS = [
    find,
    importlib.import_module,
    lambda target, name: getattr(decode(target), name),
    lambda target, name, value: setattr(decode(target), name, decode(value)),
    lambda target, name: delattr(decode(target), name),
    call,
    call_method,
    call_special,
    lambda name, a, b: BINARY[name](decode(a), decode(b)),
    lambda name, a: UNARY[name](decode(a)),
    lambda name, a: CONVERSIONS[name](decode(a)),
    lambda target, index: decode(target)[decode(index)],
    lambda target, index, value: operator.setitem(decode(target), decode(index), decode(value)),
    lambda target, index: operator.delitem(decode(target), decode(index)),
    lambda target, item: decode(item) in decode(target),
    lambda target: iter(decode(target)),
    next_items,
    lambda target: type(decode(target)).__enter__(decode(target)),
    lambda target, error: bool(type(decode(target)).__exit__(decode(target), *parts_of(error))),
    lambda target, text: format(decode(target), text),
    lambda target: [name for name in dir(decode(target)) if isinstance(name, str)],
    lambda item, kind: isinstance(decode(item), decode(kind)),
    as_array,
    form,
    figures,
    describe,
    run_cell,
    set_name,
    get_name,
    os.chdir,
    lambda target: type(decode(target)),
]


def parts_of(error):
    """The arguments of `__exit__`: of no exception, one of this side, or one of the notebook by its name and message."""
    if error is None:
        return (None, None, None)
    error = decode(error) if type(error) is tuple else exception_of(None, *error)
    return (type(error), error, error.__traceback__)


class Raw:
    """A result that is passed as it is."""

    __slots__ = ("item",)

    def __init__(self, item):
        self.item = item


def flush():
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, Stream) and stream.parts:
            stream.flush()


def send(frame):
    """Sends a frame whose values are encoded."""
    send_bytes(marshal.dumps(frame, 2))


def answer(frame):
    """Does what a request wants, and replies."""
    global running, interrupted, cursor
    number, released, *args = frame
    before = running
    try:
        running = True
        result = REQUESTS[number - 2](*args)
        running = False
        if interrupted:
            raise KeyboardInterrupt
        cursor = 0
        result = result.item if type(result) is Raw else encode(result)
        give_back(released)
        reply = (DONE, result, take_gone())
    except BaseException as error:
        running = interrupted = False
        give_back(released)
        reply = (FAILED, told(error), take_gone())
    running = before
    flush()
    send(reply)


def take_gone():
    gone = guests_gone[:]
    del guests_gone[:len(gone)]
    return gone


def told(error):
    """Names of the classes of an exception, best first; its message; where it was raised; itself; its key in the notebook."""
    own = answer.__code__.co_filename
    kinds = [it.__name__ for it in type(error).__mro__]
    try:
        message = str(error)
    except Exception as failure:
        message = f"<str() of the exception failed: {failure!r}>"
    try:
        shown = traceback.TracebackException.from_exception(error)
        each = shown
        while each is not None:
            each.stack = traceback.StackSummary.from_list([it for it in each.stack if it.filename != own])
            each = each.__cause__ or each.__context__
        text = "".join(shown.format()) if shown.stack else ""
    except Exception:
        text = ""
    args = list(error.args) if type(error).__name__ in ("KeyError", "SystemExit") else None
    return (kinds, message, text, refer(error), getattr(error, "_notegrad_key", None), encode(args))


def read_line(prompt=""):
    return call_back(0, "input", str(prompt))


def main():
    signal.signal(signal.SIGINT, on_interrupt)
    threading.Thread(target=watch, name="notegrad", daemon=True).start()
    sys.modules["__main__"] = user
    user.__dict__["__builtins__"] = builtins
    warnings.filterwarnings("ignore", message="FigureCanvasAgg is non-interactive")
    sys.stdout, sys.stderr = Stream("<stdout>"), Stream("<stderr>")
    builtins.input = read_line
    send_bytes(f"{sys.version.split()[0]}\n{sys.executable}".encode())
    while True:
        answer(read_frame())


main()

"""Values that travel, and objects that stay here."""

objects = {}
numbers = {}
counts = {}
next_number = itertools.count(1)
next_type = itertools.count()
# Those that the value under way refers to, and types that it names.
referred, named = [], []
known_types = {}


def refer(item):
    """An object by its number; the notebook gives back as many as it was given."""
    number = numbers.get(id(item))
    if number is None:
        number = next(next_number)
        numbers[id(item)], objects[number], counts[number] = number, item, 0
    counts[number] += 1
    referred.append(number)
    kind = type(item)
    flags = (
        callable(item) * IS_CALLABLE
        | isinstance(item, type) * IS_CLASS
        | isinstance(item, types.ModuleType) * IS_MODULE
        | hasattr(kind, "__next__") * IS_ITERATOR
    )
    known = known_types.get(kind)
    if known is None:
        known = known_types[kind] = next(next_type)
        named.append(kind)
        return (OBJECT, number, flags, known, str(kind.__module__), kind.__qualname__)
    return (OBJECT, number, flags, known)


def give_back(released):
    for number, count in released:
        counts[number] -= count
        if not counts[number]:
            item = objects.pop(number)
            del counts[number], numbers[id(item)]
            delayed.pop(number, None)


class Unfit(Exception):
    """A container that does not travel as a value."""


cursor = 0


def encode(item):
    """A value for the notebook, or the number of an object that stays here."""
    referred.clear()
    named.clear()
    try:
        return encoded(item, 0)
    except BaseException as error:
        give_back([(number, 1) for number in referred])
        for kind in named:
            del known_types[kind]
        if isinstance(error, Unfit):
            return refer(item)
        raise


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
    if issubclass(kind, Guest):
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


def made(module, name, args):
    """Something of a module, or what it makes of arguments."""
    found = getattr(importlib.import_module(module), name)
    return found if args is None else found(*map(decode, args))


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
    GUEST: lambda it: guest(it[1], it[2], it[3], it[4]),
    ARRAY: decoded_array,
    DTYPE: lambda it: decoded_dtype(it[1], it[2]),
    TYPE: lambda it: getattr(builtins, it[1]),
    MADE: lambda it: made(it[1], it[2], it[3]),
}

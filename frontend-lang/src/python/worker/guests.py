"""Objects of the notebook, as Python sees them."""

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

"""Objects of the notebook, as Python sees them."""

# Keys of those that are not needed here any more, and how often each was passed; those that are.
guests_gone = []
guests = weakref.WeakValueDictionary()


class GuestError(Exception):
    """An exception of the notebook that is of no class of Python."""


def call_back(key, what, *args, **keywords):
    """Asks the notebook about one of its objects."""
    global cursor
    if is_child:
        raise RuntimeError("functions and objects of the notebook cannot be used in another process")
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

    def __copy__(self):
        return self

    def __deepcopy__(self, _memo):
        return self

    def __reduce_ex__(self, _protocol):
        raise TypeError(f"'{self.__name__}' of the notebook cannot be sent to another process; use one process (n_jobs=1)")

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

    @property
    def __signature__(self):
        import inspect

        text, names = call_back(self._key, "signature"), {}
        try:
            exec(f"from __future__ import annotations\ndef f{text}: pass", names)
        except Exception:
            raise AttributeError("__signature__") from None
        return inspect.signature(names["f"])


class Iterator(Guest):
    """An iterator of the notebook."""

    def __iter__(self):
        return self

    def __next__(self):
        return call_back(self._key, "next")


class Object(Guest):
    """Any other object of the notebook; classes below it have the special methods that its own class has."""

    def __setattr__(self, name, value):
        call_back(self._key, "setattr", name, value)

    def __str__(self):
        return call_back(self._key, "str")

    __hash__ = object.__hash__


GUEST_KINDS = (Function, Iterator, Object)
# By the names of special methods.
object_kinds = {(): Object}


def special(name):
    return lambda self, *args, **keywords: call_back(self._key, "special", name, *args, **keywords)


def object_kind(names):
    kind = object_kinds.get(names)
    if kind is None:
        members = {it: special(it) for it in names}
        if "__eq__" in members and "__hash__" not in members:
            members["__hash__"] = object.__hash__
        kind = object_kinds[names] = type("Object", (Object,), members)
    return kind


def guest(key, kind, name, specials):
    """The one that stands for an object of the notebook."""
    found = guests.get(key)
    if found is None:
        made_of = GUEST_KINDS[kind]
        if made_of is Object:
            made_of = object_kind(tuple(specials))
        found = guests[key] = made_of(key, name)
    found.__dict__["_count"] += 1
    return found

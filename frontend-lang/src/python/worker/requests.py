"""What the notebook asks for."""

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
    method = getattr(type(item), name, None)
    if method is None:
        raise AttributeError(f"'{type(item).__name__}' object has no attribute '{name}'")
    return method(item, *map(decode, args))


def next_items(target, wanted):
    """Up to so many items, and whether there are more: iterators are read ahead, for a short time, where that runs no code of cells."""
    if target[1] in delayed:
        raise delayed.pop(target[1])
    iterator, items, wanted = decode(target), [], min(wanted, MOST_AHEAD)
    frame, kind = getattr(iterator, "gi_frame", None), type(iterator)
    if frame is not None and frame.f_globals is user.__dict__ or kind in LIVE or kind.__module__ == "__main__" or isinstance(iterator, Guest):
        wanted = 1
    end = time.monotonic() + AHEAD
    try:
        for item in itertools.islice(iterator, wanted):
            items.append(item)
            if time.monotonic() > end:
                break
        else:
            return (items, len(items) == wanted)
    except Exception as error:
        if not items:
            raise
        delayed[target[1]] = error
    return (items, True)


# Iterators of what a loop may change.
LIVE = set(map(type, map(iter, ([], {}, {}.keys(), {}.values(), {}.items(), set()))))
# Exceptions of iterators that were read ahead, by number, until their items have been taken.
delayed = {}


def as_array(target):
    import numpy

    item = decode(target)
    array = numpy.asarray(item)
    code = array.dtype.str[1:]
    if code == "u4" or code == "u8" and (not array.size or array.max() < 1 << 63):
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
            return Raw((name, bytes(data) if name == "png" else str.__str__(data)))
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


def figures(given):
    """PNGs of the figures that a cell has drawn, which are closed; of the one that it gives there is a form."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is None or not pyplot.get_fignums():
        return Raw([])
    drawn, given = [], decode(given)
    for figure in map(pyplot.figure, pyplot.get_fignums()):
        try:
            if figure is not given:
                drawn.append(picture(figure))
        except Exception as error:
            print(f"a figure could not be drawn: {type(error).__name__}: {error}", file=sys.stderr)
    pyplot.close("all")
    return Raw(drawn)


def described(name, item):
    """Name, kind, help and parameters of a member."""
    import inspect

    if isinstance(item, (staticmethod, classmethod)):
        item = item.__func__
    if isinstance(item, types.ModuleType):
        return (name, "module", "", [])
    if isinstance(item, property):
        return (name, "property", (item.__doc__ or "")[:LONGEST], [])
    if not callable(item):
        return (name, "instance", "", [])
    kind = "class" if isinstance(item, type) else "function"
    try:
        parameters = inspect.signature(item).parameters.values()
    except (TypeError, ValueError):
        parameters = []
    shown = [
        (it.name, int(it.kind), "" if it.annotation is it.empty else inspect.formatannotation(it.annotation), None if it.default is it.empty else repr(it.default)[:80])
        for it in parameters
    ]
    return (name, kind, (inspect.getdoc(item) or "")[:LONGEST], shown)


def describe(target):
    """Help of an object, and of its members: of those of its type, where it is no module or class."""
    import inspect

    item = decode(target)
    owner = item if isinstance(item, (type, types.ModuleType)) else type(item)
    members = []
    for name in dir(owner):
        if isinstance(name, str) and not name.startswith("__") and len(members) < MOST_MEMBERS:
            with contextlib.suppress(Exception):
                members.append(described(name, inspect.getattr_static(owner, name)))
    return Raw(((inspect.getdoc(owner) or "")[:LONGEST], described("", item)[3], members))


# Characters of a help text, and members that are described.
LONGEST, MOST_MEMBERS = 4000, 1500


user = types.ModuleType("__main__")


def run_cell(text, name):
    """Runs a cell; the value of its last expression."""
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
CONVERSIONS = {"int": int, "float": float, "complex": complex, "index": operator.index, "bool": bool, "repr": lambda it: str.__str__(repr(it)), "str": lambda it: str.__str__(str(it)), "hash": hash, "len": len}

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
    lambda target, text: str.__str__(format(decode(target), text)),
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
    lambda target: raise_it(target),
]


def raise_it(target):
    """Raises an exception, or one of its class."""
    raised = decode(target)
    if not isinstance(raised, BaseException) and not (isinstance(raised, type) and issubclass(raised, BaseException)):
        raise TypeError("exceptions must derive from BaseException")
    raise raised


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
    give_back(released)
    try:
        running = True
        if interrupted:
            raise KeyboardInterrupt
        result = REQUESTS[number - 2](*args)
        running = False
        cursor = 0
        result = result.item if type(result) is Raw else encode(result)
        if interrupted:
            raise KeyboardInterrupt
        reply = marshal.dumps((DONE, result, take_gone()), 2)
        if len(reply) > LARGEST:
            raise MemoryError("more than 1 GiB cannot be passed to the notebook at once")
    except BaseException as error:
        running = interrupted = False
        reply = failure(error)
    running = before
    if is_child:
        os._exit(0)
    flush()
    send_bytes(reply)


def failure(error):
    """The reply that tells of an exception; of one that cannot be told, its class."""
    try:
        return marshal.dumps((FAILED, told(error), take_gone()), 2)
    except Exception as another:
        words = f"{type.__getattribute__(type(error), '__name__')}, of which no more can be said: {type(another).__name__}"
        return marshal.dumps((FAILED, (["RuntimeError"], words, "", None, None, None), []), 2)


# Bytes of the largest reply.
LARGEST = 1 << 30


def take_gone():
    gone = guests_gone[:]
    del guests_gone[:len(gone)]
    return gone


# Files whose frames say nothing: these, and those of the machinery that was asked to read or load something.
SILENT = {answer.__code__.co_filename, importlib.__file__, ast.__file__}


def is_shown(filename):
    return filename not in SILENT and not filename.startswith("<frozen importlib")


def told(error):
    """The name of the class of an exception, and those of its classes that are built in, best first; its message; where it was raised; itself; its key in the notebook."""
    kinds = [type(error).__name__] + [it.__name__ for it in type(error).__mro__ if it.__module__ == "builtins"]
    try:
        message = str.__str__(str(error))
    except Exception as failure:
        message = f"<str() of the exception failed: {failure!r}>"
    try:
        shown = traceback.TracebackException.from_exception(error)
        each = shown
        while each is not None:
            each.stack = traceback.StackSummary.from_list([it for it in each.stack if is_shown(it.filename)])
            each = each.__cause__ or each.__context__
        text = "".join(shown.format()) if shown.stack or isinstance(error, SyntaxError) else ""
    except Exception:
        text = ""
    args = list(error.args) if isinstance(error, KEPT_ARGS) else None
    return (kinds, message, text, refer(error), getattr(error, "_notegrad_key", None), encode(args))


# Exceptions whose arguments say more than their message.
KEPT_ARGS = (KeyError, OSError, StopIteration, SystemExit)


def read_line(prompt=""):
    return call_back(0, "input", str(prompt))


def main():
    os.register_at_fork(after_in_child=in_child)
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

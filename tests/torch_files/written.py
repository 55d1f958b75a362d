"""Prints what a file written by `torch.save` says, read by Python's zipfile and pickle alone: `python written.py FILE`."""

import pickle
import sys
import zipfile


class Named:
    """A class or function of PyTorch or NumPy, by name; calling it gives its arguments."""

    def __init__(self, name, *args):
        self.name, self.args, self.state = name, args, None

    def __call__(self, *args):
        return Named(self.name, *args)

    def __setstate__(self, state):
        self.state = state

    def __repr__(self):
        args = "" if not self.args else f"({', '.join(map(repr, self.args))})"
        return f"{self.name}{args}" + ("" if self.state is None else f" with {self.state!r}")


class Reader(pickle.Unpickler):
    def find_class(self, module, name):
        if module in ("builtins", "__builtin__", "collections", "_codecs"):
            return super().find_class(module, name)
        return Named(f"{module}.{name}")

    def persistent_load(self, id):
        return Named("storage", *id[1:])


with zipfile.ZipFile(sys.argv[1]) as archive:
    assert archive.testzip() is None
    for name in archive.namelist():
        if "/data/" in name:
            print(name, archive.read(name))
    with archive.open("written/data.pkl") as file:
        content = Reader(file).load()
for key, value in content.items():
    print(key, value)
print(content["shared"][0] is content["shared"][1])

"""Runs every line of tests/numpy/programs.py with NumPy and writes what it prints to programs.out. Needs `numpy`.

A line is a program of its own; the same lines run in the language, where `tests/tests/numpy_programs.rs` compares the texts. Beside
them it writes the names that NumPy's modules have (names.txt), and files as NumPy writes them (files/).
"""

import contextlib
import io
import pathlib
import warnings

import numpy as np

FOLDER = pathlib.Path(__file__).parents[1] / "numpy"
SETUP = "a = np.arange(6).reshape(2, 3); x = np.array([3.0, 1.0, 2.0])\n"


def printed_by(program: str) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out), np.errstate(all="ignore"):
        try:
            exec(SETUP + program, {"np": np})
        except Exception as error:
            names = ["ValueError" if type(error).__name__ in ("AxisError", "LinAlgError") else type(error).__name__]
            names = ["TypeError" if name.startswith(("UFunc", "_UFunc")) else name for name in names]
            out.write(f"{names[0]}: {error}\n")
    return out.getvalue()


def write_names() -> None:
    modules = {"numpy": np, "numpy.linalg": np.linalg, "numpy.random": np.random, "numpy.ndarray": np.ndarray}
    names = [f"{module}.{name}" for module, it in modules.items() for name in dir(it) if not name.startswith("_")]
    (FOLDER / "names.txt").write_text("\n".join(names) + "\n")


def write_files() -> None:
    np.save(FOLDER / "files" / "floats.npy", np.arange(6.0).reshape(2, 3) / 4)
    np.save(FOLDER / "files" / "columns.npy", np.arange(6, dtype=np.int32).reshape(2, 3).T)
    np.save(FOLDER / "files" / "number.npy", np.array(True))
    np.save(FOLDER / "files" / "short.npy", np.array([-1, 300], dtype=">i2"))
    np.save(FOLDER / "files" / "halves.npy", np.array([0.1, -65504, np.inf], dtype=np.float16))
    np.save(FOLDER / "files" / "bytes.npy", np.array([[1, -128], [127, 0]], dtype=np.int8))
    np.save(FOLDER / "files" / "unsigned.npy", np.array([0, 65535], dtype=np.uint16))
    np.save(FOLDER / "files" / "wide.npy", np.array([0, 2**32 - 1], dtype=np.uint32))
    complex_numbers = np.array([[1 + 2j, complex(-0.0, 1e-300)], [complex(np.nan, -np.inf), 0.1j], [3, -1e200]])
    np.save(FOLDER / "files" / "complex128.npy", complex_numbers)
    np.save(FOLDER / "files" / "complex_columns.npy", complex_numbers.T)
    np.save(FOLDER / "files" / "complex_swapped.npy", complex_numbers.astype(">c16"))
    np.save(FOLDER / "files" / "complex64.npy", np.array([1 + 2j, 0.1 - 3j], dtype=np.complex64))
    with open(FOLDER / "files" / "complex.npz", "wb") as file:
        np.savez(file, z=np.array([1j, -2], dtype=np.complex64), x=np.arange(2))
    with open(FOLDER / "files" / "arrays.npz", "wb") as file:
        np.savez(file, np.arange(3), weights=np.ones((2, 2), dtype=np.float32))
    with open(FOLDER / "files" / "packed.npz", "wb") as file:
        np.savez_compressed(file, zeros=np.zeros(500), steps=np.arange(200) % 7)


def main() -> None:
    warnings.simplefilter("ignore")
    lines = [line for line in (FOLDER / "programs.py").read_text().splitlines() if line and not line.startswith("#")]
    texts = [f">>> {line}\n{printed_by(line)}" for line in lines]
    (FOLDER / "programs.out").write_text("".join(texts))
    write_names()
    write_files()
    print(len(lines), "programs")


main()

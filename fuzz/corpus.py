#!/usr/bin/env python3
"""Writes what the fuzzer starts from into fuzz/corpus: cells of the specs, programs of the tests, model files, messages, PyTorch's files.

usage: fuzz/corpus.py            needs a `cargo` that builds the workspace, for the model files
"""

import json
import struct
import subprocess
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
CORPUS = HERE / "corpus"
PART = "# ---\n"


def cells(page: Path) -> list[str]:
    """The blocks of Python in a page."""
    blocks = page.read_text().split("```python\n")[1:]
    return [block.split("```")[0] for block in blocks]


def write(target: str, name: str, content: bytes) -> None:
    folder = CORPUS / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content)


def write_code() -> None:
    """Each cell alone, and each with the three before it."""
    for page in sorted((ROOT / "tests/specs").rglob("*.md")):
        known = cells(page)
        for at, cell in enumerate(known):
            name = f"{page.stem}-{at:03}"
            write("parse", name, cell.encode())
            for target in ["check", "run"]:
                write(target, name, PART.join(known[max(0, at - 3) : at + 1]).encode())
    for program in sorted((ROOT / "frontend-lang/tests/programs").glob("*.py")):
        for target in ["parse", "check", "run"]:
            write(target, program.stem, program.read_bytes())


def write_models() -> None:
    """What the cells of models.ng dump."""
    (CORPUS / "model_file").mkdir(parents=True, exist_ok=True)
    command = ["cargo", "run", "--quiet", "--bin", "notegrad", "--", "run", str(HERE / "models.ng")]
    subprocess.run(command, cwd=ROOT, check=True)


def write_torch_files() -> None:
    """PyTorch's files, and the pickles in them; the first byte says which of the two it is."""
    for path in sorted((ROOT / "tests/torch_files").glob("*.pt")):
        write("torch_file", path.stem, b"\0" + path.read_bytes())
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                write("torch_file", f"{path.stem}-pickle", b"\1" + archive.read(f"{path.stem}/data.pkl"))


def frame(body: bytes, more: bool, command: bool = False) -> bytes:
    flags = (1 if more else 0) | (4 if command else 0)
    if len(body) < 256:
        return bytes([flags, len(body)]) + body
    return bytes([flags | 2]) + struct.pack(">Q", len(body)) + body


def greeting() -> bytes:
    return b"\xff" + bytes(8) + b"\x7f\x03\x00" + b"NULL".ljust(20, b"\0") + bytes(32)


def ready(kind: bytes) -> bytes:
    name = b"Socket-Type"
    return frame(b"\x05READY" + bytes([len(name)]) + name + struct.pack(">I", len(kind)) + kind, False, True)


def message(msg_type: str, content: dict) -> bytes:
    header = {"msg_id": "1", "session": "s", "username": "u", "date": "", "msg_type": msg_type, "version": "5.5"}
    parts = [b"<IDS|MSG>", b""] + [json.dumps(it).encode() for it in [header, {}, {}, content]]
    return b"".join(frame(part, at + 1 < len(parts)) for at, part in enumerate(parts))


def write_messages() -> None:
    contents = {
        "kernel_info_request": {},
        "execute_request": {"code": "1 + 1", "silent": False, "user_expressions": {"a": "1"}, "allow_stdin": True},
        "complete_request": {"code": "torch.re", "cursor_pos": 8},
        "inspect_request": {"code": "torch.relu", "cursor_pos": 5, "detail_level": 1},
        "is_complete_request": {"code": "for i in range(3):"},
        "history_request": {"hist_access_type": "range", "session": 0, "start": 1, "stop": 5, "raw": True},
    }
    opening = greeting() + ready(b"DEALER")
    for msg_type, content in contents.items():
        write("wire", msg_type, opening + message(msg_type, content))
    write("wire", "ping", opening + frame(b"\x04PING\x00\x0acontext", False, True))
    write("wire", "all", opening + b"".join(message(*it) for it in contents.items()))


if __name__ == "__main__":
    write_code()
    write_messages()
    write_torch_files()
    write_models()
    for folder in sorted(CORPUS.iterdir()):
        print(folder.name, len(list(folder.iterdir())))

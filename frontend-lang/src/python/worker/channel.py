"""The program of the process in which Python packages run, from the files of this folder; the modules around it are its other side.

Frames are a length of four bytes and a marshalled tuple (version 2 of the format). The notebook sends a request and waits; the answer is
a reply, before which may come calls back into the notebook, which it answers in the same way, and output. So both sides strictly take turns,
and what stands in shared memory belongs to the frame that was sent last.

What is passed: None, bool, int of 64 bits, float, complex, str and Ellipsis as they are, all else as a tuple that begins with a tag.
"""

import ast
import builtins
import contextlib
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
LIST, TUPLE, DICT, SET, FROZENSET, SLICE, RANGE, OBJECT, GUEST, ARRAY, DTYPE, TYPE, MADE = range(13)

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
# Seconds for which output is held back at most.
DELAY = 0.02
# Seconds that a process whose notebook is gone may take to end by itself.
PATIENCE = 1.0

PLAIN = {type(None), bool, float, complex, str, type(...)}
# Classes that both sides have.
SHARED = {int, float, complex, bool, str, list, tuple, dict, set, frozenset, object, type, slice, range}
DTYPES = {"b1", "i1", "i2", "i4", "i8", "u1", "u2", "f2", "f4", "f8", "c8", "c16"}


channel = os.fdopen(os.dup(0), "rb", 1 << 16)
channel_out = os.dup(0)
lifeline = os.dup(1)
os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
os.dup2(2, 1)
shared = os.open(os.environ.pop("NOTEGRAD_SHARED", os.devnull), os.O_RDWR)

sending = threading.RLock()
# Whether this is a copy of the process, which the notebook does not know.
is_child = False
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


def in_child():
    """A copy of the process keeps off the channel."""
    global is_child, sending
    is_child, sending = True, threading.RLock()
    for descriptor in (channel_out, lifeline):
        os.close(descriptor)
    os.dup2(os.open(os.devnull, os.O_RDWR), channel.fileno())
    sys.stdout, sys.stderr = os.fdopen(os.dup(1), "w", 1), os.fdopen(os.dup(2), "w", 1)


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
    # With all that it has started.
    os.killpg(0, signal.SIGKILL)


class Stream(io.TextIOBase):
    """`sys.stdout` and `sys.stderr`: what is written is shown by the notebook."""

    encoding = "utf-8"

    def __init__(self, name):
        self.name, self.parts, self.latest, self.waits = name, [], 0.0, threading.Event()
        threading.Thread(target=self.flush_later, name=f"notegrad {name}", daemon=True).start()

    def writable(self):
        return True

    def isatty(self):
        return False

    def write(self, text):
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        with sending:
            self.parts.append(text)
        now = time.monotonic()
        if ("\n" in text or "\r" in text) and now - self.latest > DELAY or len(self.parts) > 1000:
            self.latest = now
            self.flush()
        else:
            self.waits.set()
        return len(text)

    def flush(self):
        with Calm(), sending:
            text, self.parts = "".join(self.parts), []
            if text:
                send_bytes(marshal.dumps((OUTPUT, self.name == "<stderr>", text), 2))

    def flush_later(self):
        """What nobody flushes is sent soon."""
        while True:
            self.waits.wait()
            time.sleep(DELAY)
            self.waits.clear()
            self.flush()

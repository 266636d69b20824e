"""Where do the values of an LMDB database lie? The `lmdb` package says it, in a process of its own.

The package maps the file into memory and trusts it, so a damaged file can kill the process. The child reports plain
offsets, which any process can read with bounds checked.
"""

import ctypes
import faulthandler
import multiprocessing
import os
import resource
import signal
from collections.abc import Iterator
from itertools import pairwise
from multiprocessing.connection import Connection
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netdyno.data.codecs.files import File
from netdyno.data.codecs.optional import optional_module


def lmdb_library() -> ModuleType:
    return optional_module("lmdb", "lmdb", "to read and write its databases")


def values(file: File) -> tuple[list[bytes], NDArray[np.int64]]:
    """The keys in order, and offset and length of each value."""
    lmdb_library()  # so that the child need not import it
    lengths, joined, places = _from_child(file)
    keys = [joined[begin:end] for begin, end in pairwise([0, *np.cumsum(np.frombuffer(lengths, np.int64)).tolist()])]
    found = np.frombuffer(places, np.int64).reshape(-1, 2)
    ends = found.sum(axis=1)
    if len(found) and (found.min() < 0 or ends.max() > file.size):
        raise file.wrong(file.size, f"expected values up to byte {ends.max()}, received the file's end")
    if any(one >= other for one, other in pairwise(keys)):
        raise file.wrong(0, "expected sorted keys, received a damaged tree")
    return keys, found


def _from_child(file: File) -> list[bytes]:
    """What `_walk` finds, or an error that says why it did not come to its end."""
    if not file.size:
        raise file.wrong(0, "expected an LMDB database, received an empty file")
    context = multiprocessing.get_context("fork")  # no interpreter has to start, and the child needs nothing but lmdb
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=_report, args=(file.path, sender), daemon=True)
    child.start()
    sender.close()
    try:
        problem, *parts = [receiver.recv_bytes() for _ in range(4)]
    except EOFError:
        child.join()
        name = signal.Signals(-child.exitcode).name if child.exitcode and child.exitcode < 0 else child.exitcode
        problem = f"a damaged file; reading it ended with {name}".encode()
    finally:
        child.kill()
        child.join()
        receiver.close()
    if problem:
        raise file.wrong(0, f"expected a complete LMDB database, received {problem.decode(errors='replace')}")
    return parts


def _report(path: Path, sender: Connection) -> None:
    """Runs in the child, which may be killed at any point; then it leaves neither a core file nor a traceback."""
    faulthandler.disable()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends the child
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    try:
        parts = [b"", *_walk(path)]
    except Exception as error:  # whatever a damaged file makes the package raise
        parts = [f"one that cannot be read: {error}".encode()] * 4
    for part in parts:
        sender.send_bytes(part)


def _walk(path: Path) -> tuple[bytes, bytes, bytes]:
    """Lengths of the keys, the keys, and the places of the values."""
    with (
        lmdb_library().open(str(path.parent), readonly=True, lock=False) as database,
        database.begin(buffers=True) as transaction,
    ):
        base = _mapped_at(path)
        keys, places = [], list[tuple[int, int]]()
        for key, (address, length) in _located(transaction.cursor()):
            keys.append(key)
            places.append((address - base, length))
        expected, used_bytes = (
            transaction.stat()["entries"],
            (database.info()["last_pgno"] + 1) * database.stat()["psize"],
        )
    if used_bytes > path.stat().st_size:
        raise ValueError(f"expected {used_bytes} bytes, the file has {path.stat().st_size}")
    if len(keys) != expected:
        raise ValueError(f"expected {expected} values as its header says, received {len(keys)}")
    lengths = np.array([len(key) for key in keys], np.int64)
    return lengths.tobytes(), b"".join(keys), np.array(places, np.int64).tobytes()


class _Buffer(ctypes.Structure):
    """The beginning of CPython's `Py_buffer`, and room for the rest of it."""

    _fields_ = (
        ("address", ctypes.c_void_p),
        ("owner", ctypes.c_void_p),
        ("length", ctypes.c_ssize_t),
        ("rest", ctypes.c_char * 72),
    )


def _located(cursor: Any) -> Iterator[tuple[bytes, tuple[int, int]]]:
    """Keys, and address and length of their values in memory."""
    acquire, release = ctypes.pythonapi.PyObject_GetBuffer, ctypes.pythonapi.PyBuffer_Release
    acquire.argtypes, release.argtypes = [ctypes.py_object, ctypes.c_void_p, ctypes.c_int], [ctypes.c_void_p]
    buffer = _Buffer()
    pointer = ctypes.addressof(buffer)
    for key, value in cursor:
        acquire(value, pointer, 0)
        yield bytes(key), (buffer.address, buffer.length)
        release(pointer)


def _mapped_at(path: Path) -> int:
    """The address at which this process has mapped the file."""
    inode = str(os.stat(path).st_ino)
    for line in Path("/proc/self/maps").read_text().splitlines():
        addresses, _, offset, _, mapped, *_ = line.split()
        if mapped == inode and int(offset, 16) == 0:
            return int(addresses.partition("-")[0], 16)
    raise ValueError("a database that was not mapped")

"""One measurement at a time on a machine, whoever starts it, from whatever home: two would measure each other."""

import fcntl
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from netdyno.errors import NetdynoError

LOCK = "NETDYNO_LOCK"  # names another file, for tests that measure side by side
SHARED = Path("/dev/shm")  # the same for all users, empty after a restart


@contextmanager
def only_measurement() -> Iterator[None]:
    """Hold the machine's lock; it goes with the process. Reading suffices to lock, so any user may."""
    path = lock_path()
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
    except PermissionError:  # another user made it: Linux lets nobody else create it in a shared folder
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    with os.fdopen(descriptor) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise NetdynoError(
                f"expected an idle machine, received another measurement{_holder(descriptor)}.",
                hint="Wait for it to end: two at once would measure each other.",
            ) from None
        yield


def lock_path() -> Path:
    """A file that all users of this machine share."""
    if named := os.environ.get(LOCK):
        return Path(named)
    folder = SHARED if SHARED.is_dir() else Path(tempfile.gettempdir())
    return folder / "netdyno-measuring.lock"


def _holder(descriptor: int) -> str:
    """Which process has the lock, where the system says so."""
    inode = os.fstat(descriptor).st_ino
    try:
        locks = Path("/proc/locks").read_text()
    except OSError:
        return ""
    found = re.search(rf"FLOCK +ADVISORY +WRITE +(\d+) +\S+:{inode} ", locks)
    return f" in process {found[1]}" if found else ""

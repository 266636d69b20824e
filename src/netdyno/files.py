"""How a user's file is written: whole, or not at all."""

import glob
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from netdyno.errors import NetdynoError

RECENT_S = 60.0


@contextmanager
def replacing(path: Path, hint: str = "Name a file you may write.") -> Iterator[BinaryIO]:
    """A file that takes the place of an older one when all of it is written; until then the older one stays.

    A link keeps pointing where it does; what is no plain file (a pipe, a terminal, /dev/null) is written as it is.
    """
    try:
        if path.is_dir():
            raise NetdynoError(f"'{path}' is a folder.", hint="Name a file in it.")
        if path.exists() and not path.is_file():
            with path.open("wb") as file:
                yield file
            return
        with _draft(Path(os.path.realpath(path))) as file:
            yield file
    except OSError as error:
        raise NetdynoError(f"'{path}' cannot be written: {reason_of(error)}.", hint=hint) from error


def reason_of(error: OSError) -> str:
    """In small letters, as part of a sentence."""
    return (error.strerror or str(error)).lower()


@contextmanager
def _draft(path: Path) -> Iterator[BinaryIO]:
    _remove_abandoned(path)
    making = path.with_name(f"{path.name}.{os.getpid()}.making")
    try:
        with making.open("wb") as file:
            yield file
        if path.exists():
            shutil.copymode(path, making)
        os.replace(making, path)
    finally:
        making.unlink(missing_ok=True)


def _remove_abandoned(path: Path) -> None:
    """Drafts whose process was killed. One written to just now may be another machine's, on a shared disk."""
    for draft in path.parent.glob(f"{glob.escape(path.name)}.*.making"):
        writer = draft.name.split(".")[-2]
        if writer.isdigit() and not _is_running(int(writer)) and time.time() - draft.stat().st_mtime > RECENT_S:
            draft.unlink(missing_ok=True)


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:  # somebody else's
        return True
    return True

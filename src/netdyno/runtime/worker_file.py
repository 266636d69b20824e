"""The worker as one file: a zip that any Python from 3.6 on runs, named by the hash of what is in it."""

import hashlib
import importlib.util
import os
import tempfile
import zipfile
import zlib
from collections.abc import Iterable
from pathlib import Path

from netdyno.errors import NetdynoError

PACKAGE = "netdyno_worker"
# Once the last word is said there is nothing left to do: frameworks take seconds to tidy up, and some crash at it.
ENTRY = """import os
import sys

from netdyno_worker.main import main

code = main(sys.argv[1:])
sys.stdout.flush()
sys.stderr.flush()
os._exit(code)
"""
EPOCH = (1980, 1, 1, 0, 0, 0)  # the same bytes whenever they are packed


def pack_worker(folder: Path) -> Path:
    """`folder/worker-HASH.pyz`, made if it is not there or not what its name says; two processes may ask at once."""
    files = source_files()
    path = folder / f"worker-{_hash(files.items())}.pyz"
    if not is_intact(path):
        folder.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=folder, suffix=".making")
        os.close(handle)
        _write(Path(temporary), files)
        os.replace(temporary, path)
    return path


def check_worker(path: Path) -> None:
    """Before it is started: a packed worker that was damaged or replaced is packed again."""
    if not is_intact(path) and pack_worker(path.parent) != path:
        raise NetdynoError(
            f"'{path}' was changed, and the installed netdyno has another worker.", hint="Run the command again."
        )


def is_intact(path: Path) -> bool:
    """Whether a packed worker holds what the hash in its name was made of."""
    try:
        with zipfile.ZipFile(path) as archive:
            return _hash([(entry.filename, archive.read(entry)) for entry in archive.infolist()]) == worker_hash(path)
    except (OSError, zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError):
        return False


def worker_hash(path: Path) -> str:
    """The hash in a packed worker's name."""
    return path.stem.removeprefix("worker-")


def source_files() -> dict[str, bytes]:
    """Every source file of the worker by its name in the zip, found without importing it."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise NetdynoError("the worker package is missing from this installation.", hint="Install netdyno again.")
    root = Path(next(iter(spec.submodule_search_locations)))
    files = {f"{PACKAGE}/{path.relative_to(root).as_posix()}": path.read_bytes() for path in root.rglob("*.py")}
    return {"__main__.py": ENTRY.encode(), **dict(sorted(files.items()))}


def _hash(files: Iterable[tuple[str, bytes]]) -> str:
    content = hashlib.sha256()
    for name, data in files:
        content.update(f"{name}\0{len(data)}\0".encode() + data)
    return content.hexdigest()[:16]


def _write(path: Path, files: dict[str, bytes]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name, EPOCH), data)

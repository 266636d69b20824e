"""Where netdyno keeps environments and whatever else must outlive a command."""

import os
from collections.abc import Mapping
from pathlib import Path

from netdyno.errors import NetdynoError

OWNER_ONLY = 0o700


def home() -> Path:
    """The home folder, created for its owner alone if missing; an error if it is not writable.

    Workers are run from it: where nobody chose another folder, others are shut out of an older one too.
    """
    folder = home_path()
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=OWNER_ONLY, exist_ok=True)
        if "NETDYNO_HOME" not in os.environ and folder.stat().st_mode & 0o077:
            folder.chmod(OWNER_ONLY)
    except OSError as error:
        raise _unwritable(folder, error.strerror or str(error)) from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise _unwritable(folder, "permission denied")
    return folder


def home_path(variables: Mapping[str, str] = os.environ) -> Path:
    """The same folder without touching the disk."""
    if given := variables.get("NETDYNO_HOME"):
        return Path(os.path.abspath(os.path.expanduser(given)))
    cache = variables.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(os.path.abspath(cache)) / "netdyno"


def store_location(named: str | None = None) -> str:
    """The store named, else NETDYNO_STORE, else a file in netdyno's home."""
    return named or os.environ.get("NETDYNO_STORE") or str(home() / "results.sqlite")


def _unwritable(folder: Path, reason: str) -> NetdynoError:
    return NetdynoError(
        f"expected a home folder that can be written, received {folder}: {reason}.",
        hint="Name another one in NETDYNO_HOME.",
    )

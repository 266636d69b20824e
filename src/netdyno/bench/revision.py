"""At which git revision the user's folder is, read from git's own files.

No git is run: it would cost a process, may run what a folder's configuration names, and need not be installed.
So it is not known whether files were changed since.
"""

import re
from pathlib import Path

REVISION = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
LARGEST_BYTES = 2**24  # of a list of packed references


def find_revision(folder: Path) -> str:
    """The commit that is checked out in a folder or the nearest one above it; empty where there is none."""
    for place in (folder, *folder.parents):
        if (place / ".git").exists():
            return _head(_git_folder(place / ".git"))
    return ""


def _git_folder(path: Path) -> Path:
    """A worktree and a submodule have a file that names git's folder."""
    text = _read(path) if path.is_file() else ""
    return path.parent / text.removeprefix("gitdir:").strip() if text.startswith("gitdir:") else path


def _head(git: Path) -> str:
    head = _read(git / "HEAD").strip()
    if REVISION.fullmatch(head):
        return head
    match = re.fullmatch(r"ref:\s*(refs/[^\s]+)", head)
    if match is None or ".." in match[1]:
        return ""
    shared = git / (_read(git / "commondir").strip() or ".")
    places = (_read(place / match[1]).strip() for place in (git, shared))
    return next((found for found in places if REVISION.fullmatch(found)), "") or _packed(shared, match[1])


def _packed(git: Path, name: str) -> str:
    lines = (line.split() for line in _read(git / "packed-refs").splitlines())
    return next((words[0] for words in lines if words[1:] == [name] and REVISION.fullmatch(words[0])), "")


def _read(path: Path) -> str:
    """A file's text; empty where there is none to be read."""
    try:
        if path.stat().st_size > LARGEST_BYTES:
            return ""
        return path.read_text(errors="replace")
    except OSError:
        return ""

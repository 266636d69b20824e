"""Reading the kernel's text files under a root folder; what does not exist is None, never an error."""

import re
from pathlib import Path


def read_text(root: Path, path: str) -> str | None:
    """The file's text without surrounding blanks. `path` is absolute as on the machine: '/proc/stat'."""
    try:
        return (root / path.lstrip("/")).read_text(encoding="utf-8", errors="replace").strip("\0 \n\t")
    except OSError:
        return None


def read_int(root: Path, path: str) -> int | None:
    """The whole number a file holds."""
    text = read_text(root, path)
    return int(text) if text is not None and re.fullmatch(r"-?\d+", text) else None


def read_fields(root: Path, path: str) -> dict[str, str]:
    """The 'name: value' lines of a file such as /proc/meminfo; the first of a name counts."""
    fields: dict[str, str] = {}
    for line in (read_text(root, path) or "").splitlines():
        name, colon, value = line.partition(":")
        if colon:
            fields.setdefault(name.strip(), value.strip())
    return fields


def memory_bytes(root: Path, field: str) -> int | None:
    """A field of /proc/meminfo, which counts in KiB."""
    match = re.match(r"(\d+)\s*kB", read_fields(root, "/proc/meminfo").get(field, ""))
    return int(match[1]) * 1024 if match else None


def count_listed(text: str) -> int:
    """How many numbers a kernel list such as '0-3,8' has."""
    total = 0
    for first, last in re.findall(r"(\d+)(?:-(\d+))?", text):
        total += int(last or first) - int(first) + 1
    return total

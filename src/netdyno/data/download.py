"""How is a file downloaded? Continued where it was cut off, and from the next mirror if one fails."""

import http.client
import os
import re
import urllib.request
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from netdyno.data.catalog import Published
from netdyno.data.codecs.archives import md5_of
from netdyno.data.codecs.files import as_one_line
from netdyno.errors import NetdynoError

TIMEOUT_S = 20.0
ATTEMPTS = 5  # per mirror, as long as each makes progress
BLOCK_BYTES = 1 << 16

Progress = Callable[[str, int, int], None]  # file name, bytes so far, bytes in all


class Unusable(Exception):
    """A mirror serves nothing, or not what was published; another one may work."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetching:
    """A download; `partial` holds what is here so far, perhaps from an earlier command."""

    published: Published
    partial: Path
    progress: Progress
    timeout_s: float = TIMEOUT_S

    @property
    def here_bytes(self) -> int:
        return self.partial.stat().st_size if self.partial.exists() else 0


def download(fetching: Fetching, mirrors: Sequence[str]) -> None:
    """Complete `partial` and check its digest; the error names what each mirror did."""
    reasons = []
    for mirror in mirrors:
        try:
            return _from_mirror(mirror + fetching.published.name, fetching)
        except Unusable as reason:
            reasons.append(f"{mirror}: {reason}")
    raise NetdynoError(
        f"'{fetching.published.name}' is at none of {len(mirrors)} mirrors ({'; '.join(reasons)}).",
        hint="With a copy of your own: --from FOLDER.",
    )


def _from_mirror(url: str, fetching: Fetching) -> None:
    """At most two rounds: if a continued file is wrong, its first part may be from another mirror."""
    continued = fetching.here_bytes > 0
    _complete(url, fetching)
    received = md5_of(fetching.partial)
    if received == fetching.published.md5:
        return
    fetching.partial.unlink()
    if not continued:
        raise Unusable(f"expected the MD5 {fetching.published.md5}, received {received}")
    _from_mirror(url, fetching)


def _complete(url: str, fetching: Fetching) -> None:
    """Receive until all bytes are here; a broken connection is retried as long as it made progress."""
    reason, before, whole = "it sent nothing", -1, fetching.published.bytes
    for _ in range(ATTEMPTS):
        if fetching.here_bytes == whole or fetching.here_bytes <= before:
            break
        before = fetching.here_bytes
        try:
            _receive(url, fetching)
        except (OSError, http.client.HTTPException) as error:
            reason = str(getattr(error, "reason", "") or error) or type(error).__name__
    here = fetching.here_bytes
    if here != whole:
        raise Unusable(f"cut off at {here:,} of {whole:,} bytes: {reason}" if here else reason)


def _receive(url: str, fetching: Fetching) -> None:
    start, whole = fetching.here_bytes, fetching.published.bytes
    headers = {"User-Agent": "netdyno", **({"Range": f"bytes={start}-"} if start else {})}
    request = urllib.request.Request(url, headers=headers)
    with urllib.request.urlopen(request, timeout=fetching.timeout_s) as response:
        continues = response.status == http.HTTPStatus.PARTIAL_CONTENT
        announced = _continued_bytes(response, start) if continues else response.length
        if announced not in (None, whole):
            raise Unusable(f"expected a file of {whole:,} bytes, received one of {announced:,}")
        _append(response, fetching, start if continues else 0)


def _continued_bytes(response: http.client.HTTPResponse, start: int) -> int:
    """The size of the whole file, of which the bytes from `start` on follow."""
    given = response.headers.get("Content-Range", "")
    found = re.fullmatch(r"bytes (\d+)-\d+/(\d+)", given)
    if not found or int(found[1]) != start:
        raise Unusable(f"expected the bytes from {start:,} on, received '{given}'")
    return int(found[2])


def _append(response: IO[bytes], fetching: Fetching, start: int) -> None:
    """A full disk is reported as such: it is not the fault of the mirror."""
    path, done, whole = fetching.partial, start, fetching.published.bytes
    kept = "What came is kept; the same command continues."
    with as_one_line(path):
        path.touch()
        os.truncate(path, start)
        out = path.open("ab", buffering=0)
    with out:
        while data := response.read(BLOCK_BYTES):
            done += len(data)
            if done > whole:
                out.truncate(0)
                raise Unusable(f"expected {whole:,} bytes, received more")
            with as_one_line(path, hint=kept):
                out.write(data)
            fetching.progress(fetching.published.name, done, whole)
        os.fsync(out.fileno())

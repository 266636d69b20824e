"""How is a file downloaded? Continued where it was cut off, and from the next mirror if one fails."""

import http.client
import os
import re
import time
import urllib.request
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from netdyno.data.catalog import Published
from netdyno.data.codecs.archives import md5_of
from netdyno.errors import NetdynoError

TIMEOUT_S = 20.0
ATTEMPTS = 5  # per mirror, as long as each makes progress
BLOCK_BYTES = 1 << 16
SLOWEST_BYTES_PER_S = 1000.0
WINDOW_S = 30.0

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
            _from_mirror(mirror + fetching.published.name, fetching)
        except Unusable as reason:
            reasons.append(f"{mirror}: {reason}")
        else:
            return
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
    if continued:
        return _from_mirror(url, fetching)
    raise Unusable(f"expected the MD5 {fetching.published.md5}, received {received}")


def _complete(url: str, fetching: Fetching) -> None:
    """Receive until all bytes are here; a broken connection is retried as long as it made progress."""
    reason = "it sent nothing"
    for _ in range(ATTEMPTS):
        before = fetching.here_bytes
        if before == fetching.published.bytes:
            return
        try:
            _receive(url, fetching)
        except (OSError, http.client.HTTPException) as error:
            reason = str(getattr(error, "reason", "") or error) or type(error).__name__
        if fetching.here_bytes <= before:
            break
    if fetching.here_bytes != fetching.published.bytes:
        here, whole = fetching.here_bytes, fetching.published.bytes
        raise Unusable(f"{reason}" if not here else f"cut off at {here:,} of {whole:,} bytes: {reason}")


def _receive(url: str, fetching: Fetching) -> None:
    start = fetching.here_bytes
    headers = {"User-Agent": "netdyno", **({"Range": f"bytes={start}-"} if start else {})}
    request = urllib.request.Request(url, headers=headers)
    with urllib.request.urlopen(request, timeout=fetching.timeout_s) as response:
        whole = fetching.published.bytes
        announced = _announced_bytes(response, start)
        if announced not in (None, whole):
            raise Unusable(f"expected a file of {whole:,} bytes, received one of {announced:,}")
        continues = response.status == http.HTTPStatus.PARTIAL_CONTENT
        _append(response, fetching, start if continues else 0)


def _announced_bytes(response: http.client.HTTPResponse, start: int) -> int | None:
    """The size of the whole file according to the server; None if it does not say."""
    if response.status == http.HTTPStatus.PARTIAL_CONTENT:
        given = response.headers.get("Content-Range", "")
        found = re.fullmatch(r"bytes (\d+)-\d+/(\d+)", given)
        if not found or int(found[1]) != start:
            raise Unusable(f"expected the bytes from {start:,} on, received '{given}'")
        return int(found[2])
    length = response.headers.get("Content-Length", "")
    return int(length) if re.fullmatch(r"\d{1,18}", length) else None


def _append(response: IO[bytes], fetching: Fetching, start: int) -> None:
    with _opened_at(fetching.partial, start) as out:
        done, whole = start, fetching.published.bytes
        since, since_bytes = time.monotonic(), start
        while data := response.read(BLOCK_BYTES):
            done += len(data)
            if done > whole:
                out.truncate(0)
                raise Unusable(f"expected {whole:,} bytes, received more")
            _write(out, data)
            fetching.progress(fetching.published.name, done, whole)
            if time.monotonic() - since >= WINDOW_S:
                _refuse_slow(done - since_bytes, time.monotonic() - since)
                since, since_bytes = time.monotonic(), done
        os.fsync(out.fileno())


def _opened_at(path: Path, start: int) -> IO[bytes]:
    try:
        out = path.open("r+b" if path.exists() else "wb", buffering=0)
        out.truncate(start)
        out.seek(start)
    except OSError as error:
        raise NetdynoError(f"{path}: {error.strerror or error}.") from error
    return out


def _write(out: IO[bytes], data: bytes) -> None:
    """Write, and report a full disk as such: it is not the fault of the mirror."""
    try:
        out.write(data)
    except OSError as error:
        raise NetdynoError(
            f"{out.name}: {error.strerror or error}.", hint="What came is kept; the same command continues."
        ) from error


def _refuse_slow(got_bytes: int, seconds: float) -> None:
    if got_bytes / seconds < SLOWEST_BYTES_PER_S:
        raise Unusable(
            f"expected over {SLOWEST_BYTES_PER_S:,.0f} bytes a second, received {got_bytes / seconds:,.0f}"
        )

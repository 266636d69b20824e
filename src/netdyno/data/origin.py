"""Which data is it? A digest that is cheap enough to be computed before each conversion and each training.

Everything converted keeps the digest of what it was made from, so that no other data is mixed in. The digest covers
the number of items, the classes, what an index says of all items (names and sizes, and small files in full), and the
content: all of it up to 256 MiB of pixels or 1,024 items, beyond that 1,024 items spread evenly. In a larger split it
cannot see a change that touches none of those items and leaves names and sizes as they are.
"""

import hashlib
import math
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from netdyno.data.codecs.files import as_one_line
from netdyno.data.drawn import Shapes
from netdyno.data.item import About, IndexedSource, Origin, PixelSource, PlacedSource, Source, Subset
from netdyno.errors import NetdynoError

WHOLE_BYTES = 2**28  # of pixels that are read in full, as MNIST's and CIFAR10's are
SAMPLES = 1024
DRAWN_SAMPLES = 16  # drawn images depend on nothing but the code
BLOCK_BYTES = 2**22
SHOWN = 8  # digits in a message


def origin_of(source: Source) -> Origin:
    """What a conversion of the source keeps of it; a part of a split has the origin of the whole."""
    if isinstance(source, Subset):
        return origin_of(source.source)
    if not isinstance(source, PlacedSource):
        return Origin(digest=digest_of(source), place="drawn images")
    folder = source.place.resolve()
    return Origin(digest=digest_of(source), place=str(folder), state=state_of(folder))


def digest_of(source: Source) -> str:
    """The digest of the data, wherever it lies. Pixels of one shape have the same digest in every format."""
    about = source.about
    digest = hashlib.sha256(msgspec.json.encode((about.count, about.classes, about.shape)))
    for part in _content(source):
        digest.update(part)
    return digest.hexdigest()[:32]


def is_made_from(found: Source, given: Origin) -> bool:
    """Whether a split says so. One that says nothing, from an earlier version, may have exactly the same content."""
    made = found.about.origin
    return same(made, given) if made else digest_of(found) == given.digest


def is_unchanged(made: Origin, folder: Path) -> bool:
    """Whether it lay in this folder, and its files are as they were: then its content need not be read again."""
    place = Path(made.place)
    inside = folder.resolve() in (place, *place.parents)
    return inside and made.state != "" and place.is_dir() and state_of(place) == made.state


def same(one: Origin, other: Origin) -> bool:
    return one.digest == other.digest


def state_of(folder: Path) -> str:
    """A digest of names, sizes and times: of the files in a folder, and of the folders down to the second level."""
    with as_one_line(folder):
        lines = sorted(_states(folder, levels=2))
    return hashlib.sha256(b"\n".join(lines)).hexdigest()[:32]


def shown(origin: Origin | None) -> str:
    """For a message."""
    return f"{origin.place} (digest {origin.digest[:SHOWN]})" if origin else "data that it does not name"


def other_data(where: Path, made: Origin | None, given: Origin, hint: str) -> NetdynoError:
    """The error for a split that was made from something else."""
    return NetdynoError(f"{where}: expected it to be made from {shown(given)}, received {shown(made)}.", hint=hint)


def check_continues(folder: Path, before: Mapping[str, object], now: Mapping[str, object]) -> None:
    """Refuse to continue a split that was begun with other facts."""
    odd, hint = differing(before, now), f"Delete {folder} to start over, or choose another folder."
    made, given = (msgspec.convert(facts.get("origin"), Origin | None) for facts in (before, now))
    if "origin" in odd and given is not None:
        raise other_data(folder, made, given, hint)
    if odd:
        names = ", ".join(odd)
        message = f"{folder}: expected to continue a split with the same {names}, received another {names}."
        raise NetdynoError(message, hint=hint)


def differing(before: Mapping[str, object], now: Mapping[str, object]) -> list[str]:
    """The names of facts that are not the same; of an origin only the digest counts, as data may be moved."""
    names = before.keys() | now.keys()
    return sorted(name for name in names if _of_content(before.get(name)) != _of_content(now.get(name)))


def _content(source: Source) -> Iterator[bytes | memoryview]:
    about = source.about
    if isinstance(source, PixelSource) and about.count * math.prod(about.shape or (0,)) <= WHOLE_BYTES:
        yield from _pixels(source, about)
        return
    if isinstance(source, IndexedSource):
        yield from source.index()
    samples = min(about.count, DRAWN_SAMPLES if isinstance(source, Shapes) else SAMPLES)
    for number in range(samples):
        item = source.item(number * about.count // samples)
        yield msgspec.json.encode((item.label, item.pixels.shape if item.pixels is not None else None))
        yield item.encoded if item.encoded is not None else item.pixels.tobytes() if item.pixels is not None else b""


def _pixels(source: PixelSource, about: About) -> Iterator[memoryview]:
    """All of them with their labels; the size of a block depends on the shape alone."""
    step = max(1, BLOCK_BYTES // math.prod(about.shape or (1,)))
    for first in range(0, about.count, step):
        images, labels = source.pixels(first, min(first + step, about.count))
        yield memoryview(images.tobytes())
        yield memoryview(labels.tobytes())


def _states(folder: Path, levels: int) -> Iterator[bytes]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir() or levels == 2:
                found = entry.stat(follow_symlinks=os.path.exists(entry.path))
                yield f"{os.fsencode(entry.path)!r} {found.st_size} {found.st_mtime_ns}".encode()
            if entry.is_dir() and levels == 2:
                yield from _states(Path(entry.path), levels - 1)


def _of_content(fact: object) -> object:
    return fact.get("digest") if isinstance(fact, dict) else fact

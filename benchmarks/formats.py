"""Does a conversion lose anything, and how fast is it? Every format there and back, then against public tools.

    python benchmarks/formats.py --mnist FOLDER                  both tables, some five minutes on two cores
    python benchmarks/formats.py --mnist FOLDER --formats tar,lmdb --jpegs 500 --pairs 8

MNIST is the user's own copy; the JPEGs are made here, by seed. First each goes into every format and back, on all
cores, and all images and labels are compared: byte for byte where a format keeps encoded images, else pixel by pixel.
Then netdyno and the best public tool do the same job in turns, each in a process of its own: same items, same
contents, on the disk in the end. The ratio of a pair is public ÷ netdyno seconds: over 1, netdyno is faster.
Public tools are installed for the time of the run, next to nothing of netdyno.
"""

import argparse
import shutil
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from pathlib import Path

from formats_against import compare, comparisons, cores
from formats_photos import make_photos
from formats_tools import Tools

from netdyno.data.codecs.images import pixels_of
from netdyno.data.convert import Target, blocks, convert_split
from netdyno.data.formats.registry import format_to_write, formats, needs_pixels, open_split, written_formats
from netdyno.data.item import Item, PixelSource, Source
from netdyno.data.recipe import cut

SIZE = 224  # to which photos are cut where a format needs one shape
ROUND_TRIP = f"{'from':<8}{'to':<10}{'items':>8}{'MB':>9}{'write/s':>11}{'read/s':>12}{'back/s':>11}  identical"


@dataclass(frozen=True, kw_only=True)
class Origin:
    """What is converted: where it lies, in which format, its splits and channels."""

    name: str
    folder: Path
    format: str
    splits: tuple[str, ...]
    channels: int

    def size_in(self, format_name: str) -> int | None:
        return SIZE if self.format == "folder" and needs_pixels(format_name) else None


class Progress:
    """Tells on stderr what is done next, and how long the rest takes if it goes on like that."""

    def __init__(self, parts: int) -> None:
        self._parts, self._begun, self._start = parts, 0, time.monotonic()

    def begin(self, what: str) -> None:
        passed = time.monotonic() - self._start
        left = f", about {passed / self._begun * (self._parts - self._begun):.0f} s left" if self._begun > 3 else ""
        self._begun += 1
        print(f"[{self._begun}/{self._parts}{left}] {what}", file=sys.stderr, flush=True)


def main() -> None:
    options = read_options()
    chosen = options.formats.split(",") if options.formats else written_formats()
    for name in chosen:
        format_to_write(name)  # says so if there is none
    wanted = comparisons(chosen)
    progress = Progress(2 + 2 * len(chosen) + len(wanted))
    with tempfile.TemporaryDirectory(prefix="netdyno-formats-") as name:
        root = Path(name)
        progress.begin(f"making {options.jpegs} JPEGs")
        make_photos(root / "photos", options.jpegs)
        progress.begin("installing the public tools")
        tools = Tools.install(root / "tools")
        identical = there_and_back(root, origins(options.mnist, root), chosen, progress)
        ready_to_compare(root, origins(options.mnist, root), chosen)
        compare(wanted, tools, root, options.pairs, progress.begin)
    sys.exit(0 if identical else 1)


def origins(mnist: Path, root: Path) -> list[Origin]:
    return [
        Origin(name="mnist", folder=mnist, format="idx", splits=("train", "test"), channels=1),
        Origin(name="photos", folder=root / "photos", format="folder", splits=("train",), channels=3),
    ]


def there_and_back(root: Path, origins: list[Origin], chosen: Sequence[str], progress: Progress) -> bool:
    """Print a line for each format; is everything identical?"""
    print(f"{cores()} cores; there and back:\n{ROUND_TRIP}", flush=True)
    identical = True
    for origin in origins:
        for format_name in chosen:
            progress.begin(f"{origin.name} to {format_name} and back")
            identical &= report(origin, format_name, root / origin.name / format_name)
    return identical


def report(origin: Origin, format_name: str, place: Path) -> bool:
    """Convert, read, convert back; compare after both ways."""
    there, back = place / "there", place / "back"
    size = origin.size_in(format_name)
    write_s = timed(lambda: converted(origin.folder, there, format_name, (origin.splits, size)))
    read_s = timed(lambda: read_all(there, origin))
    back_s = timed(lambda: converted(there, back, origin.format, (origin.splits, None)))
    identical = all(same(origin, format_name, place, split) for split in origin.splits)
    items = sum(open_split(there, split).about.count for split in origin.splits)
    megabytes = sum(path.stat().st_size for path in there.rglob("*") if path.is_file()) / 1e6
    speeds = f"{items / write_s:>11,.0f}{items / read_s:>12,.0f}{items / back_s:>11,.0f}"
    print(f"{origin.name:<8}{format_name:<10}{items:>8,}{megabytes:>9.1f}{speeds}", end="")
    print(f"  {'yes' if identical else 'NO'}", flush=True)
    shutil.rmtree(back)
    if size:
        shutil.rmtree(there)
    return identical


def converted(source: Path, target: Path, format_name: str, what: tuple[Sequence[str], int | None]) -> None:
    """As `netdyno datasets convert` does."""
    splits, size = what
    wish = Target(format=format_name, folder=target, size=size, processes=cores())
    for split in splits:
        convert_split(open_split(source, split), split, wish, lambda done, speed: None)


def read_all(folder: Path, origin: Origin) -> None:
    """Every image as pixels, in this process alone; many at a time where they lie as such."""
    for split in origin.splits:
        source = open_split(folder, split)
        if isinstance(source, PixelSource):
            deque(blocks(source, 0), maxlen=0)
            continue
        for index in range(source.about.count):
            pixels_of(source.item(index), origin.channels)


def same(origin: Origin, format_name: str, place: Path, split: str) -> bool:
    """Are images and labels the same there, and back? In a folder for each class they are sorted by it."""
    channels = origin.channels if origin.channels == 1 or needs_pixels(format_name) else 0
    expected = expected_prints(origin, split, channels, origin.size_in(format_name))
    in_order = "folder" not in (format_name, origin.format)
    for way in ("there", "back"):
        found = list(prints(open_split(place / way, split), channels))
        if found != expected and (in_order or sorted(found) != sorted(expected)):
            return False
    return True


@cache
def expected_prints(origin: Origin, split: str, channels: int, size: int | None) -> list[tuple[int, bytes]]:
    return list(prints(open_split(origin.folder, split), channels, size))


def prints(source: Source, channels: int, size: int | None = None) -> Iterator[tuple[int, bytes]]:
    """Label and digest of every item: of its pixels in so many channels, or (0) of its bytes."""
    for index in range(source.about.count):
        item = source.item(index)
        yield item.label, blake2b(content(item, channels, size), digest_size=16).digest()


def content(item: Item, channels: int, size: int | None) -> bytes:
    if not channels:
        return item.encoded or b""
    pixels = cut(pixels_of(item, channels), size) if size else pixels_of(item, channels)
    return repr(pixels.shape).encode() + pixels.tobytes()


def ready_to_compare(root: Path, origins: list[Origin], chosen: Sequence[str]) -> None:
    """MNIST's plain files, which the user may have compressed."""
    mnist = root / "mnist" / "idx" / "there"
    if "idx" not in chosen:
        converted(origins[0].folder, mnist, "idx", (("train",), None))


def timed(job: Callable[[], None]) -> float:
    start = time.monotonic()
    job()
    return time.monotonic() - start


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mnist", type=Path, required=True, metavar="FOLDER", help="with MNIST's four files")
    parser.add_argument("--jpegs", type=int, default=2000, help="how many to make")
    parser.add_argument("--formats", metavar="A,B", help=f"of {', '.join(formats())}; all that can be written")
    parser.add_argument("--pairs", type=int, default=6, help="for each comparison")
    return parser.parse_args()


if __name__ == "__main__":
    main()

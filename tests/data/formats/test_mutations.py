"""336 damaged files over all readers: each is refused in one sentence, or read as if nothing had happened to it.

What no reader could see is not tried: raw pixels and labels have no checksum in most formats, so a flipped pixel, or
a label that becomes another valid one, is simply another dataset. Encoded images are PNGs here: they carry checksums,
so every byte of them may be hit. Elsewhere it is headers, lengths, counts, names, tails, and labels beyond the last.
"""

import gzip
import resource
import signal
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import psutil
import pytest
from tests.data import pickles
from tests.data.samples import encoded_items, pixel_items, write

from netdyno.data.codecs.images import pixels_of
from netdyno.data.formats import (
    cifar,
    cifar_pickle,
    cntk_map,
    idx,
    ilsvrc,
    image_folder,
    lmdb_datum,
    packed,
    recordio,
    tar_shards,
    tfrecord,
)
from netdyno.data.formats.registry import formats
from netdyno.errors import NetdynoError

EACH = 28  # mutations
LIMIT_S = 20
MORE_MEMORY_BYTES = 1 << 29
PIXELS = pixel_items(12, (6, 5, 3))
IMAGES = [replace(item, name=f"{index}.png") for index, item in enumerate(encoded_items(12, "PNG"))]


def _idx(root: Path) -> None:
    write(idx, root, PIXELS)


def _idx_packed(root: Path) -> None:
    write(idx, root, PIXELS)
    for path in root.glob("*ubyte"):
        path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()


def _pickles(root: Path) -> None:
    for name, data in pickles.archive_files().items():
        (root / name).write_bytes(data)


def _tars_of_tars(root: Path) -> None:
    with tarfile.open(root / "ILSVRC2012_img_train.tar", "w") as outer:
        for name in ("n00000001", "n00000002"):
            inner = root / f"{name}.tar"
            with tarfile.open(inner, "w") as tar:
                for item in IMAGES[:3]:
                    (root / item.name).write_bytes(item.encoded)
                    tar.add(root / item.name, f"{name}_{item.name}.JPEG")
                    (root / item.name).unlink()
            outer.add(inner, inner.name)
            inner.unlink()


def _written(module, items):
    return lambda root: write(module, root, items)


FILES = {
    "idx": (idx, _idx),
    "idx, compressed": (idx, _idx_packed),
    "cifar": (cifar, _written(cifar, PIXELS)),
    "cifar, pickled": (cifar_pickle, _pickles),
    "packed": (packed, _written(packed, PIXELS)),
    "folder": (image_folder, _written(image_folder, IMAGES)),
    "ilsvrc": (ilsvrc, _tars_of_tars),
    "tar": (tar_shards.FORMAT, _written(tar_shards.FORMAT, IMAGES)),
    "lmdb": (lmdb_datum, _written(lmdb_datum, IMAGES)),
    "recordio": (recordio.FORMAT, _written(recordio.FORMAT, IMAGES)),
    "tfrecord": (tfrecord.FORMAT, _written(tfrecord.FORMAT, IMAGES)),
    "map": (cntk_map.FORMAT, _written(cntk_map.FORMAT, IMAGES)),
}


def test_every_reader_is_tried_and_there_are_336_files():
    assert {module.NAME for module, _ in FILES.values()} == set(formats())
    assert len(FILES) * EACH == 336


@pytest.mark.parametrize("name", FILES)
def test_a_damaged_file_is_refused_or_read_as_it_was(tmp_path, name):
    module, make = FILES[name]
    make(tmp_path)
    expected = _read(module, tmp_path)
    draws = np.random.RandomState(list(FILES).index(name))
    wrong, refused = [], 0
    with _limited():
        for number in range(EACH):
            what, outcome = _try(module, tmp_path, draws, expected)
            refused += outcome == "refused"
            if outcome not in ("refused", "the same"):
                wrong.append(f"{number}: {what}: {outcome}")
    assert wrong == []
    assert refused >= EACH // 3, "mutations that nobody notices prove nothing"


def _try(module, root, draws, expected):
    """Damage a file, read everything, put the file back; what was done and what came of it."""
    path, was = _choose(root, draws)
    what, data = _mutated(path, was, draws)
    path.write_bytes(data)
    signal.alarm(LIMIT_S)
    try:
        outcome = "the same" if _read(module, root) == expected else "wrong data in silence"
    except NetdynoError as error:
        outcome = "refused" if len(str(error).splitlines()) == 1 and str(error) else "refused in several lines"
    except Exception as error:
        outcome = f"{type(error).__name__}: {error}"
    finally:
        signal.alarm(0)
        path.write_bytes(was)
    return f"{path.name} {what}", outcome


def _read(module, root):
    source = module.open(root, "train")
    items = [source.item(index) for index in range(source.about.count)]
    return sorted((item.label, pixels_of(item, 3).tobytes()) for item in items)


def _choose(root, draws):
    paths = sorted(path for path in root.rglob("*") if path.is_file())
    path = paths[draws.randint(len(paths))]
    return path, path.read_bytes()


def _mutated(path, data, draws):
    """What was done, and the result. A set top bit makes a small label large, a digit no digit, a length a lie."""
    kind = ("cut", "top bit", "top bit", "all bits", "longer", "header", "doubled")[draws.randint(7)]
    at = int(draws.choice(_visible(path, data)))
    changed = bytearray(data)
    if kind == "cut":
        at = draws.randint(len(data))
        changed = changed[:at]
    elif kind == "top bit":
        changed[at] ^= 0x80
    elif kind == "all bits":
        run = [place for place in range(at, at + 4) if place in _visible(path, data)]
        for place in run:
            changed[place] = 0xFF
    elif kind == "longer":
        changed += draws.bytes(int(draws.randint(1, 5000)))
    elif kind == "header":
        places = _visible(path, data)[:64]
        for place in draws.choice(places, 3):
            changed[place] ^= 0x80
    else:
        changed = changed[:at] + changed[at // 2 : at] + changed[at:]
    return f"{kind} at {at}", bytes(changed)


def _visible(path, data):
    """The places whose change can be noticed: all but pixels that lie there as they are."""
    hidden = np.zeros(len(data), bool)
    if path.suffix not in (".gz", ".png"):
        for pixels in _raw_pixels():
            at = data.find(pixels)
            if at >= 0:
                hidden[at : at + len(pixels)] = True
    return np.flatnonzero(~hidden)


def _raw_pixels() -> Iterator[bytes]:
    for item in PIXELS:
        yield item.pixels.tobytes()
        yield item.pixels.transpose(2, 0, 1).tobytes()
    for seed in range(6):
        yield pickles.planes(seed, 4).tobytes()


@contextmanager
def _limited():
    """Neither hours nor gigabytes: a header that lies about a size must not be believed."""

    def too_long(*_):
        raise TimeoutError(f"over {LIMIT_S} s")

    before = resource.getrlimit(resource.RLIMIT_AS)
    handler = signal.signal(signal.SIGALRM, too_long)
    used = psutil.Process().memory_info().vms
    resource.setrlimit(resource.RLIMIT_AS, (used + MORE_MEMORY_BYTES, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
        signal.signal(signal.SIGALRM, handler)

"""An LMDB database of Datum messages, keyed by number and name: `train_lmdb/data.mdb`.

Pixels of one shape are stored as such, plane after plane, blue first, as its framework decodes images and as its tool
for folders writes them. The tool for CIFAR writes red first; a sidecar can say so. Others are stored encoded."""

import functools
import json
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, replace
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from netdyno.data.codecs.files import File, as_one_line, sync_path
from netdyno.data.codecs.images import check_complete, encoded_of
from netdyno.data.codecs.lmdb_index import lmdb_library, values
from netdyno.data.codecs.names import PackedNames, numbered_name, own_name
from netdyno.data.codecs.protobuf import bytes_field, fields, number_field, signed
from netdyno.data.formats.records import Place, Records
from netdyno.data.item import SPLITS, About, Item, Pixels, Writer
from netdyno.data.origin import check_continues
from netdyno.data.partial import begin_folder
from netdyno.data.sidecar import about_items, checked_label, find_about
from netdyno.errors import NetdynoError

NAME = "lmdb"
Shape = tuple[int, int, int]

_DATABASE, _LOCK, _SIDECAR = "data.mdb", "lock.mdb", "about.json"
_ORDER, _RED_FIRST, _BLUE_FIRST = "channels", "rgb", "bgr"  # beside the database
_FIRST_MAP_BYTES = 2**26
_MOST_ITEMS = 10**8  # keys are sorted as text
_CHANNELS, _HEIGHT, _WIDTH, _DATA, _LABEL, _FLOATS, _ENCODED = range(1, 8)  # fields of a Datum
_NUMBERS = (_CHANNELS, _HEIGHT, _WIDTH, _LABEL, _ENCODED)


def find(root: Path) -> Sequence[str]:
    return [split for split in SPLITS if (_folder(root, split) / _DATABASE).is_file()]


def open(root: Path, split: str) -> Records:
    """Reads the keys of the database, and the images if no sidecar names the classes."""
    file = File(_folder(root, split) / _DATABASE)
    sidecar = file.path.with_name(_SIDECAR)
    keys, places = values(file)
    shapes: set[Shape | None] = set()
    about = about_items(sidecar, len(keys), _labels(file, places, shapes))
    if len(shapes) == 1 and (shape := shapes.pop()) is not None:
        about = replace(about, shape=shape)
    rows = np.insert(places, 0, 0, axis=1)
    read = functools.partial(_red_first, turn=_is_blue_first(sidecar))
    return Records(about=about, files=(file,), places=rows, read=read, names=PackedNames(keys))


def create(root: Path, split: str, about: About) -> Writer:
    if about.count > _MOST_ITEMS:
        raise NetdynoError(f"{NAME}: expected at most {_MOST_ITEMS} items, received {about.count}.")
    target = _folder(root, split)
    return DatumWriter(begin_folder(root, NAME, split, [target]), target, about)


class DatumWriter:
    """Every write is a transaction, so what the database counts is safe."""

    def __init__(self, folder: Path, target: Path, about: About) -> None:
        self.wants_pixels = about.shape is not None
        self._folder, self._target, self._about = folder, target, about
        _claim(folder, about)
        with _safely(folder):
            self._environment = lmdb_library().open(str(folder), map_size=_FIRST_MAP_BYTES)
            self._done = int(self._environment.stat()["entries"])

    @property
    def done(self) -> int:
        return self._done

    def write(self, items: Sequence[Item]) -> None:
        for index, item in enumerate(items, self.done):
            checked_label(item.label, self._about, f"item {index} ('{item.where}')")
        pairs = [_pair(index, item) for index, item in enumerate(items, self.done)]
        with _safely(self._folder):
            while not self._commit(pairs):
                self._environment.set_mapsize(2 * self._environment.info()["map_size"])
        self._done += len(pairs)

    def finish(self) -> None:
        self.close()
        with _safely(self._folder):
            (self._folder / _LOCK).unlink(missing_ok=True)
            os.rename(self._folder, self._target)

    def close(self) -> None:
        self._environment.close()

    def discard(self) -> None:
        self.close()
        with _safely(self._folder):
            shutil.rmtree(self._folder)

    def _commit(self, pairs: list[tuple[bytes, bytes]]) -> bool:
        """False if the map is too small; then nothing was written."""
        try:
            with self._environment.begin(write=True) as transaction, transaction.cursor() as cursor:
                _, added = cursor.putmulti(pairs, append=True)
                if added != len(pairs):
                    raise NetdynoError(f"{self._folder}: another process is writing this split too.")
        except lmdb_library().MapFullError:
            return False
        return True


def _folder(root: Path, split: str) -> Path:
    return root / f"{split}_lmdb"


def _claim(folder: Path, about: About) -> None:
    """Start, or continue if the same split was started; a damaged database would end the process."""
    sidecar, said = folder / _SIDECAR, msgspec.json.encode({**asdict(about), _ORDER: _BLUE_FIRST})
    database, before = File(folder / _DATABASE), _before(sidecar)
    begun = database.path.exists() and database.size > 0 and len(values(database)[0]) > 0
    if before and begun:
        check_continues(folder, before, msgspec.json.decode(said))
    else:
        with _safely(folder):
            _write_whole(sidecar, said)


def _before(sidecar: Path) -> dict[str, object]:
    """What the split was begun with; empty if it was not."""
    if find_about(sidecar) is None:
        return {}
    said: dict[str, object] = json.loads(sidecar.read_bytes())
    return said


def _is_blue_first(sidecar: Path) -> bool:
    """The usual order, unless a sidecar says otherwise. A sidecar without the order is from the time of red first."""
    if not sidecar.exists():
        return True
    order = json.loads(sidecar.read_bytes()).get(_ORDER, _RED_FIRST)  # it was read before, and is an object
    if order not in (_RED_FIRST, _BLUE_FIRST):
        raise NetdynoError(f"{sidecar}, {_ORDER}: expected {_RED_FIRST} or {_BLUE_FIRST}, received {order!r}.")
    return bool(order == _BLUE_FIRST)


def _turned(pixels: Pixels) -> Pixels:
    """With red and blue swapped; images without three colours stay."""
    return pixels[:, :, ::-1] if pixels.shape[2] == 3 else pixels


def _labels(file: File, places: NDArray[np.int64], shapes: set[Shape | None]) -> Iterator[int]:
    """The labels of all items; collects their shapes on the way."""
    for place in places.tolist():
        item = _item(file, place, "")
        height, width, channels = (0, 0, 0) if item.pixels is None else item.pixels.shape
        shapes.add((height, width, channels) if height else None)
        yield item.label


def _red_first(file: File, place: Place, key: str, *, turn: bool) -> Item:
    item = _item(file, place, key)
    if item.pixels is None:
        return item
    return replace(item, pixels=np.ascontiguousarray(_turned(item.pixels) if turn else item.pixels))


def _item(file: File, place: Place, key: str) -> Item:
    """The item in a Datum, its colours in the order they have there."""
    offset, length = place
    where = f"{file.path}, value at byte {offset}"
    datum = dict(fields(file.read(offset, length), where))
    data, numbers = _sorted_out(datum, where)
    name, label = own_name(key), signed(numbers.get(_LABEL, 0))
    if numbers.get(_ENCODED, 0):
        check_complete(data, where)
        return Item(name=name, label=label, encoded=data, place=where)
    channels, height, width = (numbers.get(field, 0) for field in (_CHANNELS, _HEIGHT, _WIDTH))
    if not data or len(data) != channels * height * width:
        raise NetdynoError(f"{where}: expected {channels} × {height} × {width} pixels, received {len(data)} bytes.")
    planes = np.frombuffer(data, np.uint8).reshape(channels, height, width)
    return Item(name=name, label=label, pixels=planes.transpose(1, 2, 0))


def _sorted_out(datum: dict[int, int | bytes], where: str) -> tuple[bytes, dict[int, int]]:
    """A Datum's bytes and its numbers."""
    numbers = {field: value for field, value in datum.items() if isinstance(value, int)}
    data = datum.get(_DATA, b"")
    if isinstance(data, int) or _FLOATS in datum or not numbers.keys() >= datum.keys() & {*_NUMBERS}:
        raise NetdynoError(f"{where}: expected a Datum with bytes as its data, received fields {sorted(datum)}.")
    return data, numbers


def _pair(index: int, item: Item) -> tuple[bytes, bytes]:
    """Key and value."""
    if item.pixels is None:
        data, numbers = encoded_of(item), {_LABEL: item.label, _ENCODED: 1}
    else:
        data = _turned(item.pixels).transpose(2, 0, 1).tobytes()
        height, width, channels = item.pixels.shape
        numbers = {_CHANNELS: channels, _HEIGHT: height, _WIDTH: width, _LABEL: item.label}
    key = numbered_name(index, item.name, data if item.pixels is None else None).encode()
    fields = [(field, number_field(field, value)) for field, value in numbers.items()]
    return key, b"".join(part for _, part in sorted([*fields, (_DATA, bytes_field(_DATA, data))]))


def _safely(folder: Path) -> AbstractContextManager[None]:
    hint = "What was written before is safe. Once that is fixed, the same command continues after it."
    return as_one_line(folder, "cannot write: ", hint, (lmdb_library().Error, OSError))


def _write_whole(path: Path, data: bytes) -> None:
    """A small file that is there with all its bytes or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{os.getpid()}.partial")
    draft.write_bytes(data)
    sync_path(draft)
    os.replace(draft, path)

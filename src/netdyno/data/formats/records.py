"""How are splits of records read and written? Their formats differ in how files are named, divided and encoded."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from netdyno.data.codecs.files import File
from netdyno.data.codecs.names import PackedNames
from netdyno.data.item import SPLITS, About, Item, check_index
from netdyno.data.partial import begin_folder, is_unfinished
from netdyno.data.sidecar import about_items, checked_label, sidecar_path, sidecar_piece
from netdyno.data.writer import Layout, SplitWriter
from netdyno.errors import NetdynoError

_NAMES = {"train": ("train",), "test": ("test", "validation", "val")}  # of a split, by other tools too
WHOLE_BYTES = 2**28
STEP = 2**22

Place = Sequence[int]  # where a record lies in its file, the offset first
Rows = Sequence[Place] | NDArray[np.int64]
Read = Callable[[File, Place, str], Item]  # the name is the record's in an index, or its number
Walk = Callable[[File], tuple[Rows, list[bytes]]]  # the places in a file, and their names if they have any


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Records:
    """A split of records. A row of `places` is the number of a file, then the place in it."""

    about: About
    files: tuple[File, ...]
    places: NDArray[np.int64]
    read: Read
    names: PackedNames | None = None
    left_out: Mapping[str, int] = field(default_factory=dict)

    @property
    def place(self) -> Path:
        return self.files[0].path.parent

    def index(self) -> Iterator[bytes]:
        """Where all records lie, and all content of files that are small together."""
        yield self.places.tobytes()
        if sum(file.size for file in self.files) <= WHOLE_BYTES:
            for file in self.files:
                yield from (file.read(at, min(STEP, file.size - at)) for at in range(0, file.size, STEP))

    def item(self, index: int) -> Item:
        check_index(index, self.about, self.files[0].path)
        number, *place = self.places[index].tolist()
        file, name = self.files[number], self.names[index].decode(errors="replace") if self.names else str(index)
        item = self.read(file, place, name)
        if not 0 <= item.label < len(self.about.classes):
            checked_label(item.label, self.about, f"{file.path}, item {index}, record at byte {place[0]}")
        if item.pixels is not None and self.about.shape not in (None, item.pixels.shape):
            received = f"expected pixels {self.about.shape}, received {item.pixels.shape}"
            raise NetdynoError(f"{file.path}, item {index}: {received}.")
        return item


def places_of(rows: Rows, number: int = 0) -> NDArray[np.int64]:
    """Places in the file of that number."""
    return np.insert(np.asarray(rows, np.int64), 0, number, axis=1)


def no_problem(_split: str, _names: Sequence[str]) -> None:
    return


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordFormat:
    """A format of encoded images in files named after the split. `problem` says what is wrong with a set of files."""

    NAME: str
    pattern: str  # of the names of files, after the split
    walk: Walk
    read: Read
    label: Callable[[File, Place], int]
    layout: Callable[[str, About], Layout]
    problem: Callable[[str, Sequence[str]], str | None] = no_problem
    beside: str = ""  # another file or folder that is written, after the split
    sidecar: str = ""  # after the split, if it is not the usual one

    def find(self, root: Path) -> Sequence[str]:
        found = [split for split in SPLITS if self._present(root, split)[1]]
        return [split for split in found if not is_unfinished(root, self.NAME, split)]

    def open(self, root: Path, split: str) -> Records:
        """Reads where the records lie, and all labels if no sidecar names the classes."""
        prefix, paths = self._present(root, split)
        names = [path.name for path in paths]
        problem = self.problem(prefix, names) if paths else f"expected a {split} split, received none"
        if problem:
            raise NetdynoError(f"{root} ({self.NAME}): {problem}.")
        files = tuple(map(File, paths))
        walked = [self.walk(file) for file in files]
        parts = [places_of(rows, number) for number, (rows, _) in enumerate(walked) if len(rows)]
        places = np.concatenate(parts) if parts else np.zeros((0, 1), np.int64)
        labels = (self.label(files[number], place) for number, *place in (row.tolist() for row in places))
        about = about_items(self._sidecar(root, split), len(places), labels)
        found = [name for _, names in walked for name in names]
        packed = PackedNames(found) if found else None
        left_out = self._left_out(root, split, prefix)
        return Records(about=about, files=files, places=places, read=self.read, names=packed, left_out=left_out)

    def create(self, root: Path, split: str, about: About) -> SplitWriter:
        beside = [root / f"{split}{self.beside}"] if self.beside else []
        folder = begin_folder(root, self.NAME, split, [*self._present(root, split)[1], *beside])
        head = [sidecar_piece(self._sidecar(root, split), about)]
        return SplitWriter(folder, about, self.layout(split, about), head)

    def _present(self, root: Path, split: str) -> tuple[str, list[Path]]:
        """What the names of a split's files begin with, and the files."""
        return next(((name, paths) for name in _NAMES[split] if (paths := self._files(root, name))), (split, []))

    def _files(self, root: Path, name: str) -> list[Path]:
        paths = root.glob(f"{name}*")
        return sorted(path for path in paths if re.fullmatch(name + self.pattern, path.name) and path.is_file())

    def _left_out(self, root: Path, split: str, read: str) -> dict[str, int]:
        others = {name: len(self._files(root, name)) for name in _NAMES[split] if name != read}
        return {f"files of {name}, beside those of {read}": count for name, count in others.items() if count}

    def _sidecar(self, root: Path, split: str) -> Path:
        return root / f"{split}{self.sidecar}" if self.sidecar else sidecar_path(root, self.NAME, split)

"""How images become files in a folder for each class, under names that every reader sorts as the labels are."""

import re
from collections.abc import Sequence
from pathlib import Path

from netdyno.data.codecs.images import check_complete, encoded_of
from netdyno.data.item import About, Item, facts
from netdyno.data.names import suffixes_of
from netdyno.data.partial import PartialSplit, Piece
from netdyno.data.pixel_writer import check_all_written, check_room
from netdyno.data.sidecar import about_piece, checked_label
from netdyno.errors import NetdynoError

_LONGEST_NAME_BYTES = 200  # with number and suffix below the 255 that file systems have for it
_SUFFIX = re.compile(r"\.(jpe?g|png)", re.IGNORECASE)


class FolderWriter:
    """Files under `name` in a partial folder, and beside it a sidecar with count and classes."""

    wants_pixels = False

    def __init__(self, folder: Path, name: str, about: About, sidecar: str) -> None:
        if about.count < 1:
            raise NetdynoError(f"{folder.parent}: expected at least one item to write, received {about.count}.")
        self._folder, self._name, self._about, self._sidecar = folder, name, about, sidecar
        self._folders = class_folders(about.classes)
        self._split = PartialSplit(folder, facts(about))

    @property
    def done(self) -> int:
        """How many items are safe."""
        return self._split.done

    def write(self, items: Sequence[Item]) -> None:
        """A file for each item; a name that its class has already is put behind the item's number."""
        check_room(self.done + len(items), self._about)
        taken: set[str] = set()
        pieces = [] if self.done else [about_piece(self._sidecar, self._about)]
        for index, item in enumerate(items, self.done):
            piece = self._piece(index, item, taken)
            taken.add(piece.name)
            pieces.append(piece)
        self._split.write(pieces, len(items))

    def finish(self) -> None:
        """Make the folder visible; classes without images have theirs too, so that no reader counts without them."""
        check_all_written(self.done, self._about)
        self._make_class_folders()
        self._split.finish()

    def close(self) -> None:
        """Let another process continue."""
        self._split.close()

    def _piece(self, index: int, item: Item, taken: set[str]) -> Piece:
        label = checked_label(item.label, self._about, f"image {item.name}")
        encoded = encoded_of(item)
        check_complete(encoded, item.name)
        folder, name = f"{self._name}/{self._folders[label]}", file_name(item.name, encoded)
        path = f"{folder}/{name}"
        if path in taken or (self._folder / path).exists():
            path = f"{folder}/{index:08d}-{name}"
        return Piece(name=path, data=encoded, whole=True)

    def _make_class_folders(self) -> None:
        if not (self._folder / self._name).exists():
            return  # it was moved already
        try:
            for name in self._folders:
                (self._folder / self._name / name).mkdir(exist_ok=True)
        except OSError as error:
            raise NetdynoError(f"{error.filename}: expected to make a folder, received: {error.strerror}.") from error


def class_folders(classes: Sequence[str]) -> list[str]:
    """The classes' names, made harmless, and behind numbers where their order by name is not that of the labels."""
    names = [_harmless(name) for name in classes]
    if names == sorted(set(names)):
        return names
    digits = len(str(len(names) - 1))
    return [f"{label:0{digits}d}_{name}" for label, name in enumerate(names)]


def file_name(name: str, encoded: bytes) -> str:
    """The item's own name if it is one of an image, else with the suffix of its content."""
    harmless = _harmless(name)
    return harmless if _SUFFIX.fullmatch(Path(harmless).suffix) else harmless + suffixes_of(encoded, name)[0]


def _harmless(name: str) -> str:
    """Nothing that leads to another folder, is hidden, would be taken for unfinished, or is too long for a disk."""
    short = name.encode(errors="replace")[-_LONGEST_NAME_BYTES:].decode(errors="ignore").strip()
    return re.sub(r"[/\\\x00-\x1f]|^\.|\.partial$", "_", short) or "_"

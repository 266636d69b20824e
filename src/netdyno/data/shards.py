"""How do records get into shards? One after another, each shard filled before the next is begun."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from netdyno.data.item import About, facts
from netdyno.data.partial import PartialSplit, Piece
from netdyno.data.sidecar import about_piece

ITEMS_A_SHARD = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Shards:
    """What they look like: names by number, the file beside them, when one is full, and what ends each."""

    name_of: Callable[[int], str]
    sidecar: str
    largest_bytes: int = 2**62
    end: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """Where the next record goes: the shard, the items and bytes that it has; `ended` once nothing more comes."""

    shard: int = 0
    items: int = 0
    size: int = 0
    ended: bool = False


class ShardWriter:
    """Appends records, an item each, to shards of at most 1,000 items."""

    def __init__(self, folder: Path, about: About, shards: Shards) -> None:
        self._about, self._shards = about, shards
        self._split = PartialSplit(folder, facts(about))

    @property
    def done(self) -> int:
        return self._split.done

    def write(self, records: Sequence[bytes]) -> None:
        """On disk when it returns."""
        if not records:
            return
        runs = list(self._runs(records))
        pieces = [self._piece(place, data) for place, data in runs]
        last, data = runs[-1]
        after = _Place(shard=last.shard, items=last.items, size=last.size + len(data))
        self._split.write(pieces, len(records), asdict(after))

    def finish(self) -> None:
        """End the last shard and make all of them visible."""
        place = self._place()
        if not place.ended:
            ended = _Place(shard=place.shard, items=place.items, size=place.size, ended=True)
            pieces = [self._piece(place, self._shards.end), about_piece(self._shards.sidecar, self._about)]
            self._split.write(pieces, 0, asdict(ended))
        self._split.finish()

    def close(self) -> None:
        self._split.close()

    def _place(self) -> _Place:
        return _Place(**self._split.state)

    def _piece(self, place: _Place, data: bytes) -> Piece:
        return Piece(name=self._shards.name_of(place.shard), data=data, at=place.size)

    def _runs(self, records: Sequence[bytes]) -> Iterator[tuple[_Place, bytes]]:
        """The bytes for each shard that takes some of the records, with where they begin there. A run's place counts
        the items that the shard has after it."""
        begin = self._place()
        shard, items, run = begin.shard, begin.items, list[bytes]()
        size = at = begin.size
        for record in records:
            if items == ITEMS_A_SHARD or (items and size + len(record) > self._shards.largest_bytes):
                yield _Place(shard=shard, items=items, size=at), b"".join((*run, self._shards.end))
                shard, items, run, size, at = shard + 1, 0, [], 0, 0
            run.append(record)
            items, size = items + 1, size + len(record)
        yield _Place(shard=shard, items=items, size=at), b"".join(run)

"""A part of a split, spread evenly over it: sorted by class as most are, its beginning would be one class only."""

from dataclasses import dataclass, replace

from netdyno.data.item import About, Item, Source
from netdyno.errors import NetdynoError


@dataclass(frozen=True, slots=True, kw_only=True)
class Subset:
    """As a source of its own."""

    source: Source
    about: About

    def item(self, index: int) -> Item:
        if not 0 <= index < self.about.count:
            raise NetdynoError(f"expected an item from 0 to {self.about.count - 1}, received {index}.")
        return self.source.item(index * self.source.about.count // self.about.count)


def subset_of(source: Source, count: int) -> Subset:
    """That many items of a source."""
    if not 1 <= count <= source.about.count:
        raise NetdynoError(f"count: expected from 1 to the {source.about.count:,} there are, received {count:,}.")
    return Subset(source=source, about=replace(source.about, count=count))

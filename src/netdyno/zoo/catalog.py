"""Which networks there are, how one is found by name, and how it becomes a programme."""

from collections.abc import Mapping

from netdyno.errors import NetdynoError, unknown
from netdyno.graph.check import check_programme
from netdyno.graph.model import Programme
from netdyno.zoo.builder import Net, Value
from netdyno.zoo.entry import Entry, Recipe
from netdyno.zoo.families import energy, generative, instrument, mlp, recurrent, shallow, transformer, tree
from netdyno.zoo.families.cnn import entries as cnn
from netdyno.zoo.items import IMAGE, VECTOR
from netdyno.zoo.options import Option, check_sizes, checked_options, takes_items

__all__ = ["Entry", "Recipe", "entries", "find_entry", "find_network", "resolve"]


def entries(family: str | None = None) -> tuple[Entry, ...]:
    """Every network, the nine cases of the thesis first; or those of one family."""
    return tuple(entry for entry in _ENTRIES if family in (None, entry.family))


def find_network(network: str) -> tuple[Entry, ...]:
    """Every entry of that network, or an error with the nearest name."""
    found = tuple(entry for entry in _ENTRIES if entry.network == network)
    if not found:
        raise unknown("network", network, {entry.network for entry in _ENTRIES})
    return found


def find_entry(network: str, dataset: str | None = None) -> Entry:
    """The network on that dataset; without one, on the first dataset it has."""
    found = find_network(network)
    if dataset is None:
        return found[0]
    for entry in found:
        if entry.dataset == dataset:
            return entry
    if dataset not in {entry.dataset for entry in _ENTRIES}:
        raise unknown("dataset", dataset, {entry.dataset for entry in _ENTRIES})
    names = ", ".join(entry.dataset for entry in found)
    raise NetdynoError(f"network '{network}': expected a dataset among {names}, received '{dataset}'.")


def resolve(entry: Entry, batch: int, options: Mapping[str, Option] | None = None) -> Programme:
    """The graph and updates of an entry for one batch size and options, checked."""
    chosen = checked_options(entry.network, entry.options, options or {})
    if entry.network in _NAMES:
        check_sizes(entry.network, chosen)
    items = entry.items
    net = Net(
        batch=batch,
        classes=items.classes,
        learning_rate=entry.learning_rate,
        shape=items.shape,
        span=items.span,
    )
    given = (_items_input(net, entry),) if takes_items(entry.build) else ()
    programme = net.programme(entry.build(net, *given, **chosen))
    check_programme(programme)
    return programme


def _items_input(net: Net, entry: Entry) -> Value:
    """The rows of the entry's dataset as an input."""
    if entry.items.kind == IMAGE:
        return net.images()
    if entry.items.kind == VECTOR:
        return net.vectors()
    raise NetdynoError(f"network '{entry.network}': expected a dataset with items, received '{entry.dataset}'.")


_ENTRIES = (
    *cnn.ENTRIES,
    *transformer.ENTRIES,
    *recurrent.ENTRIES,
    *tree.ENTRIES,
    *generative.ENTRIES,
    *shallow.ENTRIES,
    *energy.ENTRIES,
    *mlp.ENTRIES,
    *instrument.ENTRIES,
)
_NAMES = {entry.network for entry in _ENTRIES}

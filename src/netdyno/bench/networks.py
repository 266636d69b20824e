"""What is known of one network before anything is run: its size, and the cost of every node."""

from dataclasses import dataclass

from netdyno.bench.cells import Bench
from netdyno.graph.cost import NodeCost, Totals, node_costs, totals
from netdyno.graph.model import Programme
from netdyno.results.cell import Options
from netdyno.zoo.entry import Entry

FRAMEWORK = "reference"  # a cell needs one; the graph does not depend on it


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """A network resolved for a dataset, a batch and options."""

    name: str
    entry: Entry
    options: Options
    programme: Programme

    @property
    def totals(self) -> Totals:
        """Of the whole batch: MACs, FLOPs, bytes."""
        return totals(self.programme)

    @property
    def parameters(self) -> int:
        """How many numbers are learnt."""
        return self.programme.graph.parameter_count()

    @property
    def macs(self) -> int:
        """Multiply-accumulates of the forward pass of one item."""
        return self.totals.macs // self.totals.batch

    @property
    def nodes(self) -> list[NodeCost]:
        """The cost of every node, in order, for the whole batch."""
        return node_costs(self.programme.graph)


def resolve_network(
    bench: Bench, name: str, *, dataset: str | None = None, batch: int | None = None, options: object = None
) -> Network:
    """The network of the zoo or of a user's file, as a cell of it would run."""
    fields = {"network": name, "dataset": dataset, "batch": batch, "options": options, "framework": FRAMEWORK}
    cell = bench.complete({field: value for field, value in fields.items() if value is not None})
    return Network(
        name=cell.network, entry=bench.entry_of(cell), options=cell.options, programme=bench.programme(cell)
    )

"""What is known of a network on a dataset: recipe, source and size, how it is trained and how it is proved."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from netdyno.zoo.builder import Value
from netdyno.zoo.items import Items
from netdyno.zoo.options import Option, options_of

# (net, items, *, options) -> logits, or (net, *, options) -> logits where it declares inputs of its own. A network
# that makes something else gives that, and behind it scalars that are told of it on a test split.
Recipe = Callable[..., Value | tuple[Value, ...]]

# A verification of the whole zoo leaves out instruments, which are proved when asked for.
CNN, MLP, INSTRUMENT = "cnn", "mlp", "instrument"
GENERATIVE, SEGMENTATION = "generative", "segmentation"
DEEP, SHALLOW, RECURRENT, TREE, TRANSFORMER = "deep", "shallow", "recurrent", "tree", "transformer"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A network on a dataset. `parameters` and `macs` (forward, one item) are those of its `items` and defaults.

    `batch`, `learning_rate` and `steps` are those of the 2018 thesis or of the entry's source. A quick proof is made
    on the smaller `proof_items` and with `proof_options`: every layer is there, and no map that is flattened or
    averaged is a single point.
    """

    network: str
    family: str
    items: Items  # as this network looks at them: some cut images larger than others do
    build: Recipe
    source: str
    parameters: int
    macs: int
    batch: int
    learning_rate: float
    proof_items: Items | None = None
    proof_options: Mapping[str, Option] = field(default_factory=dict)
    defaults: Mapping[str, Option] = field(default_factory=dict)  # of options, in place of the recipe's
    units: str = ""  # the option that says how many items a row has: the tokens of a text; one if not said
    # Of options: those of the stages that are learnt before, each from the parameters of the one before it.
    earlier: Callable[[Mapping[str, Option]], Sequence[Mapping[str, Option]]] = lambda options: ()
    labelled: str = ""  # the option that says how many items have labels; all if not said
    steps: int = 300
    note: str = ""

    @property
    def dataset(self) -> str:
        """The name of its dataset."""
        return self.items.name

    @property
    def item(self) -> str:
        """What one row of a batch is, in the singular."""
        return self.items.item

    def units_per_row(self, options: Mapping[str, Option]) -> int:
        """How many items one row of a batch is, with these options in place of defaults."""
        return int({**self.options, **options}[self.units]) if self.units else 1

    @property
    def options(self) -> dict[str, Option]:
        """{option: default}."""
        return {**options_of(self.build), **self.defaults}


def reduced(entry: Entry) -> Entry:
    """The entry as a proof takes it: every layer, on smaller images, shorter vectors or with fewer units."""
    return replace(entry, items=entry.proof_items or entry.items, defaults={**entry.defaults, **entry.proof_options})

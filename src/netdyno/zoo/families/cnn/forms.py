"""How the number of nodes goes from layer to layer: a network's channels for each form that it has.

The nodes of a layer of maps are their number times their area. A map that is halved in side has a quarter of the
nodes, so a network shrinks as long as its maps do not become four times as many.
"""

from collections.abc import Mapping, Sequence

from netdyno.errors import unknown

SHRINKING, CONSTANT, GROWING = "shrinking", "constant", "growing"


def channels_of(network: str, forms: Mapping[str, Sequence[int]], form: str, width: float) -> list[int]:
    """The channels of a form, times a factor."""
    if form not in forms:
        raise unknown(f"form of {network}", form, forms)
    return [round(width * channels) for channels in forms[form]]

"""What a survey of 2018 says about the number of nodes, as rules that trainings can be held against.

Its section on the number of nodes: of a network with one hidden layer, hidden nodes near the numbers of inputs and
outputs, at least the inputs for a feed-forward network and fewer for an auto-encoder; of a deep convolutional network
fewer nodes from layer to layer until the wanted compression is reached, and of a deconvolutional one the opposite.
The nodes of a layer of maps are their number times their area, as everywhere in netdyno.
"""

from collections.abc import Callable
from dataclasses import dataclass

Option = int | float | str


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """`follows` says whether a value of the option follows the rule, given the number of inputs."""

    network: str
    option: str
    words: str
    follows: Callable[[Option, int], bool]
    caveat: str = ""

    @property
    def is_of_numbers(self) -> bool:
        """Whether the option is a number of nodes, to be compared with that of the inputs."""
        return self.option == "hidden"


RULES = {
    rule.network: rule
    for rule in (
        Rule(
            network="ffn",
            option="hidden",
            words="at least as many hidden nodes as inputs",
            follows=lambda hidden, inputs: float(hidden) >= inputs,
        ),
        Rule(
            network="autoencoder",
            option="hidden",
            words="fewer hidden nodes than inputs",
            follows=lambda hidden, inputs: float(hidden) < inputs,
            caveat="The loss says only how well an image is reconstructed, not how good its code is.",
        ),
        Rule(
            network="dcn",
            option="form",
            words="fewer nodes from layer to layer",
            follows=lambda form, inputs: form == "shrinking",
        ),
        Rule(
            network="deconv",
            option="form",
            words="more nodes from layer to layer",
            follows=lambda form, inputs: form == "growing",
        ),
    )
}

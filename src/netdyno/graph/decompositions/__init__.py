"""How each composite operation is written in primitives: one rule per op, given its node's inputs and attributes."""

from collections.abc import Mapping

from netdyno.graph.decompositions import activations, attention, norms, pools, recurrent
from netdyno.graph.parts import Rule

DECOMPOSITIONS: Mapping[str, Rule] = {
    **activations.RULES,
    **norms.RULES,
    **pools.RULES,
    **attention.RULES,
    **recurrent.RULES,
}

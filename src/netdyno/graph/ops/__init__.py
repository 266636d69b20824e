"""Which operations there are: one row each, in a module for each sort of them.

The worker's adapters name the same operations; a test holds the two vocabularies together.
"""

from netdyno.graph.op import Op
from netdyno.graph.ops import arrays, composites, draws, elementwise, layers, losses

OPS: dict[str, Op] = {**layers.OPS, **elementwise.OPS, **composites.OPS, **arrays.OPS, **draws.OPS, **losses.OPS}

"""Which kind of value an operation gives: one rule per op, from the kinds of its inputs.

An adapter chooses a physical layout by kind, never by the number of axes.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from netdyno.graph.shapes import ShapeError

IMAGE, SEQUENCE, PLAIN, KERNEL = "image", "sequence", "plain", "kernel"
KINDS = (IMAGE, SEQUENCE, PLAIN)
RANKS = {IMAGE: 4, KERNEL: 4}  # images: (batch, channels, height, width); kernels: (out, in / groups, height, width)

Attributes = Mapping[str, Any]


def convolution(kinds: Sequence[str], attributes: Attributes) -> str:
    _expect(kinds[1], KERNEL)
    return image(kinds, attributes)


def image(kinds: Sequence[str], attributes: Attributes) -> str:
    """An image from an image."""
    _expect(kinds[0], IMAGE)
    return IMAGE


def pooled(kinds: Sequence[str], attributes: Attributes) -> str:
    """A plain value from an image."""
    _expect(kinds[0], IMAGE)
    return PLAIN


def linear(kinds: Sequence[str], attributes: Attributes) -> str:
    _expect(kinds[0], PLAIN)
    _expect(kinds[1], PLAIN)
    return PLAIN


def first(kinds: Sequence[str], attributes: Attributes) -> str:
    """The kind of the first input; the others are vectors of its channels."""
    return kinds[0]


def same(kinds: Sequence[str], attributes: Attributes) -> str:
    """Every input has the kind that the output gets."""
    for other in kinds[1:]:
        _expect(other, kinds[0])
    return kinds[0]


def broadcast(kinds: Sequence[str], attributes: Attributes) -> str:
    """Images meet images only, so that their axes meet in any layout; of others a sequence wins."""
    if IMAGE in kinds or KERNEL in kinds:
        return same(kinds, attributes)
    return SEQUENCE if SEQUENCE in kinds else PLAIN


def matrices(kinds: Sequence[str], attributes: Attributes) -> str:
    """As the first, of values that have no layout of their own."""
    for kind in kinds:
        _expect_one_of(kind, (PLAIN, SEQUENCE))
    return kinds[0]


def of_rows(kinds: Sequence[str], attributes: Attributes) -> str:
    """As the first, which has no layout of its own; the others are vectors."""
    return matrices(kinds[:1], attributes)


def sequence(kinds: Sequence[str], attributes: Attributes) -> str:
    """A sequence from a sequence."""
    _expect(kinds[0], SEQUENCE)
    return SEQUENCE


def gathered(kinds: Sequence[str], attributes: Attributes) -> str:
    """Rows of a plain table, as many as there are indices."""
    _expect(kinds[0], PLAIN)
    _expect_one_of(kinds[1], (PLAIN, SEQUENCE))
    return kinds[1]


def reduced(kinds: Sequence[str], attributes: Attributes) -> str:
    """A plain value, unless all axes stay."""
    return kinds[0] if attributes["keep"] else PLAIN


def plain(kinds: Sequence[str], attributes: Attributes) -> str:
    """A plain value from anything: one vector per item, or a loss."""
    return PLAIN


def stated(kinds: Sequence[str], attributes: Attributes) -> str:
    """The kind that an attribute states, for values made of nothing or with other axes than before."""
    kind = str(attributes["kind"])
    axes = attributes["shape"] if "shape" in attributes else attributes["axes"]
    if len(axes) != RANKS.get(kind, len(axes)):
        raise ShapeError(f"{RANKS[kind]} axes of an {kind}, received {list(axes)}")
    return kind


def _expect_one_of(received: str, expected: Sequence[str]) -> None:
    if received not in expected:
        raise ShapeError(f"a value of a kind among {tuple(expected)}, received one of kind '{received}'")


def _expect(received: str, expected: str) -> None:
    if received != expected:
        raise ShapeError(f"a value of kind '{expected}', received one of kind '{received}'")

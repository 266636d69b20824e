"""How large a batch may be: what is known of it, and what is said where memory ran out."""

import re
from dataclasses import dataclass
from math import prod


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """What was seen of one cell on one machine: between `fits` and `fails` nobody has looked yet.

    `versions` is a line of everything else that decides memory: the framework's libraries, the worker, the graph.
    """

    machine: str
    cell_key: str  # of the cell at batch 1
    versions: str = ""
    fits: int = 0  # the largest batch that was seen to fit; 0 while none was
    fails: int | None = None  # the smallest that was seen not to
    reason: str = ""  # what was said when it did not
    found_at: str = ""  # ISO 8601, UTC

    @property
    def is_exact(self) -> bool:
        """Whether it is proved: one fits, and one more was seen not to."""
        return self.fits > 0 and self.fails == self.fits + 1


def asked_bytes(reason: str) -> int | None:
    """How much memory was asked for when there was none left; None where the words do not tell.

    Frameworks write their kilobytes, megabytes and gigabytes in powers of 1024, whatever they call them.
    """
    if asked := _ASKED.search(reason):
        exact = _EXACT.match(reason, asked.end())
        return int(_plain(exact[1])) if exact else round(float(_plain(asked[1])) * _scale(asked[2]))
    if tensor := _TENSOR.search(reason):
        return _tensor_bytes(tensor[1], tensor[2].lower())
    return None


def speaks_of_memory(text: str) -> bool:
    """Whether a log or an error says that memory ran out; an illegal access to memory is something else."""
    lowered = text.lower()
    return any(word in lowered for word in _WORDS) or asked_bytes(text) is not None


_WORDS = (
    "out of memory",
    "out_of_memory",
    "outofmemory",
    "resource exhausted",
    "resource_exhausted",
    "resourceexhausted",
    "oom when allocating",
    "not enough memory",
    "cannot allocate memory",
    "can't allocate memory",
    "memory allocation failed",
    "memoryallocation",  # as the CUDA runtime names its error
    "alloc_failed",  # as its libraries name theirs
    "bad_alloc",
    "badalloc",
)
_ASKED = re.compile(r"alloc(?:ate|ating)?(?: request for)?\s+(\d[\d,]*\.?\d*)\s*(bytes?|[KMGT]i?B?|B)\b", re.I)
_EXACT = re.compile(r"\s*\(([\d,]+)\s*(?:bytes|B)\)", re.I)  # "4.00G (4294967296 bytes)"
_TENSOR = re.compile(r"allocating tensor with shape\s*\[([\d,\s]*)\] and type (\w+)", re.I)
_TYPE_BYTES = {
    **dict.fromkeys(("bool", "int8", "uint8"), 1),
    **dict.fromkeys(("half", "float16", "bfloat16", "int16"), 2),
    **dict.fromkeys(("float", "float32", "int32"), 4),
    **dict.fromkeys(("double", "float64", "int64", "complex64"), 8),
}


def _plain(number: str) -> str:
    return number.replace(",", "")


def _scale(unit: str) -> int:
    return 1 << 10 * "BKMGT".index(unit[0].upper())


def _tensor_bytes(shape: str, type_name: str) -> int | None:
    lengths = [int(length) for length in shape.split(",") if length.strip()]
    return prod(lengths) * _TYPE_BYTES[type_name] if type_name in _TYPE_BYTES else None

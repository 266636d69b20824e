"""What is in an untrusted pickle? Only arrays, text, bytes, numbers, lists and dicts; anything else is refused.

Nothing that it names is called or imported: the description of an array is kept, and the array is made from it after
it was checked.
"""

import io
import math
import pickle
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from netdyno.errors import NetdynoError

_INSTRUCTIONS = """
    MARK STOP POP POP_MARK DUP PROTO FRAME PUT BINPUT LONG_BINPUT GET BINGET LONG_BINGET MEMOIZE
    NONE NEWTRUE NEWFALSE INT BININT BININT1 BININT2 LONG LONG1 FLOAT BINFLOAT
    STRING BINSTRING SHORT_BINSTRING BINBYTES SHORT_BINBYTES UNICODE BINUNICODE SHORT_BINUNICODE
    TUPLE EMPTY_TUPLE TUPLE1 TUPLE2 TUPLE3 LIST EMPTY_LIST APPEND APPENDS DICT EMPTY_DICT SETITEM SETITEMS
    GLOBAL STACK_GLOBAL REDUCE BUILD
"""  # opcodes; the last four describe arrays, the others make plain values


def read_pickle(data: bytes, path: Path) -> dict[str, Any]:
    """The dict in a pickle, its keys as text (Python 2 wrote bytes)."""
    try:
        value = _Reader(io.BytesIO(data), encoding="bytes").load()
    except NetdynoError as error:
        raise NetdynoError(f"{path}: {error}", hint="It is not opened further.") from error
    except Exception as error:  # damaged bytes raise all kinds of errors
        reason = str(error) or type(error).__name__
        raise NetdynoError(f"{path}: expected a complete pickle, received a damaged one: {reason}.") from error
    if not isinstance(value, dict):
        raise NetdynoError(f"{path}: expected a pickle of a dict, received one of a {type(value).__name__}.")
    return {text_of(key): part for key, part in value.items()}


def text_of(value: Any) -> str:
    """Text that Python 2 may have written as bytes."""
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)


class NotedArray:
    """An array as a pickle describes it."""

    __slots__ = ("_state",)

    def __init__(self) -> None:
        self._state: Any = None

    def __setstate__(self, state: Any) -> None:
        self._state = state

    def find_bytes(self) -> NDArray[np.uint8] | None:
        """The array, if it is one of bytes whose shape fits them."""
        match self._state:
            case (int(), tuple(shape), _NotedType() as kind, is_fortran, bytes(raw)):
                whole = all(type(n) is int and n > 0 for n in shape) and math.prod(shape) == len(raw)
                if whole and kind.name == "u1" and not is_fortran:
                    return np.frombuffer(raw, np.uint8).reshape(shape)
        return None


class _NotedType:
    """A type of numbers as a pickle names it."""

    __slots__ = ("name",)

    def __init__(self, name: Any) -> None:
        self.name = text_of(name)

    def __setstate__(self, state: Any) -> None:
        """Byte order and the like: nothing that a type of one byte has."""


class _Builder:
    """Stands for functions and classes of NumPy; a call keeps the description it is given."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __call__(self, *arguments: Any) -> NotedArray | _NotedType:
        if self._name == "dtype" and arguments:
            return _NotedType(arguments[0])
        if self._name == "_reconstruct":
            return NotedArray()
        raise NetdynoError(f"expected a pickle of plain values and arrays, received a call of {self._name}.")

    def __setstate__(self, state: Any) -> None:
        raise NetdynoError(f"expected a pickle of plain values and arrays, received a change of {self._name}.")


_KNOWN = {
    ("numpy", "ndarray"),
    ("numpy", "dtype"),
    ("numpy.core.multiarray", "_reconstruct"),
    ("numpy._core.multiarray", "_reconstruct"),
}


class _Reader(pickle._Unpickler):
    """Pickle's interpreter in Python, without the opcodes that make other objects. (The one in C allocates memory for
    whatever number of objects is announced.)"""

    dispatch: ClassVar[dict[int, Any]] = {
        code: pickle._Unpickler.dispatch[code]
        for code in (getattr(pickle, name)[0] for name in _INSTRUCTIONS.split())
    }

    def find_class(self, module: str, name: str) -> _Builder:
        if (module, name) not in _KNOWN:
            raise NetdynoError(
                f"expected a pickle of plain values and arrays, received one that asks for {module}.{name}."
            )
        return _Builder(name)

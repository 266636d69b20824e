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


class Noted:
    """A function or class of NumPy that a pickle names, or what a call of it would make: descriptions are kept."""

    __slots__ = ("_name", "arguments", "state")

    def __init__(self, name: str, arguments: tuple[Any, ...] | None = None) -> None:
        self._name, self.arguments, self.state = name, arguments, None

    def __call__(self, *arguments: Any) -> "Noted":
        if self._name == "ndarray" or self.arguments is not None or not arguments:
            raise NetdynoError(f"expected a pickle of plain values and arrays, received a call of {self._name}.")
        return Noted(self._name, arguments)

    def __setstate__(self, state: Any) -> None:
        if self.arguments is None:
            raise NetdynoError(f"expected a pickle of plain values and arrays, received a change of {self._name}.")
        self.state = state

    def find_bytes(self) -> NDArray[np.uint8] | None:
        """The array, if it is one of bytes whose shape fits them."""
        match self.state:
            case (int(), tuple(shape), Noted(arguments=(kind, *_)), is_fortran, bytes(raw)):
                whole = all(type(n) is int and n > 0 for n in shape) and math.prod(shape) == len(raw)
                if whole and text_of(kind) == "u1" and not is_fortran:
                    return np.frombuffer(raw, np.uint8).reshape(shape)
        return None


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

    def find_class(self, module: str, name: str) -> Noted:
        if (module, name) not in _KNOWN:
            received = f"one that asks for {module}.{name}"
            raise NetdynoError(f"expected a pickle of plain values and arrays, received {received}.")
        return Noted(name)

"""Text from outside, made fit to show: nothing in it that a terminal obeys, and never more than a line of it."""

import reprlib
import unicodedata
from functools import cache

REPLACEMENT = "\ufffd"
# Control characters, invisible ones and those that turn the direction of writing, halves, separators of lines.
OBEYED = ("Cc", "Cf", "Cs", "Zl", "Zp")
LENGTH = 80  # of a received value, in characters


def harmless(text: str) -> str:
    """The text with a replacement for each character that would do something rather than be seen; lines stay."""
    return text if text.isascii() and text.isprintable() else "".join(map(_seen, text))


def one_line(text: str) -> str:
    """Harmless, and every run of spaces and line ends is one space."""
    return harmless(" ".join(text.split()))


def shortened(text: str, length: int = LENGTH) -> str:
    """The text if it is not longer, else its beginning and its end."""
    if len(text) <= length:
        return text
    end = length // 3
    return f"{text[: length - end - 1]}…{text[-end:]}"


def shown(value: object) -> str:
    """A received value as a message repeats it: like `repr`, in one line of bounded length."""
    return shortened(one_line(_BOUNDED.repr(value)))


@cache
def _seen(character: str) -> str:
    return REPLACEMENT if character != "\n" and unicodedata.category(character) in OBEYED else character


class _Bounded(reprlib.Repr):
    def repr_int(self, number: int, level: int) -> str:
        """Python refuses to write more than 4,300 digits."""
        digits = number.bit_length() * 0.30103
        return repr(number) if digits < LENGTH else f"a whole number of {digits:,.0f} digits"


_BOUNDED = _Bounded()
_BOUNDED.maxstring = _BOUNDED.maxother = LENGTH - 20

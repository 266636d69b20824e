"""Reasons too long for a table's cell: each gets a number there and a line below."""

from rich.text import Text

SMALL = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


class Footnotes:
    """Numbers reasons as they come; the same reason keeps its number."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def mark(self, word: str, reason: str, style: str = "dim") -> Text:
        """The word with the number of its reason."""
        number = self._numbers.setdefault(" ".join(reason.split()), len(self._numbers) + 1)
        return Text(word + str(number).translate(SMALL), style=style)

    def lines(self) -> Text:
        """The reasons in the order of their numbers."""
        return Text("\n".join(f"{str(number).translate(SMALL)} {reason}" for reason, number in self._numbers.items()))

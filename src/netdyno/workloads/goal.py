"""When it is enough: the goal of a learning run, and how it is written."""

import re
from dataclasses import dataclass

from netdyno.errors import NetdynoError

LONGEST = 2**31 - 1  # steps or epochs
GOAL = re.compile(r"(?:accuracy=(?P<accuracy>\S+) within )?(?P<unit>epochs|steps)=(?P<length>\S+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """When it is enough: so many epochs or steps, or an accuracy within them."""

    epochs: float | None = None
    steps: int | None = None
    accuracy: float | None = None

    def __post_init__(self) -> None:
        lengths = [length for length in (self.steps, self.epochs) if length is not None]
        _expect(len(lengths) == 1, "a goal", "either steps or epochs", f"{self.steps} and {self.epochs}")
        _expect(0 < lengths[0] <= LONGEST, "steps or epochs", f"a number over 0, at most {LONGEST:,}", lengths[0])
        _expect(self.accuracy is None or 0 < self.accuracy <= 1, "accuracy", "a share in (0, 1]", self.accuracy)

    @classmethod
    def parse(cls, words: str) -> "Goal":
        """The goal that `words()` wrote."""
        found = GOAL.fullmatch(words)
        try:
            if found is None:
                raise ValueError
            accuracy = float(found["accuracy"]) if found["accuracy"] else None
            steps = int(found["length"]) if found["unit"] == "steps" else None
            epochs = float(found["length"]) if found["unit"] == "epochs" else None
        except ValueError:
            expected = "a goal such as 'epochs=1' or 'accuracy=0.985 within steps=900'"
            raise NetdynoError(f"expected {expected}, received '{words[:100]}'.") from None
        return cls(accuracy=accuracy, steps=steps, epochs=epochs)

    def words(self) -> str:
        """As it is stored and shown."""
        length = f"steps={self.steps}" if self.steps is not None else f"epochs={self.epochs:g}"
        return length if self.accuracy is None else f"accuracy={self.accuracy:g} within {length}"


def goal_of(words: str) -> Goal:
    """The goal in words; one epoch where there are none."""
    return Goal.parse(words) if words else Goal(epochs=1)


def _expect(holds: bool, where: str, expected: str, received: object) -> None:
    if not holds:
        raise NetdynoError(f"{where}: expected {expected}, received {received}.")

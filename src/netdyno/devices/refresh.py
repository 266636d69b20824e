"""How often a device renews its readings, from the moments at which one of them was seen to change."""

from dataclasses import dataclass, field
from itertools import pairwise


@dataclass(slots=True)
class Changes:
    """The moments of change of one reading, looked at far more often than it changes."""

    value: float | None = None
    moments: list[float] = field(default_factory=list)

    def see(self, at: float, value: float) -> None:
        """Take note of one look."""
        if self.value is not None and value != self.value:
            self.moments.append(at)
        self.value = value

    def refresh_s(self) -> float | None:
        """The median time between changes, the lower of two: a renewal that brings the same value is not seen."""
        intervals = sorted(after - before for before, after in pairwise(self.moments))
        return intervals[(len(intervals) - 1) // 2] if intervals else None

"""How often a device refreshes its readings, estimated from the times at which one of them changed."""

from dataclasses import dataclass, field
from itertools import pairwise


@dataclass(slots=True)
class Changes:
    """The times at which a reading changed; it has to be polled far more often than it changes."""

    value: float | None = None
    times: list[float] = field(default_factory=list)

    def add(self, at: float, value: float) -> None:
        """Record one poll."""
        if self.value is not None and value != self.value:
            self.times.append(at)
        self.value = value

    def refresh_s(self) -> float | None:
        """The median time between changes, the lower of two: a refresh that yields the same value goes unnoticed."""
        intervals = sorted(after - before for before, after in pairwise(self.times))
        return intervals[(len(intervals) - 1) // 2] if intervals else None

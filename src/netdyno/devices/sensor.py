"""What a source of readings offers the monitor. Another vendor's GPUs are one more implementation of it."""

from collections.abc import Mapping
from typing import Any, Protocol


class Sensor(Protocol):
    """It is opened before the worker exists, polled for its baseline, then read once in a period. It never raises
    what it can explain: a reading that is refused leaves `readings` and enters `missing` with the reason."""

    @property
    def name(self) -> str:
        """Its prefix in the trace: 'gpu0'."""

    @property
    def facts(self) -> Mapping[str, Any]:
        """What does not change, as plain data."""

    @property
    def readings(self) -> tuple[str, ...]:
        """The names that `read` may give from now on."""

    @property
    def missing(self) -> Mapping[str, str]:
        """Why the other names are not among them."""

    @property
    def baseline_s(self) -> float:
        """How long it wants to be polled before the worker starts."""

    @property
    def refresh_s(self) -> float | None:
        """How often the device renews its readings; None while that was not seen."""

    @property
    def period_s(self) -> float:
        """How often to read it."""

    def poll(self, at: float) -> None:
        """Look for a renewal; called as often as possible during the baseline."""

    def watch(self, pid: int) -> None:
        """A worker has started."""

    def read(self, at: float) -> dict[str, float]:
        """What can be read now; a name may be left out of a tick."""

"""The interface between the monitor and a source of readings. Another vendor's GPUs are one more implementation."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from netdyno.devices.monitor.trace import Fact


class Sensor(Protocol):
    """Opened before the ranks start, polled for a baseline, then read once per period. It raises nothing that it can
    explain: a reading that fails for good leaves `readings` and enters `missing` with the reason."""

    @property
    def name(self) -> str:
        """Its prefix in the trace: 'host', or 'gpu' and a number."""

    @property
    def facts(self) -> Mapping[str, Fact]:
        """What does not change."""

    @property
    def readings(self) -> tuple[str, ...]:
        """The names that `read` may return from now on."""

    @property
    def missing(self) -> Mapping[str, str]:
        """The reason for each name that is not among the readings."""

    @property
    def baseline_s(self) -> float:
        """How long to poll it before the ranks start."""

    @property
    def refresh_s(self) -> float | None:
        """How often the device refreshes its readings; None while unknown."""

    @property
    def period_s(self) -> float:
        """How often to read it."""

    def poll(self, at: float) -> None:
        """Look for a refresh; called as often as possible during the baseline."""

    def watch(self, pids: Sequence[int]) -> None:
        """Ranks of the run have started; each leads a process session."""

    def read(self, at: float) -> dict[str, float]:
        """What can be read now; a reading may be left out of a tick."""

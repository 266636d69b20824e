"""Which sensor is due at a moment, and its readings as lines of the trace; a sensor that fails stops alone."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from netdyno.devices.monitor.sensor import Sensor
from netdyno.devices.monitor.trace import missing_line, row_line, start_lines

POLL_S = 0.002


@dataclass(slots=True, kw_only=True)
class Recorder:
    """Sensors, their columns, and when each is due again. `missing` starts with what could not be opened."""

    sensors: list[Sensor]
    missing: dict[str, str] = field(default_factory=dict)
    names: tuple[str, ...] = ()
    _due: dict[str, float] = field(default_factory=dict)
    _failed: dict[str, str] = field(default_factory=dict)  # the reason, by sensor

    def start(self) -> None:
        """Fix the columns: whatever the sensors can read before the ranks start."""
        self.names = tuple(f"{sensor.name}.{name}" for sensor in self.sensors for name in sensor.readings)
        self._newly_missing()

    def head(self) -> str:
        """The first lines of the trace."""
        refresh_s = {sensor.name: sensor.refresh_s for sensor in self.sensors if sensor.refresh_s is not None}
        facts = {sensor.name: sensor.facts for sensor in self.sensors if sensor.facts}
        return start_lines(self.names, facts=facts, missing=self.missing, refresh_s=refresh_s)

    def watch(self, pids: Sequence[int]) -> None:
        """Announce ranks to every sensor."""
        for sensor in self.sensors:
            sensor.watch(pids)

    def next_due(self) -> float:
        """When the next reading is due."""
        return min(self._due.get(sensor.name, 0.0) for sensor in self.sensors)

    def tick(self, clock: Callable[[], float]) -> str:
        """Read each sensor that is due, one row per sensor: of many GPUs the last is read milliseconds after the
        first, so each row has its own time. Readings that ended are noted."""
        now = clock()
        due = [sensor for sensor in self.sensors if self._due.get(sensor.name, now) <= now]
        return "".join(self._row(sensor, clock()) for sensor in due)

    def _row(self, sensor: Sensor, at: float) -> str:
        values = self._read(sensor, at)
        next_at = self._due.get(sensor.name, at) + sensor.period_s
        self._due[sensor.name] = next_at if next_at > at else at + sensor.period_s
        ended = self._newly_missing()
        return (row_line(at, self.names, values) if values else "") + (missing_line(at, ended) if ended else "")

    def _read(self, sensor: Sensor, at: float) -> dict[str, float]:
        if sensor.name in self._failed:
            return {}
        try:
            values = sensor.read(at)
        except Exception as error:  # a failure in one sensor must not end the others
            self._failed[sensor.name] = f"reading it failed: {error!r}"
            return {}
        return {f"{sensor.name}.{name}": value for name, value in values.items()}

    def _newly_missing(self) -> dict[str, str]:
        found = {
            f"{sensor.name}.{name}": why for sensor in self.sensors for name, why in self._absent(sensor).items()
        }
        new = {name: why for name, why in found.items() if name not in self.missing}
        self.missing |= new
        return new

    def _absent(self, sensor: Sensor) -> dict[str, str]:
        failed = dict.fromkeys(sensor.readings, self._failed[sensor.name]) if sensor.name in self._failed else {}
        return {**failed, **sensor.missing}


def baseline(recorder: Recorder, clock: Callable[[], float], sleep: Callable[[float], None]) -> str:
    """The lines of the time before the ranks start, in which the sensors learn how often their devices refresh."""
    end = clock() + max((sensor.baseline_s for sensor in recorder.sensors), default=0.0)
    lines = recorder.tick(clock)
    while clock() < end:
        for sensor in recorder.sensors:
            sensor.poll(clock())
        lines += recorder.tick(clock)
        sleep(POLL_S)
    return lines

"""What of which sensor is due at a moment, as lines of the trace; a sensor that breaks stops alone."""

from collections.abc import Callable
from dataclasses import dataclass, field

from netdyno.devices.sensor import Sensor
from netdyno.devices.trace import missing_line, row_line, start_lines

POLL_S = 0.002


@dataclass(slots=True, kw_only=True)
class Recorder:
    """Sensors, the columns they have, and when each is due again. `missing` begins with what could not be opened."""

    sensors: list[Sensor]
    missing: dict[str, str] = field(default_factory=dict)
    names: tuple[str, ...] = ()
    _due: dict[str, float] = field(default_factory=dict)
    _broken: dict[str, str] = field(default_factory=dict)  # why, by sensor

    def start(self) -> None:
        """Fix the columns: what every sensor can give before the worker exists."""
        self.names = tuple(f"{sensor.name}.{name}" for sensor in self.sensors for name in sensor.readings)
        self._newly_missing()

    def head(self) -> str:
        """The first lines of the trace."""
        refresh_s = {sensor.name: sensor.refresh_s for sensor in self.sensors if sensor.refresh_s is not None}
        facts = {sensor.name: sensor.facts for sensor in self.sensors if sensor.facts}
        return start_lines({"facts": facts, "missing": self.missing, "refresh_s": refresh_s}, self.names)

    def watch(self, pid: int) -> None:
        """Tell every sensor of a worker."""
        for sensor in self.sensors:
            sensor.watch(pid)

    def next_due(self) -> float:
        """When the next reading is due."""
        return min(self._due.get(sensor.name, 0.0) for sensor in self.sensors)

    def tick(self, at: float) -> str:
        """The row of what is due now, and a note of what ended with it; often nothing is."""
        values: dict[str, float] = {}
        for sensor in [sensor for sensor in self.sensors if self._due.get(sensor.name, at) <= at]:
            values |= self._read(sensor, at)
            next_at = self._due.get(sensor.name, at) + sensor.period_s
            self._due[sensor.name] = next_at if next_at > at else at + sensor.period_s
        row = row_line(at, self.names, values) if values else ""
        ended = self._newly_missing()
        return row + (missing_line(at, ended) if ended else "")

    def _read(self, sensor: Sensor, at: float) -> dict[str, float]:
        if sensor.name in self._broken:
            return {}
        try:
            values = sensor.read(at)
        except Exception as error:  # whatever breaks in one sensor must not end the others
            self._broken[sensor.name] = f"reading it failed: {error!r}"
            return {}
        return {f"{sensor.name}.{name}": value for name, value in values.items()}

    def _newly_missing(self) -> dict[str, str]:
        told = {f"{sensor.name}.{name}": why for sensor in self.sensors for name, why in self._absent(sensor).items()}
        new = {name: why for name, why in told.items() if name not in self.missing}
        self.missing |= new
        return new

    def _absent(self, sensor: Sensor) -> dict[str, str]:
        failed = dict.fromkeys(sensor.readings, self._broken[sensor.name]) if sensor.name in self._broken else {}
        return {**failed, **sensor.missing}


def baseline(recorder: Recorder, clock: Callable[[], float], sleep: Callable[[float], None]) -> str:
    """The lines of the time before the worker exists, in which the sensors find how often their devices refresh."""
    end = clock() + max((sensor.baseline_s for sensor in recorder.sensors), default=0.0)
    lines = recorder.tick(clock())
    while clock() < end:
        for sensor in recorder.sensors:
            sensor.poll(clock())
        lines += recorder.tick(clock())
        sleep(POLL_S)
    return lines

"""What these tests make: the trace of a run on one or several GPUs, and its timed window."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from netdyno.devices.monitor.trace import Trace, read_trace, row_line, start_lines
from netdyno.runtime.readings.window import Window

RECORDED = Path(__file__).parents[1] / "recordings" / "h200-alexnet"
STARTED, WARM, END = 100.0, 103.0, 113.0  # launched, timed part from … to
ITEMS = 64_000
WINDOW = Window(launched=STARTED, built=STARTED + 1.0, start=WARM, end=END, items=ITEMS)
# Of the recorded run: alexnet/imagenet, batch 128, float32, 5,926 images/s.
RECORDED_WINDOW = Window(launched=159.80, built=163.023633353, start=167.154778813, end=169.748240321, items=15_360)
Value = float | Callable[[float], float]
BUSY: Mapping[str, Value] = {
    "power_instant_w": 500.0,
    "memory_used_bytes": 5e9,
    "processes": 1,
    "sm_mhz": 1800,
    "memory_mhz": 3201,
    "temperature_c": 50,
    "utilisation": 0.97,
    "throttle": 0,
}
IDLE: Mapping[str, Value] = {"power_instant_w": 120.0, "memory_used_bytes": 1e9, "processes": 0}
NAMES = (*BUSY, "energy_j")


def make_trace(
    folder: Path,
    *,
    gpus: int = 1,
    busy: Mapping[str, Value] | None = None,
    idle: Mapping[str, Value] | None = None,
    without: Sequence[str] = (),
    watts: float = 500.0,
    missing: Mapping[str, str] | None = None,
) -> Trace:
    """A row every 50 ms; the energy counters move every 100 ms, by `watts` for each GPU. `busy` and `idle` change
    columns such as 'gpu0.sm_mhz'."""
    columns = [f"gpu{gpu}.{name}" for gpu in range(gpus) for name in NAMES]
    names = [name for name in ("host.worker_cpu_s", *columns) if name not in without]
    lines = start_lines(names, missing=missing)
    for tick in range(int(STARTED * 20) - 10, int(END * 20) + 20):
        at = tick / 20
        level, changed = (IDLE, idle or {}) if at < STARTED else (BUSY, busy or {})
        values: dict[str, Value] = {f"gpu{gpu}.{name}": level[name] for gpu in range(gpus) for name in level}
        values |= changed
        values |= {f"gpu{gpu}.energy_j": watts * (tick // 2) / 10 for gpu in range(gpus)}
        values |= {"host.worker_cpu_s": 2.0 * at}
        lines += row_line(at, names, {name: _at(at, value) for name, value in values.items() if name in names})
    (folder / "monitor.csv").write_text(lines)
    return read_trace(folder / "monitor.csv")


def copied(trace: Trace, gpus: int) -> Trace:
    """The trace of a run on one GPU, as if it had been on several that do the same."""
    one = {name: series for name, series in trace.columns.items() if not name.startswith("host.")}
    host = {name: series for name, series in trace.columns.items() if name.startswith("host.")}
    many = {f"gpu{gpu}.{name.partition('.')[2]}": series for gpu in range(gpus) for name, series in one.items()}
    return Trace(columns={**host, **many}, missing=trace.missing, problem=trace.problem)


def _at(at: float, value: Value) -> float:
    return value(at) if callable(value) else value

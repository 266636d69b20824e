"""How much of a device a run used: the FLOP/s of its model over what the device can do at most."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass

from netdyno.results.peaks import nominal_flops_per_s
from netdyno.results.record import Record
from netdyno.results.result import Result
from netdyno.results.statistics import images_per_s

PEAK_NETWORK = "matmul"  # of the zoo: almost nothing but matrix products


@dataclass(frozen=True, slots=True, kw_only=True)
class Utilisation:
    """A run's speed, and its share (1 is all) of the two peaks; None where that peak is not known."""

    flops_per_s: float
    of_nominal: float | None
    of_measured: float | None


def utilisation(record: Record, nominal: float | None, measured: float | None) -> Utilisation | None:
    """The run against the maker's peak and the measured one, both in FLOP/s; None for a run without a speed."""
    speed = flops_per_s(record)
    if speed is None:
        return None
    return Utilisation(
        flops_per_s=speed,
        of_nominal=speed / nominal if nominal else None,
        of_measured=speed / measured if measured else None,
    )


def flops_per_s(record: Record) -> float | None:
    """What the graph of a step needs (forward, backward, update), over the seconds of the run's median step.

    A framework that computes more than that, or recomputes, is not credited for it.
    """
    flops = record.cost.get("step_flops")
    if record.outcome != "measured" or not record.samples or not flops:
        return None
    return flops * images_per_s(record.samples, 1)


def nominal_peak(record: Record) -> float | None:
    """The maker's word on the GPU that the run used, the machine's first, at the run's precision; a CPU has none."""
    gpus = record.environment.get("gpus") or []
    if record.cell.device == "cpu" or not gpus:
        return None
    return nominal_flops_per_s(gpus[0]["name"], record.cell.precision)


def measured_peak(records: Iterable[Record], like: Record) -> float | None:
    """The best speed of any run of matrix products on the same machine, device and precision; None without one.

    A CPU's peak is that of the whole processor, however many threads the run had.
    """
    speeds = [
        flops_per_s(record)
        for record in records
        if record.cell.network == PEAK_NETWORK and _where(record) == _where(like)
    ]
    return max((speed for speed in speeds if speed is not None), default=None)


def shares(result: Result, records: Iterable[Record]) -> dict[str, float | None]:
    """What a result's last run made of its device, for `--json`; `records` may hold runs that show the peak."""
    if not result.measured:
        return dict.fromkeys(("flops_per_s", "of_nominal", "of_measured"))
    record = result.measured[-1]
    found = utilisation(record, nominal_peak(record), measured_peak(records, record))
    return dict.fromkeys(("flops_per_s", "of_nominal", "of_measured")) if found is None else asdict(found)


def _where(record: Record) -> tuple[str, str, str]:
    return record.machine, record.cell.device, record.cell.precision

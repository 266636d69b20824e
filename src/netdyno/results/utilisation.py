"""How much of a device a run used: the FLOP/s of its model over what the device can do at most."""

import re
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass

from netdyno.results.record import Record
from netdyno.results.result import Result
from netdyno.results.statistics import rate
from netdyno.results.store import Store
from netdyno.results.store.bulk import runs_by_cell

PEAK_NETWORK = "matmul"  # of the zoo: almost nothing but matrix products
TERA = 1e12
MAKER_WORDS = re.compile(r"^(NVIDIA |Tesla |GeForce )*")

# TFLOP/s from the vendor's data sheets, at boost clock and without sparsity: a sheet that quotes only the figure with
# sparsity is halved. float32 is what the ordinary units do; tf32, bfloat16 and float16 are the tensor cores with
# float32 accumulation, which is how frameworks train; the P100 has no such cores, but float16 at twice the rate.
# A name must match whole: a slice of a GPU, or a variant that is not listed, has no known peak.
_PEAKS: tuple[tuple[str, dict[str, float]], ...] = (
    # Tesla K20/K20X data sheet, 2012
    (r"K20m", {"float32": 3.52}),
    # Tesla P100 data sheet, 2016
    (r"P100-PCIE-\d+GB", {"float32": 9.3, "float16": 18.7}),
    (r"P100-SXM2-\d+GB", {"float32": 10.6, "float16": 21.2}),
    # V100 data sheet, 2018
    (r"V100-PCIE-\d+GB", {"float32": 14.0, "float16": 112.0}),
    (r"V100-SXM2-\d+GB", {"float32": 15.7, "float16": 125.0}),
    # A100 data sheet, 2021: the same for both forms and memory sizes
    (
        r"A100-(SXM4|PCIE)-\d+GB|A100 80GB PCIe",
        {"float32": 19.5, "tf32": 156.0, "bfloat16": 312.0, "float16": 312.0},
    ),
    # H100 architecture white paper, 2022: SXM5, which the driver names by its memory, and PCIe
    (r"H100 80GB HBM3", {"float32": 66.9, "tf32": 494.7, "bfloat16": 989.4, "float16": 989.4}),
    (r"H100 PCIe", {"float32": 51.2, "tf32": 378.0, "bfloat16": 756.0, "float16": 756.0}),
    # H200 data sheet, 2024: the SXM form; its processor is the H100's
    (r"H200", {"float32": 66.9, "tf32": 494.7, "bfloat16": 989.4, "float16": 989.4}),
    # L4 data sheet, 2023
    (r"L4", {"float32": 30.3, "tf32": 60.0, "bfloat16": 121.0, "float16": 121.0}),
    # L40S data sheet, 2023
    (r"L40S", {"float32": 91.6, "tf32": 183.0, "bfloat16": 362.05, "float16": 362.05}),
    # GA102 white paper, 2020
    (r"RTX 3090", {"float32": 35.6, "tf32": 35.6, "bfloat16": 71.0, "float16": 71.0}),
    # Ada architecture white paper, 2022
    (r"RTX 4090", {"float32": 82.6, "tf32": 82.6, "bfloat16": 165.2, "float16": 165.2}),
    # HGX B200 in the Blackwell data sheet, 2024, per GPU
    (r"B200", {"float32": 75.0, "tf32": 1100.0, "bfloat16": 2250.0, "float16": 2250.0}),
)


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
    if not record.is_measured or not record.samples or not flops:
        return None
    return flops * rate(record.samples)


def nominal_flops_per_s(gpu: str, precision: str) -> float | None:
    """The peak of the GPU with that name, as its driver spells it; None if it is not known or cannot do that."""
    name = MAKER_WORDS.sub("", gpu)
    for pattern, peaks in _PEAKS:
        if re.fullmatch(pattern, name):
            return peaks[precision] * TERA if precision in peaks else None
    return None


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


class StoredPeaks:
    """The measured peaks of a store, each queried once: of a machine, device and precision."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._found: dict[tuple[str, str, str], float | None] = {}

    def __call__(self, like: Record) -> float | None:
        where = _where(like)
        if where not in self._found:
            columns = dict(zip(("machine", "device", "precision"), where, strict=True))
            runs = runs_by_cell(self._store, where={"network": PEAK_NETWORK, **columns}, whole=False)
            self._found[where] = measured_peak(runs, like)
        return self._found[where]


def shares(result: Result, peak_of: Callable[[Record], float | None]) -> dict[str, float | None]:
    """What a result's last run made of its device, for `--json`; `peak_of` gives the measured peak there."""
    if not result.measured:
        return dict.fromkeys(("flops_per_s", "of_nominal", "of_measured"))
    record = result.measured[-1]
    found = utilisation(record, nominal_peak(record), peak_of(record))
    return dict.fromkeys(("flops_per_s", "of_nominal", "of_measured")) if found is None else asdict(found)


def _where(record: Record) -> tuple[str, str, str]:
    return record.machine, record.cell.device, record.cell.precision

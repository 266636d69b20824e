"""One NVIDIA GPU during a run: what can be read through NVML, and how often."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from netdyno.devices.monitor.gpu_processes import GpuProcess, GpuProcesses, NotReadable
from netdyno.devices.monitor.refresh import Changes
from netdyno.devices.monitor.trace import Fact
from netdyno.devices.nvidia.facts import GpuFacts, read_facts
from netdyno.devices.nvidia.nvml import Nvml, in_words, is_loss, refusals

BASELINE_S = 0.35  # three refreshes where they come every 100 ms, as on an H200
SHORTEST_S, LONGEST_S = 0.010, 0.050  # between two reads
# The share of a refresh interval between two reads: below one half, so that no refresh is missed, and of all shares
# the one that stays least in phase with the refreshes. In phase, every read of a counter lags by the same amount
# until one slips by a whole refresh.
SHARE = (3 - 5**0.5) / 2
COUNTER_S = 0.060  # between two reads of the energy counter
COUNTER_CALL_S = 0.004  # its cost: 3 to 4 ms on an H200, where other calls take microseconds
COUNTER_LOAD = 0.25  # the share of its time that the monitor may spend on the counters of all GPUs
MOST_FAILURES = 5  # in a row, before a reading is given up
POWER_AVERAGE, POWER_INSTANT = 185, 186  # NVML's field numbers
MIG_ONLY = "with MIG on, the GPU reports this for its slices only"

_THROTTLE = {
    0x04: "power cap",
    0x08: "hardware slowdown",
    0x20: "software thermal",
    0x40: "hardware thermal",
    0x80: "power brake",
    0x10: "sync boost",
    0x02: "application clocks",
    0x100: "display clocks",
}  # NVML's bits; 0x01 means that the GPU is idle


def throttle_words(mask: int) -> tuple[str, ...]:
    """What lowers the clocks, in words. Being idle does not count."""
    unknown = mask & ~0x01 & ~sum(_THROTTLE)
    words = [word for bit, word in _THROTTLE.items() if mask & bit]
    return (*words, f"unknown reason {unknown:#x}") if unknown else tuple(words)


def open_gpu(nvml: Nvml, index: int, name: str, *, gpus: int = 1) -> "NvidiaGpu":
    """The GPU with this NVML index, one of `gpus` that the monitor reads; every reading is tried once. Raises NVML's
    own error if there is no such GPU."""
    handle = nvml.nvmlDeviceGetHandleByIndex(index)
    counter_s = max(COUNTER_S, gpus * COUNTER_CALL_S / COUNTER_LOAD)
    gpu = NvidiaGpu(nvml=nvml, handle=handle, name=name, about=read_facts(nvml, handle), counter_s=counter_s)
    gpu.try_all()
    return gpu


@dataclass(slots=True, kw_only=True)
class NvidiaGpu:
    """A Sensor. A reading that the card or the permissions refuse is tried once; a lost GPU is not asked again."""

    nvml: Nvml
    handle: Any
    name: str
    about: GpuFacts
    counter_s: float = COUNTER_S
    missing: dict[str, str] = field(default_factory=dict)
    processes: GpuProcesses = field(default_factory=GpuProcesses)
    changes: Changes = field(default_factory=Changes)
    _calls: dict[str, "Call"] = field(default_factory=dict)
    _failures: Counter[str] = field(default_factory=Counter)
    _counter_due: float = 0.0

    @property
    def facts(self) -> Mapping[str, Fact]:
        return asdict(self.about)

    @property
    def readings(self) -> tuple[str, ...]:
        return tuple(self._calls)

    @property
    def baseline_s(self) -> float:
        return BASELINE_S

    @property
    def refresh_s(self) -> float | None:
        return self.changes.refresh_s()

    @property
    def period_s(self) -> float:
        return min(max((self.refresh_s or 1.0) * SHARE, SHORTEST_S), LONGEST_S)

    def try_all(self) -> None:
        """Find a call for every reading, or the reason why there is none."""
        for name, calls in _CALLS.items():
            if self.about.mig and name in _OF_SLICES:
                self.missing[name] = MIG_ONLY
            else:
                self._try(name, calls)

    def poll(self, at: float) -> None:
        name = "power_instant_w" if "power_instant_w" in self._calls else "power_average_w"
        power_w = self._find(name)
        if power_w is not None:
            self.changes.add(at, power_w)

    def watch(self, pids: Sequence[int]) -> None:
        self.processes.ranks.update(pids)

    def read(self, at: float) -> dict[str, float]:
        values = {name: self._find(name) for name in self.readings if name != "energy_j"}
        if at >= self._counter_due - self.period_s / 2:
            values["energy_j"] = self._find("energy_j")
            self._counter_due = at + self.counter_s
        return {name: value for name, value in values.items() if value is not None}

    def _try(self, name: str, calls: tuple["Call", ...]) -> None:
        reasons = []
        for call in calls:
            try:
                call(self)
            except refusals(self.nvml) as error:
                reasons.append(in_words(self.nvml, error))
            else:
                self._calls[name] = call
                return
        self.missing[name] = reasons[0]

    def _find(self, name: str) -> float | None:
        """The value, or None if this tick has none."""
        if name not in self._calls:
            return None
        try:
            value = self._calls[name](self)
        except NotReadable as reason:
            self._give_up(name, str(reason))
        except refusals(self.nvml) as error:
            self._fail(name, error)
        else:
            self._failures.pop(name, None)
            return value
        return None

    def _fail(self, name: str, error: Exception) -> None:
        reason = in_words(self.nvml, error)
        self._failures[name] += 1
        if is_loss(self.nvml, error):
            for lost in self.readings:
                self._give_up(lost, reason)
        elif self._failures[name] >= MOST_FAILURES:
            self._give_up(name, f"{reason} ({MOST_FAILURES} times in a row)")

    def _give_up(self, name: str, reason: str) -> None:
        self._calls.pop(name, None)
        self.missing[name] = reason


Call = Callable[[NvidiaGpu], float | None]


def _field_w(number: int) -> Call:
    def power_w(gpu: NvidiaGpu) -> float:
        (answer,) = gpu.nvml.nvmlDeviceGetFieldValues(gpu.handle, [number])
        if answer.nvmlReturn:
            raise gpu.nvml.NVMLError(answer.nvmlReturn)
        return float(answer.value.uiVal) / 1000

    return power_w


def _power_usage_w(gpu: NvidiaGpu) -> float:
    return float(gpu.nvml.nvmlDeviceGetPowerUsage(gpu.handle)) / 1000


def _energy_j(gpu: NvidiaGpu) -> float:
    return float(gpu.nvml.nvmlDeviceGetTotalEnergyConsumption(gpu.handle)) / 1000


def _used_bytes(gpu: NvidiaGpu) -> int:
    """Without the driver's own memory."""
    return int(gpu.nvml.nvmlDeviceGetMemoryInfo(gpu.handle, version=gpu.nvml.nvmlMemory_v2).used)


def _used_and_reserved_bytes(gpu: NvidiaGpu) -> int:
    """What older drivers report: their own memory included."""
    return int(gpu.nvml.nvmlDeviceGetMemoryInfo(gpu.handle).used)


def _running(gpu: NvidiaGpu) -> Sequence[GpuProcess]:
    found: Sequence[GpuProcess] = gpu.nvml.nvmlDeviceGetComputeRunningProcesses(gpu.handle)
    return found


def _process_bytes(gpu: NvidiaGpu) -> int | None:
    return gpu.processes.own_bytes(_running(gpu))


def _own_processes(gpu: NvidiaGpu) -> int | None:
    return gpu.processes.own_count(_running(gpu))


def _processes(gpu: NvidiaGpu) -> int:
    return len(_running(gpu))


def _sm_mhz(gpu: NvidiaGpu) -> int:
    return int(gpu.nvml.nvmlDeviceGetClockInfo(gpu.handle, gpu.nvml.NVML_CLOCK_SM))


def _memory_mhz(gpu: NvidiaGpu) -> int:
    return int(gpu.nvml.nvmlDeviceGetClockInfo(gpu.handle, gpu.nvml.NVML_CLOCK_MEM))


def _temperature_c(gpu: NvidiaGpu) -> int:
    return int(gpu.nvml.nvmlDeviceGetTemperature(gpu.handle, gpu.nvml.NVML_TEMPERATURE_GPU))


def _utilisation(gpu: NvidiaGpu) -> float:
    return float(gpu.nvml.nvmlDeviceGetUtilizationRates(gpu.handle).gpu) / 100


def _memory_utilisation(gpu: NvidiaGpu) -> float:
    return float(gpu.nvml.nvmlDeviceGetUtilizationRates(gpu.handle).memory) / 100


def _event_reasons(gpu: NvidiaGpu) -> int:
    return int(gpu.nvml.nvmlDeviceGetCurrentClocksEventReasons(gpu.handle))


def _throttle_reasons(gpu: NvidiaGpu) -> int:
    """The same mask under the name it had before driver 535."""
    return int(gpu.nvml.nvmlDeviceGetCurrentClocksThrottleReasons(gpu.handle))


_CALLS: dict[str, tuple[Call, ...]] = {
    "power_instant_w": (_field_w(POWER_INSTANT),),
    "power_average_w": (_field_w(POWER_AVERAGE), _power_usage_w),
    "memory_used_bytes": (_used_bytes, _used_and_reserved_bytes),
    "process_bytes": (_process_bytes,),
    "processes": (_processes,),
    "own_processes": (_own_processes,),
    "sm_mhz": (_sm_mhz,),
    "memory_mhz": (_memory_mhz,),
    "temperature_c": (_temperature_c,),
    "utilisation": (_utilisation,),
    "memory_utilisation": (_memory_utilisation,),
    "throttle": (_event_reasons, _throttle_reasons),
    "energy_j": (_energy_j,),
}  # the first call that the card answers is used
READINGS = tuple(_CALLS)
_OF_SLICES = (
    "memory_used_bytes", "process_bytes", "processes", "own_processes", "utilisation", "memory_utilisation",
)  # fmt: skip

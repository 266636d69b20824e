"""One NVIDIA GPU while something runs on it: what can be read through NVML, and how often."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from netdyno.devices.nvidia_facts import GpuFacts, read_facts
from netdyno.devices.nvml import Nvml, in_words, is_loss, refusals
from netdyno.devices.refresh import Changes
from netdyno.devices.tenants import Tenants, Untold

BASELINE_S = 0.35  # three renewals where they come every 100 ms, as on an H200
SHORTEST_S, LONGEST_S = 0.010, 0.050  # between two looks
# Of a renewal, between two looks: less than half, so that none is missed, and of all shares the one whose looks fall
# into step with renewals the least. In step, looks at a counter are late by the same until one slips by a renewal.
SHARE = (3 - 5**0.5) / 2
COUNTER_S = 0.060  # the energy counter is the one slow call: 3 to 4 ms on an H200, where others take microseconds
PATIENCE = 5  # failures in a row, after which a reading is no longer asked for
POWER_AVERAGE, POWER_INSTANT = 185, 186  # NVML's field numbers
WHOLE_CARD = "with MIG on, the GPU tells this of its slices only"

_THROTTLE = {
    0x04: "power cap",
    0x08: "hardware slowdown",
    0x20: "software thermal",
    0x40: "hardware thermal",
    0x80: "power brake",
    0x10: "sync boost",
    0x02: "application clocks",
    0x100: "display clocks",
}  # NVML's bits; 0x01 says that the GPU idles


def throttle_words(mask: int) -> tuple[str, ...]:
    """What holds the clocks down. Idling is no such thing."""
    unknown = mask & ~0x01 & ~sum(_THROTTLE)
    words = [word for bit, word in _THROTTLE.items() if mask & bit]
    return (*words, f"unknown reason {unknown:#x}") if unknown else tuple(words)


def open_gpu(nvml: Nvml, index: int, name: str) -> "NvidiaGpu":
    """The GPU with this NVML index, every reading tried once. Raises NVML's own error where there is none."""
    handle = nvml.nvmlDeviceGetHandleByIndex(index)
    gpu = NvidiaGpu(nvml=nvml, handle=handle, name=name, about=read_facts(nvml, handle))
    gpu.try_all()
    return gpu


@dataclass(slots=True, kw_only=True)
class NvidiaGpu:
    """A Sensor. What the card or the permissions refuse is asked once; a GPU that is lost is asked no more."""

    nvml: Nvml
    handle: Any
    name: str
    about: GpuFacts
    missing: dict[str, str] = field(default_factory=dict)
    tenants: Tenants = field(default_factory=Tenants)
    changes: Changes = field(default_factory=Changes)
    _ways: dict[str, "Way"] = field(default_factory=dict)
    _failures: Counter[str] = field(default_factory=Counter)
    _counter_due: float = 0.0

    @property
    def facts(self) -> Mapping[str, Any]:
        return asdict(self.about)

    @property
    def readings(self) -> tuple[str, ...]:
        return tuple(self._ways)

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
        """Find a way to every reading, or the reason why there is none."""
        for name, ways in _WAYS.items():
            if self.about.mig and name in _OF_SLICES:
                self.missing[name] = WHOLE_CARD
            else:
                self._try(name, ways)

    def poll(self, at: float) -> None:
        name = "power_instant_w" if "power_instant_w" in self._ways else "power_average_w"
        power_w = self._ask(name)
        if power_w is not None:
            self.changes.see(at, power_w)

    def watch(self, pid: int) -> None:
        self.tenants.workers.add(pid)

    def read(self, at: float) -> dict[str, float]:
        values = {name: self._ask(name) for name in self.readings if name != "energy_j"}
        if at >= self._counter_due - self.period_s / 2:
            values["energy_j"] = self._ask("energy_j")
            self._counter_due = at + COUNTER_S
        return {name: value for name, value in values.items() if value is not None}

    def _try(self, name: str, ways: tuple["Way", ...]) -> None:
        reasons = []
        for way in ways:
            try:
                way(self)
            except refusals(self.nvml) as error:
                reasons.append(in_words(self.nvml, error))
            else:
                self._ways[name] = way
                return
        self.missing[name] = reasons[0]

    def _ask(self, name: str) -> float | None:
        """The value, or None if it is not to be had in this tick."""
        if name not in self._ways:
            return None
        try:
            value = self._ways[name](self)
        except Untold as reason:
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
        elif self._failures[name] >= PATIENCE:
            self._give_up(name, f"{reason} ({PATIENCE} times in a row)")

    def _give_up(self, name: str, reason: str) -> None:
        self._ways.pop(name, None)
        self.missing[name] = reason


Way = Callable[[NvidiaGpu], float | None]


def _field_w(number: int) -> Way:
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
    """Without what the driver keeps for itself."""
    return int(gpu.nvml.nvmlDeviceGetMemoryInfo(gpu.handle, version=gpu.nvml.nvmlMemory_v2).used)


def _used_and_reserved_bytes(gpu: NvidiaGpu) -> int:
    """All that older drivers tell."""
    return int(gpu.nvml.nvmlDeviceGetMemoryInfo(gpu.handle).used)


def _process_bytes(gpu: NvidiaGpu) -> int | None:
    return gpu.tenants.own_bytes(gpu.nvml.nvmlDeviceGetComputeRunningProcesses(gpu.handle))


def _processes(gpu: NvidiaGpu) -> int:
    return len(gpu.nvml.nvmlDeviceGetComputeRunningProcesses(gpu.handle))


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
    """The same mask by its name before driver 535."""
    return int(gpu.nvml.nvmlDeviceGetCurrentClocksThrottleReasons(gpu.handle))


_WAYS: dict[str, tuple[Way, ...]] = {
    "power_instant_w": (_field_w(POWER_INSTANT),),
    "power_average_w": (_field_w(POWER_AVERAGE), _power_usage_w),
    "memory_used_bytes": (_used_bytes, _used_and_reserved_bytes),
    "process_bytes": (_process_bytes,),
    "processes": (_processes,),
    "sm_mhz": (_sm_mhz,),
    "memory_mhz": (_memory_mhz,),
    "temperature_c": (_temperature_c,),
    "utilisation": (_utilisation,),
    "memory_utilisation": (_memory_utilisation,),
    "throttle": (_event_reasons, _throttle_reasons),
    "energy_j": (_energy_j,),
}  # the first way that the card answers is taken
READINGS = tuple(_WAYS)
_OF_SLICES = ("memory_used_bytes", "process_bytes", "processes", "utilisation", "memory_utilisation")

"""NVML without a GPU: an object with the calls, constants and errors of pynvml, as H200s answer them."""

import json
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

RESERVED_BYTES = 644939776  # the driver's own
STEP_MW = 10_000
LOST, NOT_SUPPORTED, NO_PERMISSION, LIBRARY_NOT_FOUND, DRIVER_NOT_LOADED, FUNCTION_NOT_FOUND = 15, 3, 4, 12, 9, 13


class NVMLError(Exception):
    """As in pynvml: what went wrong is a number in `value`."""

    def __init__(self, value: int) -> None:
        super().__init__(value)
        self.value = value

    def __str__(self) -> str:
        return {LOST: "GPU is lost", DRIVER_NOT_LOADED: "Driver Not Loaded"}.get(self.value, f"error {self.value}")


class NVMLLibraryMismatchError(Exception):
    """What pynvml raises for a call that an old driver has in an older form only."""


@dataclass(kw_only=True)
class FakeNvml:
    """Cards whose handle is their index; each draws STEP_MW more than the one before. `refused` maps a call's name,
    or 'field 186', to the error that it answers with."""

    clock: Callable[[], float] = time.monotonic
    refresh_s: float | None = 0.1  # None: the power never changes
    count: int = 1
    mig: int = 0
    mask: int = 1
    used_bytes: int = 0
    cap_mw: int = 700_000
    temperature_c: int = 33
    persistence: int = 1
    compute_mode: int = 0
    uncorrected: int = 0
    processes: list[tuple[int, int | None, *tuple[int, ...]]] = field(default_factory=list)  # pid, bytes, cards
    refused: dict[str, int] = field(default_factory=dict)
    mismatched: tuple[str, ...] = ()
    lost_after_calls: int | None = None
    lost_cards: set[int] = field(default_factory=set)
    hang_s: float = 0.0
    calls: Counter[str] = field(default_factory=Counter)

    NVMLError = NVMLError
    NVMLLibraryMismatchError = NVMLLibraryMismatchError
    NVML_ERROR_UNINITIALIZED = 1
    NVML_ERROR_INVALID_ARGUMENT = 2
    NVML_ERROR_NOT_SUPPORTED = NOT_SUPPORTED
    NVML_ERROR_NO_PERMISSION = NO_PERMISSION
    NVML_ERROR_DRIVER_NOT_LOADED = DRIVER_NOT_LOADED
    NVML_ERROR_LIBRARY_NOT_FOUND = LIBRARY_NOT_FOUND
    NVML_ERROR_FUNCTION_NOT_FOUND = FUNCTION_NOT_FOUND
    NVML_ERROR_GPU_IS_LOST = LOST
    NVML_ERROR_RESET_REQUIRED = 16
    NVML_ERROR_GPU_NOT_FOUND = 28
    NVML_CLOCK_SM = 1
    NVML_CLOCK_MEM = 2
    NVML_TEMPERATURE_GPU = 0
    NVML_TEMPERATURE_THRESHOLD_SLOWDOWN = 1
    NVML_MEMORY_ERROR_TYPE_CORRECTED = 0
    NVML_MEMORY_ERROR_TYPE_UNCORRECTED = 1
    NVML_VOLATILE_ECC = 0
    nvmlMemory_v2 = 0x02000028  # noqa: N815

    def nvmlInit(self) -> None:  # noqa: N802
        time.sleep(self.hang_s)
        self._called("nvmlInit")

    def nvmlDeviceGetHandleByIndex(self, index: int) -> int:  # noqa: N802
        self._called("nvmlDeviceGetHandleByIndex")
        if index >= self.count:
            raise NVMLError(self.NVML_ERROR_INVALID_ARGUMENT)
        return index

    def nvmlDeviceGetHandleByUUID(self, uuid: str) -> int:  # noqa: N802
        """Slices only; the fake's are numbered from 1000 on, by the last digit of their UUID."""
        self._called("nvmlDeviceGetHandleByUUID")
        if not uuid[-1].isdigit():
            raise NVMLError(6)
        return 1000 + int(uuid[-1])

    def nvmlDeviceGetFieldValues(self, handle: int, numbers: list[int]) -> list[Any]:  # noqa: N802
        self._called("nvmlDeviceGetFieldValues")
        self._check_card(handle)
        return [self._field(handle, number) for number in numbers]

    def nvmlDeviceGetMemoryInfo(self, handle: int, version: int | None = None) -> Any:  # noqa: N802
        self._check_card(handle)
        self._called("nvmlDeviceGetMemoryInfo v2" if version else "nvmlDeviceGetMemoryInfo")
        used = self.used_bytes if version else self.used_bytes + RESERVED_BYTES
        return SimpleNamespace(total=150754820096, used=used)

    def nvmlDeviceGetTotalEnergyConsumption(self, handle: int) -> int:  # noqa: N802
        self._called("nvmlDeviceGetTotalEnergyConsumption")
        self._check_card(handle)
        milliwatts = 80_000 + STEP_MW * handle
        return 2_462_693 + int(milliwatts * self._renewals() * (self.refresh_s or 0.0))

    def nvmlDeviceGetTotalEccErrors(self, handle: int, kind: int, counter: int) -> int:  # noqa: N802
        self._called("nvmlDeviceGetTotalEccErrors")
        return self.uncorrected if kind == self.NVML_MEMORY_ERROR_TYPE_UNCORRECTED else 0

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name not in _ANSWERS:
            raise AttributeError(name)

        def call(*arguments: Any) -> Any:
            self._called(name)
            self._check_card(*arguments[:1])
            return _ANSWERS[name](self, *arguments)

        return call

    def _called(self, name: str) -> None:
        self.calls[name] += 1
        is_lost = self.lost_after_calls is not None and self.calls.total() > self.lost_after_calls
        if is_lost and name != "nvmlShutdown":
            raise NVMLError(LOST)
        if name in self.mismatched:
            raise NVMLLibraryMismatchError(name)
        if name in self.refused:
            raise NVMLError(self.refused[name])

    def _check_card(self, handle: object = None) -> None:
        if handle in self.lost_cards:
            raise NVMLError(LOST)

    def _field(self, handle: int, number: int) -> Any:
        self.calls[f"field {number}"] += 1
        milliwatts = {186: 79_808 + self._renewals() % 7, 185: 78_889}[number] + STEP_MW * handle
        value = SimpleNamespace(uiVal=milliwatts)
        return SimpleNamespace(fieldId=number, nvmlReturn=self.refused.get(f"field {number}", 0), value=value)

    def _renewals(self) -> int:
        return int(self.clock() / self.refresh_s) if self.refresh_s else 0


_ANSWERS: dict[str, Callable[..., Any]] = {
    "nvmlShutdown": lambda nvml: None,
    "nvmlSystemGetDriverVersion": lambda nvml: "580.159.04",
    "nvmlDeviceGetCount": lambda nvml: nvml.count,
    "nvmlDeviceGetDeviceHandleFromMigDeviceHandle": lambda nvml, slice_: slice_ - 1000,
    "nvmlDeviceGetIndex": lambda nvml, handle: handle,
    "nvmlDeviceGetName": lambda nvml, handle: "NVIDIA H200",
    "nvmlDeviceGetUUID": lambda nvml, handle: f"GPU-{handle}abc-4567",
    "nvmlDeviceGetEnforcedPowerLimit": lambda nvml, handle: nvml.cap_mw,
    "nvmlDeviceGetPowerManagementDefaultLimit": lambda nvml, handle: 700_000,
    "nvmlDeviceGetMaxClockInfo": lambda nvml, handle, kind: {1: 1980, 2: 3201}[kind],
    "nvmlDeviceGetClockInfo": lambda nvml, handle, kind: {1: 345, 2: 3201}[kind],
    "nvmlDeviceGetCudaComputeCapability": lambda nvml, handle: (9, 0),
    "nvmlDeviceGetEccMode": lambda nvml, handle: [1, 1],
    "nvmlDeviceGetMigMode": lambda nvml, handle: [nvml.mig, nvml.mig],
    "nvmlDeviceGetMaxPcieLinkGeneration": lambda nvml, handle: 5,
    "nvmlDeviceGetCurrPcieLinkWidth": lambda nvml, handle: 16,
    "nvmlDeviceGetPersistenceMode": lambda nvml, handle: nvml.persistence,
    "nvmlDeviceGetComputeMode": lambda nvml, handle: nvml.compute_mode,
    "nvmlDeviceGetPowerUsage": lambda nvml, handle: 78_861,
    "nvmlDeviceGetComputeRunningProcesses": lambda nvml, handle: [
        SimpleNamespace(pid=pid, usedGpuMemory=used)
        for pid, used, *cards in nvml.processes
        if not cards or handle in cards
    ],
    "nvmlDeviceGetTemperature": lambda nvml, handle, sensor: nvml.temperature_c,
    "nvmlDeviceGetTemperatureThreshold": lambda nvml, handle, kind: 89,
    "nvmlDeviceGetUtilizationRates": lambda nvml, handle: SimpleNamespace(gpu=99, memory=40),
    "nvmlDeviceGetCurrentClocksEventReasons": lambda nvml, handle: nvml.mask,
    "nvmlDeviceGetCurrentClocksThrottleReasons": lambda nvml, handle: nvml.mask,
}


def write_module(folder: Path, **settings: Any) -> Path:
    """A pynvml.py that is such a fake, for processes that have the folder on their PYTHONPATH."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "pynvml.py").write_text(
        f"import json, sys\nsys.path.append({str(Path(__file__).parent)!r})\nimport fake_nvml\n"
        f"sys.modules['pynvml'] = fake_nvml.FakeNvml(**json.loads({json.dumps(settings)!r}))\n"
    )
    return folder


@dataclass
class FakeClock:
    """Time that passes only in sleep."""

    now: float = 1000.0

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


CALLS = [name for name in (*vars(FakeNvml), *_ANSWERS) if name.lower().startswith("nvml")]

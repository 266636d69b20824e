"""What an NVIDIA GPU is: its name, limits and modes, which do not change during a run."""

from dataclasses import dataclass
from typing import Any

from netdyno.devices.nvidia.nvml import Nvml, find_answer

_COMPUTE_MODES = ("shared", "exclusive to a thread", "prohibited", "exclusive to a process")


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuFacts:
    """None means: this GPU or driver does not report it."""

    name: str
    uuid: str | None
    driver: str
    memory_bytes: int | None  # None also where it shares the host's
    power_cap_w: float | None  # what is enforced now
    default_power_cap_w: float | None
    largest_sm_mhz: int | None
    largest_memory_mhz: int | None
    compute_capability: str | None
    ecc: bool | None
    mig: bool | None
    pcie_generation: int | None  # the largest of this slot: an idle link steps down
    pcie_width: int | None
    persistence: bool | None
    compute_mode: str | None


def read_facts(nvml: Nvml, handle: Any) -> GpuFacts:
    """Everything that the GPU reports."""
    memory = find_answer(nvml, nvml.nvmlDeviceGetMemoryInfo, handle)
    return GpuFacts(
        name=find_answer(nvml, nvml.nvmlDeviceGetName, handle) or "GPU without a name",
        uuid=find_answer(nvml, nvml.nvmlDeviceGetUUID, handle),
        driver=find_answer(nvml, nvml.nvmlSystemGetDriverVersion) or "",
        memory_bytes=int(memory.total) if memory is not None else None,
        power_cap_w=_watts(find_answer(nvml, nvml.nvmlDeviceGetEnforcedPowerLimit, handle)),
        default_power_cap_w=_watts(find_answer(nvml, nvml.nvmlDeviceGetPowerManagementDefaultLimit, handle)),
        largest_sm_mhz=find_answer(nvml, nvml.nvmlDeviceGetMaxClockInfo, handle, nvml.NVML_CLOCK_SM),
        largest_memory_mhz=find_answer(nvml, nvml.nvmlDeviceGetMaxClockInfo, handle, nvml.NVML_CLOCK_MEM),
        compute_capability=_dotted(find_answer(nvml, nvml.nvmlDeviceGetCudaComputeCapability, handle)),
        ecc=_first_is_on(find_answer(nvml, nvml.nvmlDeviceGetEccMode, handle)),
        mig=_first_is_on(find_answer(nvml, nvml.nvmlDeviceGetMigMode, handle)),
        pcie_generation=find_answer(nvml, nvml.nvmlDeviceGetMaxPcieLinkGeneration, handle),
        pcie_width=find_answer(nvml, nvml.nvmlDeviceGetCurrPcieLinkWidth, handle),
        persistence=_is_on(find_answer(nvml, nvml.nvmlDeviceGetPersistenceMode, handle)),
        compute_mode=_compute_mode(find_answer(nvml, nvml.nvmlDeviceGetComputeMode, handle)),
    )


def _watts(milliwatts: int | None) -> float | None:
    return None if milliwatts is None else milliwatts / 1000


def _dotted(version: tuple[int, int] | None) -> str | None:
    return None if version is None else f"{version[0]}.{version[1]}"


def _is_on(state: int | None) -> bool | None:
    return None if state is None else bool(state)


def _first_is_on(states: list[int] | None) -> bool | None:
    """NVML returns the present mode and the one after the next reboot."""
    return None if states is None else bool(states[0])


def _compute_mode(number: int | None) -> str | None:
    return _COMPUTE_MODES[number] if number is not None and number < len(_COMPUTE_MODES) else None

"""The present state of each GPU: readings, memory errors, the temperature at which it slows down."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from netdyno.devices.monitor.gpu import open_gpu
from netdyno.devices.nvidia.facts import GpuFacts
from netdyno.devices.nvidia.nvml import NoAnswer, NoLibrary, Nvml, find_answer, opened, refusals


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuState:
    """One GPU now. `missing` says why a reading is not among the readings."""

    index: int
    facts: GpuFacts
    readings: Mapping[str, float]  # named as in a trace
    missing: Mapping[str, str]
    corrected_errors: int | None  # of its memory, since the driver was loaded
    uncorrected_errors: int | None
    slowdown_c: int | None  # where the hardware slows itself down


def read_gpu_states(nvml: Nvml | None = None) -> list[GpuState]:
    """Every GPU that answers; find_gpus reports those that do not."""
    try:
        with opened(nvml) as nvml:
            states = [_find_state(nvml, index) for index in range(nvml.nvmlDeviceGetCount())]
    except (NoLibrary, NoAnswer):
        return []
    return [state for state in states if state is not None]


def _find_state(nvml: Nvml, index: int) -> GpuState | None:
    try:
        gpu = open_gpu(nvml, index, f"gpu{index}")
    except refusals(nvml):
        return None
    threshold = nvml.NVML_TEMPERATURE_THRESHOLD_SLOWDOWN
    return GpuState(
        index=index,
        facts=gpu.about,
        readings=gpu.read(time.monotonic()),
        missing=gpu.missing,
        corrected_errors=_find_errors(nvml, gpu.handle, nvml.NVML_MEMORY_ERROR_TYPE_CORRECTED),
        uncorrected_errors=_find_errors(nvml, gpu.handle, nvml.NVML_MEMORY_ERROR_TYPE_UNCORRECTED),
        slowdown_c=find_answer(nvml, nvml.nvmlDeviceGetTemperatureThreshold, gpu.handle, threshold),
    )


def _find_errors(nvml: Nvml, handle: Any, kind: int) -> int | None:
    return find_answer(nvml, nvml.nvmlDeviceGetTotalEccErrors, handle, kind, nvml.NVML_VOLATILE_ECC)

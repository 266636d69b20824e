"""Which NVIDIA GPUs there are, which of them a framework sees, and how many processes compute on them."""

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from netdyno.devices.nvidia.facts import GpuFacts, read_facts
from netdyno.devices.nvidia.nvml import NoAnswer, NoLibrary, Nvml, find_answer, in_words, opened, refusals

LIMIT_S = 5.0
MIB = 2**20
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True, kw_only=True)
class Gpu:
    """One GPU. None means: not reported."""

    name: str
    memory_bytes: int | None  # None also where it shares the host's
    driver: str
    power_cap_w: float | None = None
    sm_clock_mhz: int | None = None  # the largest
    compute_capability: str | None = None
    ecc: bool | None = None
    mig: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Gpus:
    """What was found; `problem` says why a GPU could not be read though there is a driver."""

    found: tuple[Gpu, ...] = ()
    problem: str = ""


def find_gpus(nvml: Nvml | None = None) -> Gpus:
    """The GPUs by NVML index; none where NVML is not installed."""
    silent = Gpus(problem=f"the GPU's driver did not answer in {LIMIT_S:.0f} s")
    return _within_limit(lambda: _ask_gpus(nvml)) or silent


def count_other_processes(nvml: Nvml | None = None) -> int | None:
    """How many processes but this one compute on a GPU; None if that cannot be read."""
    pids = _within_limit(lambda: _ask_pids(nvml))
    return None if pids is None else len(pids - {os.getpid()})


def visible_gpus(environment: Mapping[str, str] = os.environ, nvml: Nvml | None = None) -> tuple[int, ...]:
    """The NVML indices in the order in which a framework numbers its devices, by CUDA_VISIBLE_DEVICES. Both number by
    PCI bus where CUDA_DEVICE_ORDER says so, or where all cards are of one model."""
    wanted = environment.get("CUDA_VISIBLE_DEVICES")
    try:
        with opened(nvml) as nvml:
            count = nvml.nvmlDeviceGetCount()
            return tuple(range(count)) if wanted is None else _chosen(nvml, wanted.split(","), count)
    except (NoLibrary, NoAnswer):
        return ()


def _ask_gpus(nvml: Nvml | None) -> Gpus:
    try:
        with opened(nvml) as nvml:
            answers = [_ask_gpu(nvml, index) for index in range(nvml.nvmlDeviceGetCount())]
    except NoLibrary:
        return Gpus()
    except NoAnswer as reason:
        return Gpus(problem=str(reason))
    problems = [answer for answer in answers if isinstance(answer, str)]
    return Gpus(found=tuple(answer for answer in answers if isinstance(answer, Gpu)), problem="; ".join(problems))


def _ask_gpu(nvml: Nvml, index: int) -> Gpu | str:
    """The GPU, or why that one does not answer."""
    try:
        facts = read_facts(nvml, nvml.nvmlDeviceGetHandleByIndex(index))
    except refusals(nvml) as error:
        return f"GPU {index}: {in_words(nvml, error)}"
    return _gpu(facts)


def _gpu(facts: GpuFacts) -> Gpu:
    return Gpu(
        name=facts.name,
        # In whole MiB, as the driver's own tool prints it: stored machine ids are made from this figure.
        memory_bytes=None if facts.memory_bytes is None else facts.memory_bytes // MIB * MIB,
        driver=facts.driver,
        power_cap_w=facts.power_cap_w,
        sm_clock_mhz=facts.largest_sm_mhz,
        compute_capability=facts.compute_capability,
        ecc=facts.ecc,
        mig=facts.mig,
    )


def _ask_pids(nvml: Nvml | None) -> set[int] | None:
    try:
        with opened(nvml) as nvml:
            handles = [nvml.nvmlDeviceGetHandleByIndex(index) for index in range(nvml.nvmlDeviceGetCount())]
            return {
                process.pid for handle in handles for process in nvml.nvmlDeviceGetComputeRunningProcesses(handle)
            }
    except (NoLibrary, NoAnswer):
        return None


def _chosen(nvml: Nvml, words: Sequence[str], count: int) -> tuple[int, ...]:
    """As CUDA reads the variable: the first entry that names no device ends the list."""
    chosen: list[int] = []
    for word in map(str.strip, words):
        index = int(word) if word.isdigit() else _find_index(nvml, word, count)
        if index is None or index >= count or index in chosen:
            break
        chosen.append(index)
    return tuple(chosen)


def _find_index(nvml: Nvml, word: str, count: int) -> int | None:
    """The card with this UUID or unique start of one; for a MIG slice, the card that it belongs to."""
    if word.startswith("MIG-"):
        mig = find_answer(nvml, nvml.nvmlDeviceGetHandleByUUID, word)
        card = find_answer(nvml, nvml.nvmlDeviceGetDeviceHandleFromMigDeviceHandle, mig) if mig is not None else None
        return find_answer(nvml, nvml.nvmlDeviceGetIndex, card) if card is not None else None
    found = [index for index in range(count) if word and _uuid(nvml, index).startswith(word)]
    return found[0] if len(found) == 1 else None


def _uuid(nvml: Nvml, index: int) -> str:
    handle = find_answer(nvml, nvml.nvmlDeviceGetHandleByIndex, index)
    return str(find_answer(nvml, nvml.nvmlDeviceGetUUID, handle) or "") if handle is not None else ""


def _within_limit(ask: Callable[[], Answer]) -> Answer | None:
    """The answer; None if the driver does not answer in time, which must not block netdyno."""
    answers: list[Answer] = []
    asking = threading.Thread(target=lambda: answers.append(ask()), daemon=True)
    asking.start()
    asking.join(LIMIT_S)
    return answers[0] if answers else None

"""Which NVIDIA GPUs there are and which processes compute on them, as nvidia-smi tells."""

import os
import shutil
import subprocess
from dataclasses import dataclass

LIMIT_S = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Gpu:
    """One GPU."""

    name: str
    memory_bytes: int | None  # None where it shares the host's
    driver: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Gpus:
    """What was found; `problem` says why nothing could be asked though the tool is there."""

    found: tuple[Gpu, ...] = ()
    problem: str = ""


def find_gpus(tool: str = "nvidia-smi") -> Gpus:
    """The GPUs by the driver's tool; none where the tool is not installed."""
    if shutil.which(tool) is None:
        return Gpus()
    rows = _query(tool, "--query-gpu=name,memory.total,driver_version")
    if isinstance(rows, str):
        return Gpus(problem=rows)
    return Gpus(found=tuple(_gpu(row) for row in rows if len(row) == 3))


def count_other_processes(tool: str = "nvidia-smi") -> int | None:
    """How many processes but this one compute on a GPU; None if that cannot be asked."""
    if shutil.which(tool) is None:
        return None
    rows = _query(tool, "--query-compute-apps=pid")
    if isinstance(rows, str):
        return None
    return len({row[0] for row in rows if row[0].isdigit()} - {str(os.getpid())})


def _query(tool: str, query: str) -> list[list[str]] | str:
    """The rows of the answer, or the problem in words."""
    command = [tool, query, "--format=csv,noheader,nounits"]
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT_S, check=False
        )
    except subprocess.TimeoutExpired:
        return f"{tool} did not answer in {LIMIT_S:.0f} s"
    except OSError as error:
        return f"{tool} does not start: {error.strerror}"
    if done.returncode != 0:
        said = (done.stdout + done.stderr).strip().splitlines()
        return f"{tool}: {said[0] if said else f'exit code {done.returncode}'}"
    lines = [line for line in done.stdout.splitlines() if line.strip()]
    return [[part.strip() for part in line.split(",")] for line in lines]


def _gpu(row: list[str]) -> Gpu:
    name, memory_mib, driver = row
    memory_bytes = int(memory_mib) * 1024 * 1024 if memory_mib.isdigit() else None
    return Gpu(name=name, memory_bytes=memory_bytes, driver=driver)

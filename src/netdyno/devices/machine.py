"""What this machine is: processor, memory, system and GPUs, and the id made from its hardware."""

import hashlib
import os
import platform
import re
from dataclasses import asdict, dataclass
from pathlib import Path

from netdyno.devices.cgroups import cpu_quota, memory_limit_bytes
from netdyno.devices.nvidia.gpus import Gpu, Gpus, find_gpus
from netdyno.devices.system_files import count_listed, memory_bytes, read_fields, read_int, read_text
from netdyno.devices.virtualisation import find_container, find_hypervisor

ROOT = Path("/")
Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """None or an empty text means: not known. Of the host's name only a hash is kept."""

    host_hash: str
    cpu: str
    physical_cores: int | None
    logical_cores: int
    usable_cores: float  # by affinity and quota; a quota may be a fraction
    memory_bytes: int | None
    memory_limit_bytes: int | None  # a control group's, if it has one
    hypervisor: str
    container: str
    smt: bool | None
    governor: str
    turbo: bool | None
    load: float | None  # runnable processes, mean of the last minute
    system: str
    kernel: str
    gpus: tuple[Gpu, ...]
    gpu_problem: str  # why GPUs could not be read

    def as_json(self) -> dict[str, Json]:
        """Plain data, as records store it."""
        return asdict(self) | {"gpus": [asdict(gpu) for gpu in self.gpus]}


def describe_machine(root: Path = ROOT, gpus: Gpus | None = None) -> Machine:
    """This machine now. `root` stands for '/', `gpus` for what the driver would report."""
    gpus = find_gpus() if gpus is None else gpus
    logical = _logical_cores(root)
    physical = _physical_cores(root)
    return Machine(
        host_hash=hashlib.sha256(platform.node().encode()).hexdigest()[:12],
        cpu=_cpu(root),
        physical_cores=physical,
        logical_cores=logical,
        usable_cores=_usable_cores(root, logical),
        memory_bytes=memory_bytes(root, "MemTotal"),
        memory_limit_bytes=memory_limit_bytes(root),
        hypervisor=find_hypervisor(root),
        container=find_container(root),
        smt=_smt(root, physical, logical),
        governor=_governor(root),
        turbo=_turbo(root),
        load=current_load(root),
        system=_system(root),
        kernel=read_text(root, "/proc/sys/kernel/osrelease") or platform.release(),
        gpus=gpus.found,
        gpu_problem=gpus.problem,
    )


def machine_id(machine: Machine) -> str:
    """Twelve hex digits over the hardware: the same until a part changes."""
    memory_gib = round((machine.memory_bytes or 0) / 2**30)
    parts = [machine.host_hash, machine.cpu, machine.physical_cores, machine.logical_cores, memory_gib]
    parts += [f"{gpu.name} {gpu.memory_bytes}" for gpu in machine.gpus]
    return hashlib.sha256("\n".join(map(str, parts)).encode()).hexdigest()[:12]


def current_load(root: Path = ROOT) -> float | None:
    """The load average of the last minute."""
    match = re.match(r"(\d+(?:\.\d+)?)\s", read_text(root, "/proc/loadavg") or "")
    return float(match[1]) if match else None


def _cpu(root: Path) -> str:
    fields = read_fields(root, "/proc/cpuinfo")
    for name in ("model name", "cpu model", "Model", "Hardware"):
        if fields.get(name):
            return " ".join(fields[name].split())
    return platform.processor() or platform.machine()


def _logical_cores(root: Path) -> int:
    online = read_text(root, "/sys/devices/system/cpu/online")
    listed = count_listed(online) if online else 0
    named = len(re.findall(r"^processor\s*:", read_text(root, "/proc/cpuinfo") or "", re.MULTILINE))
    return listed or named or os.cpu_count() or 1


def _physical_cores(root: Path) -> int | None:
    cores = set()
    for topology in (root / "sys/devices/system/cpu").glob("cpu[0-9]*/topology"):
        package = read_int(topology, "physical_package_id")
        core = read_int(topology, "core_id")
        if core is not None:
            cores.add((package, core))
    if cores:
        return len(cores)
    blocks = (read_text(root, "/proc/cpuinfo") or "").split("\n\n")
    named = {tuple(re.findall(r"^(?:physical id|core id)\s*:\s*(\d+)", block, re.MULTILINE)) for block in blocks}
    return len(named - {()}) or None


def _usable_cores(root: Path, logical: int) -> float:
    allowed = read_fields(root, "/proc/self/status").get("Cpus_allowed_list", "")
    # The allowed list may name cores that could be plugged in but are not present.
    cores = min(count_listed(allowed) or logical, logical)
    quota = cpu_quota(root)
    return float(cores) if quota is None else min(float(cores), quota)


def _smt(root: Path, physical: int | None, logical: int) -> bool | None:
    active = read_int(root, "/sys/devices/system/cpu/smt/active")
    if active is not None:
        return active == 1
    return None if physical is None else logical > physical


def _governor(root: Path) -> str:
    folder = root / "sys/devices/system/cpu"
    found = {read_text(cpu, "cpufreq/scaling_governor") for cpu in folder.glob("cpu[0-9]*")}
    return ", ".join(sorted(name for name in found if name))


def _turbo(root: Path) -> bool | None:
    no_turbo = read_int(root, "/sys/devices/system/cpu/intel_pstate/no_turbo")
    if no_turbo is not None:
        return no_turbo == 0
    boost = read_int(root, "/sys/devices/system/cpu/cpufreq/boost")
    return None if boost is None else boost == 1


def _system(root: Path) -> str:
    match = re.search(r'^PRETTY_NAME="?([^"\n]+)', read_text(root, "/etc/os-release") or "", re.MULTILINE)
    return match[1] if match else platform.system()

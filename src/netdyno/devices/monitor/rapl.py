"""How many joules the processor packages have used, from the kernel's RAPL counters."""

import re
from dataclasses import dataclass
from pathlib import Path

from netdyno.devices.system_files import read_int, read_text

ZONES = "sys/class/powercap"


@dataclass(slots=True, kw_only=True)
class Package:
    """One package's counter, which wraps around to zero at `range_uj`."""

    folder: Path
    range_uj: int
    last_uj: int
    total_uj: int = 0

    def add_up(self) -> int:
        """Microjoules since the package was found."""
        now_uj = read_int(self.folder, "energy_uj")
        if now_uj is not None:
            self.total_uj += (now_uj - self.last_uj) % self.range_uj
            self.last_uj = now_uj
        return self.total_uj


@dataclass(frozen=True, slots=True, kw_only=True)
class Rapl:
    """The packages of this machine; `problem` says why there are none."""

    packages: tuple[Package, ...] = ()
    problem: str = ""

    def joules(self) -> float:
        """What all packages have used since they were found."""
        return sum(package.add_up() for package in self.packages) / 1e6


def find_rapl(root: Path = Path("/")) -> Rapl:
    """Whole packages only: their cores and memory are counted within them, the platform around them."""
    zones = [
        zone for zone in sorted((root / ZONES).glob("intel-rapl:*")) if re.fullmatch(r"intel-rapl:\d+", zone.name)
    ]
    folders = [zone for zone in zones if (read_text(zone, "name") or "").startswith("package")]
    if not folders:
        return Rapl(problem="this machine shows no RAPL counters, as is usual in virtual machines")
    packages = [_find_package(folder) for folder in folders]
    if None in packages:
        return Rapl(problem="the RAPL counters are not readable: Linux shows them to root only")
    return Rapl(packages=tuple(package for package in packages if package))


def _find_package(folder: Path) -> Package | None:
    now_uj, range_uj = read_int(folder, "energy_uj"), read_int(folder, "max_energy_range_uj")
    return None if now_uj is None or not range_uj else Package(folder=folder, range_uj=range_uj, last_uj=now_uj)

"""Environment variables for libraries that choose instructions by the maker of the CPU."""

from collections.abc import Mapping
from pathlib import Path

from netdyno.devices.system_files import read_fields


def maker_variables(root: Path = Path("/")) -> Mapping[str, str]:
    """What an Intel MKL from before 2020 needs on another maker's CPU to use AVX2: without it, it uses SSE2, which is
    several times slower. Later versions do not read the variable."""
    fields = read_fields(root, "/proc/cpuinfo")
    foreign = fields.get("vendor_id", "GenuineIntel") != "GenuineIntel"
    return {"MKL_DEBUG_CPU_TYPE": "5"} if foreign and "avx2" in fields.get("flags", "").split() else {}

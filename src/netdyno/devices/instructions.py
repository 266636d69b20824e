"""What a CPU's instructions ask of libraries that look at its maker's name instead."""

from collections.abc import Mapping
from pathlib import Path

from netdyno.devices.system_files import read_fields


def maker_variables(root: Path = Path("/")) -> Mapping[str, str]:
    """Environment variables for frameworks that carry an Intel MKL from before 2020: on another maker's CPU it takes
    SSE2, several times slower than the AVX2 that is there. Later versions do not read the variable."""
    fields = read_fields(root, "/proc/cpuinfo")
    foreign = fields.get("vendor_id", "GenuineIntel") != "GenuineIntel"
    return {"MKL_DEBUG_CPU_TYPE": "5"} if foreign and "avx2" in fields.get("flags", "").split() else {}

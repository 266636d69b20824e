"""Does each thread have a core of its own? Physical and logical cores are counted separately."""

from collections.abc import Mapping
from typing import Any

MORE_THAN_CORES = "more threads than cores"
MORE_THAN_PHYSICAL = "more threads than physical cores"


def crowding(threads: int, environment: Mapping[str, Any]) -> str:
    """What is wrong with so many threads on the machine that `environment` describes; empty where nothing is.

    Usable cores are logical ones: what affinity and quota leave of them.
    """
    usable, physical = environment.get("usable_cores"), environment.get("physical_cores")
    if usable and threads > usable:
        return MORE_THAN_CORES
    if physical and threads > physical:
        return MORE_THAN_PHYSICAL
    return ""

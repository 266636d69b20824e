"""What a worker reports about its own run: framework memory, stages of a step, whether host or loader limit it."""

import statistics
from collections.abc import Mapping, Sequence
from typing import Protocol

from netdyno.results.words import number
from netdyno.runtime.readings.window import Readings

HOST_BOUND = 0.9  # of a step that starts with an empty queue, spent on issuing it
INPUT_BOUND = 0.95  # of the speed without loading


class LaunchTimes(Protocol):
    """How long a step takes to issue and to compute, starting with an empty queue."""

    @property
    def asked_s(self) -> float: ...

    @property
    def computed_s(self) -> float: ...


class LoadingTimes(Protocol):
    """Seconds per step of computing, loading, and loading onto the device, each timed alone."""

    @property
    def compute_s(self) -> float: ...

    @property
    def load_s(self) -> float: ...

    @property
    def feed_s(self) -> float: ...

    @property
    def loader(self) -> Mapping[str, float]:
        """Seconds of each stage of the loader, named with the suffix '_s'."""

    @property
    def turns(self) -> Sequence[Sequence[float]]:
        """Seconds per step without and with loading, timed in turns."""


def read_launch(launch: LaunchTimes | None) -> Readings:
    """Whether the device waits for the host. If so, a faster device would be no faster."""
    if launch is None:
        return Readings(absent={"asked_s": "the worker did not report it"})
    found = Readings(values={"asked_s": launch.asked_s})
    if launch.asked_s >= HOST_BOUND * launch.computed_s:
        issued_ms, step_ms = 1e3 * launch.asked_s, 1e3 * launch.computed_s
        found.flags.append(f"host-bound (asking takes {issued_ms:.3g} of {step_ms:.3g} ms a step)")
    return found


def read_loading(phases: LoadingTimes | None, step_s: float, batch: int, items: str) -> Readings:
    """Whether the device waits for its input. `step_s`: the median step with loading; `items`: their plural."""
    if phases is None:
        return Readings()
    compute, load = batch / phases.compute_s, batch / phases.load_s
    found = Readings(values={"compute_items_per_s": compute, "load_items_per_s": load})
    found.values["feed_items_per_s"] = batch / phases.feed_s
    stages = {name.removesuffix("_s"): seconds for name, seconds in phases.loader.items()}
    found.values |= {f"load_{stage}_s": seconds for stage, seconds in stages.items()}
    if batch / step_s < INPUT_BOUND * compute and load < compute:
        most = f", most of it {max(stages, key=stages.__getitem__)}" if stages else ""
        found.flags.append(
            f"input-bound (the loader gives {number(load)} {items}/s{most}; the device could take {number(compute)})"
        )
    elif _is_slowed(phases.turns):
        found.flags.append(f"slowed by feeding (without, it would make {number(compute)} {items}/s)")
    return found


def read_stages(stages: Mapping[str, float], absent: str) -> Readings:
    """The seconds of each stage of a step, or why there are none."""
    if absent:
        return Readings(absent={"split": absent})
    return Readings(values={f"{stage}_s": seconds for stage, seconds in stages.items()})


def _is_slowed(turns: Sequence[Sequence[float]]) -> bool:
    """Whether loading slows the steps: clearly, and in every turn, because a shared machine's speed drifts."""
    ratios = [without / fed for without, fed in turns]
    return bool(ratios) and statistics.median(ratios) < INPUT_BOUND and max(ratios) < 1

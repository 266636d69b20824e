"""How carefully a cell is measured: runs, seconds, target and the time a run may take."""

from dataclasses import dataclass

from netdyno.errors import NetdynoError
from netdyno.protocol.request import Timing
from netdyno.text import shown

BLOCK_S = {"cpu": 0.2, "cuda": 0.25}  # on an accelerator, long against the filling and draining of its queue
LEAST_BLOCKS = 10
MOST = {"runs": 1000, "seconds": 1_000_000, "target": 1 - 1e-9, "deadline_s": 1_000_000, "evaluate_every": 2**31 - 1}
WHOLE, OPEN = ("runs", "evaluate_every"), ("evaluate_every",)  # whole numbers; what may be left open
LARGEST_SEED = 2**32 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """`seconds` caps the timed part of a run and, separately, its warm-up; `target` is the relative half-width of the
    median's 95 % interval at which a run stops earlier; a run without a last word ends after `deadline_s`."""

    runs: int = 3
    seconds: float = 10.0
    target: float = 0.005
    deadline_s: float = 900.0
    seed: int = 0
    evaluate_every: int | None = None  # steps of a training between evaluations; None: an epoch
    split: bool = False  # time forward, backward and update apart, after the rest
    published_steps: bool = False  # time as many steps as the thesis did, sure or not, if `seconds` allow

    def __post_init__(self) -> None:
        for name, most in MOST.items():
            value = getattr(self, name)
            if value is None and name in OPEN:
                continue
            if not isinstance(value, int | float) or not value > 0:
                raise NetdynoError(f"{name}: expected a number over 0, received {shown(value)}.")
            if value > most:
                raise NetdynoError(f"{name}: expected at most {most:,}, received {shown(value)}.")
        for name in WHOLE:
            if not isinstance(value := getattr(self, name), int | None):
                raise NetdynoError(f"{name}: expected a whole number, received {shown(value)}.")
        if not isinstance(self.seed, int) or not 0 <= self.seed <= LARGEST_SEED:
            raise NetdynoError(
                f"seed: expected a whole number from 0 to {LARGEST_SEED}, received {shown(self.seed)}."
            )

    def timing(self, device: str, published_steps: int = 0) -> Timing:
        """What the worker's loop needs; `published_steps` are those of the network's entry."""
        return Timing(
            block_s=min(BLOCK_S[device], self.seconds / LEAST_BLOCKS),
            warmup_cap_s=self.seconds,
            seconds=self.seconds,
            target=self.target,
            least_blocks=LEAST_BLOCKS,
            steps=published_steps if self.published_steps else 0,
            split=self.split,
        )

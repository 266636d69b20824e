"""What does moving data cost? How long devices wait for it, and how much of the time they compute."""

import math
from dataclasses import dataclass

from netdyno.errors import NetdynoError


@dataclass(frozen=True, slots=True, kw_only=True)
class Flow:
    """Devices that share one link in turns: while one computes on its data, the others are refilled.

    The link is as fast as its slowest part: data from a disk may wait for the disk.
    """

    bytes_per_device: float
    link_bytes_per_s: float
    devices: int
    compute_s: float
    storage_bytes_per_s: float = math.inf  # memory, unless said

    def __post_init__(self) -> None:
        for name in ("bytes_per_device", "link_bytes_per_s", "devices", "compute_s", "storage_bytes_per_s"):
            if not getattr(self, name) > 0:
                raise NetdynoError(f"{name}: expected a number over 0, received {getattr(self, name)}.")

    @property
    def refill_s(self) -> float:
        """Seconds to refill one device."""
        return self.bytes_per_device / min(self.link_bytes_per_s, self.storage_bytes_per_s)

    @property
    def refill_all_s(self) -> float:
        """Seconds to refill all, one after another."""
        return self.devices * self.refill_s

    @property
    def refill_others_s(self) -> float:
        """Seconds to refill the others while one computes; a single device is refilled while it computes."""
        return max(1, self.devices - 1) * self.refill_s

    @property
    def idle_s(self) -> float:
        """Seconds that a device waits in each iteration; 0 if computing takes longer than moving."""
        return max(0.0, self.refill_others_s - self.compute_s)

    @property
    def utilisation(self) -> float:
        """The part of an iteration in which a device computes."""
        return self.compute_s / (self.compute_s + self.idle_s)

    @property
    def bound_by(self) -> str:
        """The part that limits the speed."""
        if self.idle_s == 0.0:
            return "compute"
        return "storage" if self.storage_bytes_per_s < self.link_bytes_per_s else "link"


def inputs_of(height: int, width: int, channels: int) -> int:
    """How many numbers a network receives for one image; as many bytes while they are uint8."""
    return height * width * channels

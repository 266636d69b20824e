"""What a record stores about the surroundings of its run: machine, source revision, inherited variables."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from netdyno.devices.machine import Json, Machine


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """The surroundings of a run."""

    machine: Machine
    revision: str  # of the user's folder; empty if it is not under git
    variables: Mapping[str, str] = field(default_factory=dict)  # that change how its framework computes

    def as_json(self) -> dict[str, Json]:
        """Plain data, as records store it: the machine's fields, then the others."""
        return {**self.machine.as_json(), "revision": self.revision, "variables": dict(self.variables)}

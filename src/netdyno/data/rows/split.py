"""What rows are to a run: arrays by input name, how many rows there are, and what is reached without learning."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """Both splits; `simple` are scores of what needs no network, such as a bigram, by name."""

    train: Mapping[str, Numbers]
    test: Mapping[str, Numbers]
    simple: Mapping[str, float] = field(default_factory=dict)

    def count(self) -> int:
        """Rows to learn from."""
        return len(next(iter(self.train.values())))

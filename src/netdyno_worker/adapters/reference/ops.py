"""Which composite ops the oracle computes as a whole: none, because it is what a fused kernel is compared with."""

FUSED = set()

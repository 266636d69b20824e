"""This machine: what it is, what disturbs measurements on it, and what it does during a run."""

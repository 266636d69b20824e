"""The monitor: a process of its own that samples power, memory, clocks and CPU time while workers run."""

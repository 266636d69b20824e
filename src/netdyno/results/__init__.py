"""What was measured: records of runs, where they are kept, what they add up to, how two compare."""

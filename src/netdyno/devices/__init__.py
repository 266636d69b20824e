"""This machine: what it is, what on it disturbs a measurement, and what it does while one is made."""

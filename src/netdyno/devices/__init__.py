"""This machine: what it is, and what on it disturbs a measurement."""

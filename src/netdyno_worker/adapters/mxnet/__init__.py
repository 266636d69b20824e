"""The adapter of MXNet."""

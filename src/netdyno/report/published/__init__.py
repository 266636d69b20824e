"""Figures that others published, bundled with their sources."""

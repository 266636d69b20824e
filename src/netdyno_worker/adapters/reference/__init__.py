"""The oracle in float64."""

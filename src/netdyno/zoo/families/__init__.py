"""The networks by family, each with its recipe and entries."""

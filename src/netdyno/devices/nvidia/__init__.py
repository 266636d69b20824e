"""NVIDIA GPUs through NVML, the library of the driver: which there are, and what they are."""

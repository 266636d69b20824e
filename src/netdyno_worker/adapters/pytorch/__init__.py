"""The adapter of PyTorch."""

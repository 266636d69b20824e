"""Convolutional networks: a file each, and their entries."""

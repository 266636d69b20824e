"""Datasets: the catalogue, their files, and conversion between formats."""

"""The on-disk formats of datasets, one module each."""

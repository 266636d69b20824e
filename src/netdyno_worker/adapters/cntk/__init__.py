"""The adapter of CNTK."""

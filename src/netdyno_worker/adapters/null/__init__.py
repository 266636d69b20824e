"""No framework: steps that compute nothing, to measure the harness."""

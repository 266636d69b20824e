"""Which composite ops need no decomposition where nothing is computed."""

FUSED = {"local_response_norm", "global_mean_pool"}

"""Which composite ops the kernels in netdyno_worker.reference_ops compute as a whole."""

FUSED = {"local_response_norm", "global_mean_pool"}

"""Environment variables that libraries heed while they compute: workers inherit them, so records keep them."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

# Of threads, mathematics, memory and the GPU's own libraries; frameworks name theirs in their specs.
PREFIXES = (
    *("OMP_", "GOMP_", "KMP_", "MKL_", "OPENBLAS_", "BLIS_", "DNNL_", "ONEDNN_", "MALLOC_"),
    *("CUDA_", "CUDNN_", "CUBLAS_", "NCCL_", "NVIDIA_TF32_OVERRIDE"),
)
PRELOADED = "LD_PRELOAD"
PLACES = ("_HOME", "_PATH", "_DIR", "_ROOT", "_VERSION")  # how names end that say where things lie
LONGEST = 300


def heeded_variables(prefixes: Iterable[str] = (), environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Those that may change how something is computed, and those with other `prefixes`; of preloaded libraries only
    their names."""
    heeded = (*PREFIXES, PRELOADED, *prefixes)
    found = {
        name: value for name, value in environment.items() if name.startswith(heeded) and not name.endswith(PLACES)
    }
    if PRELOADED in found:
        found[PRELOADED] = " ".join(Path(word).name for word in found[PRELOADED].replace(":", " ").split())
    return {name: value[:LONGEST] for name, value in sorted(found.items())}

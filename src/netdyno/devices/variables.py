"""Environment variables that change how libraries compute: workers inherit them, so records store them."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

# Of libraries for threads, mathematics, memory and GPUs; frameworks name theirs in their specs.
PREFIXES = (
    *("OMP_", "GOMP_", "KMP_", "MKL_", "OPENBLAS_", "BLIS_", "DNNL_", "ONEDNN_", "MALLOC_"),
    *("CUDA_", "CUDNN_", "CUBLAS_", "NCCL_", "NVIDIA_TF32_OVERRIDE"),
)
PRELOADED = "LD_PRELOAD"
PLACES = ("_HOME", "_PATH", "_DIR", "_ROOT", "_VERSION")  # suffixes of variables that only locate something
LONGEST = 300  # characters of a value


def computing_variables(prefixes: Iterable[str] = (), environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Those that may change how something is computed, and those with other `prefixes`; preloaded libraries only by
    name."""
    known = (*PREFIXES, PRELOADED, *prefixes)
    found = {
        name: value for name, value in environment.items() if name.startswith(known) and not name.endswith(PLACES)
    }
    if PRELOADED in found:
        found[PRELOADED] = " ".join(Path(word).name for word in found[PRELOADED].replace(":", " ").split())
    return {name: value[:LONGEST] for name, value in sorted(found.items())}

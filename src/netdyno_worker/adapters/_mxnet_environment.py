"""Which variables MXNet and its libraries must find when they are loaded."""

import os


def prepare_environment():
    # Asked for when a symbol is bound. The subgraphs are for inference, and normalise with running statistics.
    os.environ["MXNET_SUBGRAPH_BACKEND"] = "NONE"
    # Read by CUDA's libraries: float32 is meant strictly.
    os.environ.setdefault("NVIDIA_TF32_OVERRIDE", "0")
    if _is_foreign_to_mkl():
        # MKL of 2018 takes SSE2 on CPUs that are not Intel's, several times slower than the AVX2 they have.
        os.environ.setdefault("MKL_DEBUG_CPU_TYPE", "5")


def _is_foreign_to_mkl():
    try:
        with open("/proc/cpuinfo") as file:
            text = file.read()
    except OSError:
        return False
    return "AuthenticAMD" in text and "avx2" in text

"""Which environment variables are kept with a record, and how much of them."""

from netdyno.devices.variables import LONGEST, computing_variables

ENVIRONMENT = {
    "OMP_WAIT_POLICY": "PASSIVE",
    "NVIDIA_TF32_OVERRIDE": "1",
    "CUDA_LAUNCH_BLOCKING": "1",
    "ABACUS_ROWS": "7",
    "ABACUS_HOME": "/home/somebody",
    "CUDA_HOME": "/opt/cuda",
    "CUDA_VERSION": "13.0",
    "NVIDIA_REQUIRE_CUDA": "cuda>=9",
    "SECRET_TOKEN": "xyz",
}


def test_what_changes_computing_is_kept_and_where_things_lie_is_not() -> None:
    kept = computing_variables((), ENVIRONMENT)
    assert kept == {"CUDA_LAUNCH_BLOCKING": "1", "NVIDIA_TF32_OVERRIDE": "1", "OMP_WAIT_POLICY": "PASSIVE"}
    assert computing_variables(["ABACUS_"], ENVIRONMENT) == {"ABACUS_ROWS": "7", **kept}


def test_preloaded_libraries_are_kept_by_name() -> None:
    environment = {"LD_PRELOAD": "/home/somebody/lib/libjemalloc.so.2:/usr/lib/libtcmalloc.so"}
    assert computing_variables((), environment) == {"LD_PRELOAD": "libjemalloc.so.2 libtcmalloc.so"}


def test_a_long_value_is_cut() -> None:
    assert computing_variables((), {"OMP_PLACES": "x" * 5000}) == {"OMP_PLACES": "x" * LONGEST}

"""What is known of a largest batch is kept, and what is said of memory is understood."""

from dataclasses import replace

import pytest

from netdyno.results.limit import Limit, asked_bytes, speaks_of_memory
from netdyno.results.store import open_store

GIB = 2**30
LIMIT = Limit(
    machine="here",
    cell_key="network=a batch=1",
    versions="library 1.2",
    fits=64,
    fails=128,
    reason="out of memory",
    found_at="2026-11-15T10:00:00.000+00:00",
)


def test_the_last_bounds_of_the_same_versions_replace_those_before(location: str) -> None:
    narrower = replace(LIMIT, fits=96)
    with open_store(location) as store:
        store.add_limit(replace(LIMIT, fails=None, reason=""))
        store.add_limit(LIMIT)
        store.add_limit(narrower)
    with open_store(location, create=False) as store:
        assert store.find_limit("here", LIMIT.cell_key) == narrower


def test_of_several_versions_the_one_learned_last_is_found(location: str) -> None:
    newer = replace(LIMIT, versions="library 1.3", fits=70, found_at="2026-11-16T00:00:00.000+00:00")
    with open_store(location) as store:
        store.add_limit(newer)
        store.add_limit(LIMIT)
        assert store.find_limit("here", LIMIT.cell_key) == newer


def test_a_limit_is_of_one_machine_and_cell(location: str) -> None:
    with open_store(location) as store:
        store.add_limit(LIMIT)
        assert store.find_limit("there", LIMIT.cell_key) is None
        assert store.find_limit("here", "network=b batch=1") is None


@pytest.mark.parametrize(("fits", "fails", "exact"), [(3, 4, True), (3, 5, False), (3, None, False), (0, 1, False)])
def test_a_limit_is_exact_when_one_more_was_seen_not_to_fit(fits: int, fails: int | None, exact: bool) -> None:
    assert replace(LIMIT, fits=fits, fails=fails).is_exact is exact


@pytest.mark.parametrize(
    ("reason", "asked"),
    [
        ("CUDA out of memory. Tried to allocate 2.50 GiB. GPU 0 has 79.1 GiB, 40 GiB is allocated", 5 * GIB // 2),
        ("CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 7.79 GiB total capacity)", 20 * 2**20),
        ("DefaultCPUAllocator: can't allocate memory: you tried to allocate 8589934592 bytes.", 8 * GIB),
        ("RESOURCE_EXHAUSTED: Out of memory while trying to allocate 8589934592 bytes.", 8 * GIB),
        ("RESOURCE_EXHAUSTED: Out of memory while trying to allocate 4.00GiB.", 4 * GIB),
        ("RESOURCE_EXHAUSTED: Failed to allocate request for 176.00MiB (184549376B) on device ordinal 0", 184549376),
        ("failed to allocate 4.00G", 4 * GIB),
        ("failed to allocate 17.79G (19104890880 bytes) from device: CUDA_ERROR_OUT_OF_MEMORY", 19104890880),
        ("failed to alloc 2740606464 bytes unified memory; result: CUDA_ERROR_OUT_OF_MEMORY", 2740606464),
        ("Allocator (GPU_0_bfc) ran out of memory trying to allocate 1.50GiB (rounded to 1610612992)", 3 * GIB // 2),
        ("OOM when allocating tensor with shape[64,3,224,224] and type float on /device:GPU:0", 64 * 3 * 224**2 * 4),
        ("OOM when allocating tensor with shape[2, 5] and type bfloat16", 20),
        ("OOM when allocating tensor with shape[] and type double", 8),
        ("Out of memory error on GPU 0. Cannot allocate 98.000000MB memory on GPU 0, 6.000000GB", 98 * 2**20),
        ("out of memory to allocate 1073741824 bytes (total 12373894656 bytes)", GIB),
        ("Out of memory allocating 25,600,000 bytes (allocated so far: 3,635,267,072 bytes).", 25_600_000),
        ("Error allocating 71323200 bytes of device memory (out of memory). Driver report 9 bytes free", 71323200),
        ("not enough memory: you tried to allocate 12GB. Buy new RAM!", 12 * GIB),
        ("Unable to allocate 588. GiB for an array with shape (9, 3) and data type float64", 588 * GIB),
    ],
)
def test_the_bytes_that_were_asked_for_are_read_from_every_wording(reason: str, asked: int) -> None:
    assert asked_bytes(reason) == asked
    assert speaks_of_memory(reason)


@pytest.mark.parametrize(
    "reason",
    [
        "src/storage/./pooled_storage_manager.h:157: cudaMalloc failed: out of memory",
        "CUDA failure 2: out of memory ; GPU=0 ; expr=cudaMalloc((void**) &p, sizeof(T) * numElements)",
        "Check failed: error == cudaSuccess (2 vs. 0)  out of memory",
        "terminate called after throwing an instance of 'std::bad_alloc'",
        "cuDNN error: CUDNN_STATUS_ALLOC_FAILED",
        "cudaErrorMemoryAllocation: out of memory",
        "OOM when allocating tensor with shape[3] and type mystery",
        "killed by the kernel, out of memory",
    ],
)
def test_words_of_memory_without_a_number_give_none(reason: str) -> None:
    assert asked_bytes(reason) is None
    assert speaks_of_memory(reason)


@pytest.mark.parametrize(
    "reason",
    [
        "",
        "CUDA error: an illegal memory access was encountered",
        "ended by SIGSEGV",
        "40.00 GiB is allocated by the framework, and 2 GiB are free",
        "expected 3 channels, received 4",
    ],
)
def test_what_is_not_about_a_lack_of_memory_is_not_taken_for_it(reason: str) -> None:
    assert asked_bytes(reason) is None
    assert not speaks_of_memory(reason)

"""Records such as a busy group has after a month: what a page must stay readable with."""

from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace
from tests.report.pages import failure, runs_of, with_figure

from netdyno.results.figure import Figure
from netdyno.results.record import Record

FOURTEEN = (
    "caffe2", "chainer", "cntk-2.5.1", "cntk-2.7", "jax", "keras-jax", "keras-tensorflow", "keras-torch", "mxnet-1.2",
    "mxnet-1.9", "paddle-3", "pytorch-1.0", "pytorch-2", "tensorflow-2",
)  # fmt: skip
STEPS_S = (0.031, 0.045, 0.038, 0.036, 0.012, 0.013, 0.019, 0.022, 0.034, 0.03, 0.014, 0.033, 0.011, 0.016)
VERSIONS = {
    "jax": ("jax", "0.7.2"), "pytorch-2": ("torch", "2.9.1"), "tensorflow-2": ("tensorflow", "2.20.0"),
    "pytorch-1.0": ("torch", "1.0.1"), "mxnet-1.2": ("mxnet", "1.2.1"), "mxnet-1.9": ("mxnet", "1.9.1"),
    "cntk-2.5.1": ("cntk", "2.5.1"), "cntk-2.7": ("cntk", "2.7"), "chainer": ("chainer", "7.8.1"),
    "paddle-3": ("paddle", "3.2.0"), "caffe2": ("torch", "1.13.1"),
}  # fmt: skip
BATCHES = (16, 32, 64, 128, 256)
LONG_NETWORK = "/home/student/nets/wide.py:residual_network_with_squeeze_and_excitation"
HOST = {
    "cpu": "AMD EPYC 9354 32-Core Processor", "physical_cores": 32, "logical_cores": 64, "usable_cores": 64.0,
    "memory_bytes": 270 * 2**30, "system": "Debian GNU/Linux 12 (bookworm)", "kernel": "6.1.0", "hypervisor": "",
    "container": "", "load": 0.4,
    "gpus": [{"name": "NVIDIA H200", "memory_bytes": 150_754_820_096, "driver": "580.159.04", "power_cap_w": 700.0}],
}  # fmt: skip
LONG_REASON = (
    "Traceback (most recent call last): File \"/venv/lib/python3.12/site-packages/torch/nn/modules/module.py\", line "
    "1751, in _call_impl RuntimeError: CUDA out of memory. Tried to allocate 7.50 GiB. GPU 0 has a total capacity of "
    "139.81 GiB of which 3.12 GiB is free."
)  # fmt: skip


def realistic_records() -> list[Record]:
    """Several networks on a GPU and a CPU; packed and native data; failures; one run; wide intervals; Null."""
    return [*_on_gpu(), *_on_cpu(), *_instruments(), *_failures()]


def _on_gpu() -> Iterator[Record]:
    for place, (name, step_s) in enumerate(zip(FOURTEEN, STEPS_S, strict=True)):
        for batch in BATCHES:
            yield from _gpu_runs(name, step_s * (0.4 + batch / 100), batch=batch, seed=place)
    for place, name in enumerate(("pytorch-2", "jax", "tensorflow-2")):
        for data in ("packed", "native"):
            slower = 0.05 + 0.004 * place + (0.006 if data == "packed" else 0.0)
            yield from _gpu_runs(name, slower, network="resnet50", dataset="imagenet", batch=64, data=data)
        yield from _gpu_runs(name, 0.041 + 0.003 * place, network="resnet50", dataset="imagenet", batch=64)


def _on_cpu() -> Iterator[Record]:
    for name, step_s in (("pytorch-2", 0.009), ("jax", 0.0105), ("tensorflow-2", 0.0121), ("paddle-3", 0.0111)):
        yield from _cpu_runs(name, step_s)
    yield from _cpu_runs("chainer", 0.02, runs=1)
    for number, step_s in enumerate((0.01, 0.03, 0.06), 1):
        (run,) = _cpu_runs("keras-torch", step_s, runs=1, flags=("foreign load",))
        yield _numbered(run, number)
    yield from _cpu_runs("pytorch-2", 0.08, network=LONG_NETWORK, dataset="cifar10")
    yield from _cpu_runs("jax", 0.07, network=LONG_NETWORK, dataset="cifar10")


def _instruments() -> Iterator[Record]:
    yield from _cpu_runs("null", 2e-6)
    yield from _gpu_runs("null", 3e-6, batch=128)


def _failures() -> Iterator[Record]:
    """On the same machine, of cells in which others could be measured."""
    large = {"network": "resnet50", "dataset": "imagenet", "device": "cuda", "batch": 64, "precision": "bfloat16"}
    out = failure(LONG_REASON, framework="theano", **large)
    yield replace(out, machine="5bce98f73f3e", environment=HOST, id="out of memory")
    unable = failure("this framework's adapter has no batch_norm", framework="mxnet-1.2", threads=8)
    yield replace(unable, machine="5bce98f73f3e", environment=HOST, id="unable")


def _gpu_runs(framework: str, step_s: float, **changes: Any) -> list[Record]:
    fields = {"network": "googlenet", "dataset": "cifar10", "device": "cuda", "precision": "bfloat16"} | changes
    joules = 430 * step_s / fields["batch"]
    records = runs_of(
        step_s, framework=framework, environment=HOST, machine="5bce98f73f3e",
        device_peak_bytes=int(2**30 * (1 + 20 * step_s)), readings={"mean_w": 430.0, "j_per_item": joules},
        versions=_versions(framework), netdyno_version="0.2.0", **fields,
    )  # fmt: skip
    return with_figure(records, Figure("host_copies", "bytes", "less", 3 * 2**20)) if framework == "jax" else records


def _cpu_runs(framework: str, step_s: float, **changes: Any) -> list[Record]:
    return runs_of(
        step_s, framework=framework, environment=HOST, machine="5bce98f73f3e", versions=_versions(framework),
        netdyno_version="0.2.0", **{"threads": 8} | changes,
    )  # fmt: skip


def _versions(framework: str) -> dict[str, str]:
    module, version = VERSIONS.get(framework, ("keras", "3.11.3"))
    return {module: version, "numpy": "2.4.0", "python": "3.12.3"}


def _numbered(record: Record, number: int) -> Record:
    return replace(record, number=number, id=f"{record.id} run {number}")

"""How much of a device a run used, against its maker's peak and against a measured one."""

from pathlib import Path

import pytest
from tests.results.samples import make_cell, make_record, make_samples

from netdyno.bench.cells import Bench
from netdyno.bench.suite import read_suite
from netdyno.bench.suites import find_suite
from netdyno.results.cell import CHOICES
from netdyno.results.cores import crowding
from netdyno.results.record import Record
from netdyno.results.utilisation import (
    PEAK_NETWORK,
    flops_per_s,
    measured_peak,
    nominal_flops_per_s,
    nominal_peak,
    utilisation,
)

H200 = {"gpus": [{"name": "NVIDIA H200"}]}


def _run(network: str = "resnet50", *, step_s: float = 0.5, flops: int = 10**12, **changes: object) -> Record:
    cell = make_cell(network=network, **{"device": "cuda", "precision": "bfloat16", **changes})
    return make_record(cell, samples=make_samples([step_s] * 9), cost={"step_flops": flops}, environment=H200)


def test_speed_is_the_flops_of_a_step_over_the_median_step() -> None:
    record = make_record(samples=make_samples([0.5, 0.5, 0.5, 9.0]), cost={"step_flops": 10**12})
    assert flops_per_s(record) == pytest.approx(2e12)


def test_a_block_of_many_steps_counts_each_of_them() -> None:
    record = make_record(samples=make_samples([1.0] * 6, steps=10), cost={"step_flops": 10**12})
    assert flops_per_s(record) == pytest.approx(1e13)


@pytest.mark.parametrize(
    "record",
    [
        make_record(outcome="crashed", cost={"step_flops": 10**12}),
        make_record(samples=(), cost={"step_flops": 10**12}),
        make_record(cost={}),
    ],
    ids=["crashed", "without samples", "without a cost"],
)
def test_a_run_without_a_speed_has_no_utilisation(record: Record) -> None:
    assert flops_per_s(record) is None
    assert utilisation(record, 1e12, 1e12) is None


def test_utilisation_is_the_share_of_either_peak() -> None:
    used = utilisation(_run(step_s=0.5), 8e12, 4e12)
    assert used is not None
    assert (used.flops_per_s, used.of_nominal, used.of_measured) == pytest.approx((2e12, 0.25, 0.5))


def test_an_unknown_peak_gives_no_share_and_not_zero() -> None:
    used = utilisation(_run(), None, None)
    assert used is not None
    assert (used.of_nominal, used.of_measured) == (None, None)


def test_the_measured_peak_is_the_best_run_of_products() -> None:
    runs = [_run("matmul", step_s=0.5), _run("matmul", step_s=0.25), _run("resnet50", step_s=0.01)]
    assert measured_peak(runs, _run()) == pytest.approx(4e12)


@pytest.mark.parametrize("change", [{"precision": "float32"}, {"device": "cpu"}])
def test_a_peak_of_another_device_or_precision_does_not_count(change: dict[str, str]) -> None:
    assert measured_peak([_run("matmul", **change)], _run()) is None


def test_a_peak_of_another_machine_does_not_count() -> None:
    elsewhere = make_record(_run("matmul").cell, machine="elsewhere", cost={"step_flops": 10**12})
    assert flops_per_s(elsewhere) is not None
    assert measured_peak([elsewhere], _run()) is None


def test_a_failed_run_of_products_is_no_peak() -> None:
    failed = make_record(_run("matmul").cell, outcome="failed", samples=(), cost={"step_flops": 10**12})
    assert measured_peak([failed], _run()) is None
    assert measured_peak([failed, _run("matmul")], _run()) == pytest.approx(2e12)


def test_the_nominal_peak_is_that_of_the_runs_gpu_and_precision() -> None:
    assert nominal_peak(_run()) == pytest.approx(989.4e12)
    assert nominal_peak(_run(precision="float32")) == pytest.approx(66.9e12)


def test_a_cpu_has_no_nominal_peak_even_beside_a_gpu() -> None:
    assert nominal_peak(_run(device="cpu")) is None
    assert nominal_peak(make_record(_run().cell)) is None


@pytest.mark.parametrize(
    ("gpu", "precision", "tera"),
    [
        ("Tesla K20m", "float32", 3.52),
        ("Tesla P100-PCIE-16GB", "float16", 18.7),
        ("Tesla P100-SXM2-16GB", "float32", 10.6),
        ("Tesla V100-SXM2-32GB", "float16", 125.0),
        ("NVIDIA A100-SXM4-40GB", "tf32", 156.0),
        ("NVIDIA A100 80GB PCIe", "bfloat16", 312.0),
        ("A100-PCIE-40GB", "float32", 19.5),
        ("NVIDIA H100 80GB HBM3", "tf32", 494.7),
        ("NVIDIA H100 PCIe", "bfloat16", 756.0),
        ("NVIDIA H200", "float16", 989.4),
        ("NVIDIA L4", "bfloat16", 121.0),
        ("NVIDIA L40S", "tf32", 183.0),
        ("NVIDIA GeForce RTX 3090", "bfloat16", 71.0),
        ("NVIDIA GeForce RTX 4090", "float32", 82.6),
        ("NVIDIA B200", "bfloat16", 2250.0),
    ],
)
def test_a_gpu_is_known_by_its_drivers_name(gpu: str, precision: str, tera: float) -> None:
    assert nominal_flops_per_s(gpu, precision) == pytest.approx(tera * 1e12)


@pytest.mark.parametrize(
    "gpu",
    [
        "",
        "NVIDIA A100-SXM4-40GB MIG 1g.5gb",
        "NVIDIA H200 NVL",
        "NVIDIA GeForce RTX 3090 Ti",
        "NVIDIA L40",
        "AMD MI300X",
    ],
)
def test_a_slice_a_variant_or_a_stranger_has_no_known_peak(gpu: str) -> None:
    assert nominal_flops_per_s(gpu, "float32") is None


@pytest.mark.parametrize(("gpu", "precision"), [("Tesla K20m", "float16"), ("Tesla V100-SXM2-16GB", "tf32")])
def test_what_a_gpu_cannot_do_has_no_peak(gpu: str, precision: str) -> None:
    assert nominal_flops_per_s(gpu, precision) is None


def test_the_bundled_suite_measures_the_peak_of_every_device_and_precision() -> None:
    cells = read_suite(find_suite("peak"), Bench(threads=2, folder=Path(), framework="null").complete).cells
    assert {cell.network for cell in cells} == {PEAK_NETWORK}
    assert {cell.precision for cell in cells if cell.device == "cuda"} == set(CHOICES["precision"]) - {"float64"}
    assert any(cell.device == "cpu" for cell in cells)


@pytest.mark.parametrize(
    ("threads", "cores", "word"),
    [
        (2, {"physical_cores": 2, "usable_cores": 4.0}, ""),
        (3, {"physical_cores": 2, "usable_cores": 4.0}, "more threads than physical cores"),
        (5, {"physical_cores": 2, "usable_cores": 4.0}, "more threads than cores"),
        (2, {"physical_cores": 8, "usable_cores": 1.5}, "more threads than cores"),
        (4, {"physical_cores": None, "usable_cores": 4.0}, ""),
        (4, {}, ""),
    ],
)
def test_threads_without_a_core_of_their_own_are_told(threads: int, cores: dict[str, float], word: str) -> None:
    assert crowding(threads, cores) == word

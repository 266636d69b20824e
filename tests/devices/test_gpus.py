"""GPUs as a fake nvidia-smi tells them."""

from pathlib import Path

import pytest
from tests.devices.trees import fake_tool

from netdyno.devices import gpus
from netdyno.devices.gpus import Gpu, Gpus, count_other_processes, find_gpus


def test_no_tool_means_no_gpu() -> None:
    assert find_gpus("nvidia-smi-that-is-not-there") == Gpus()
    assert count_other_processes("nvidia-smi-that-is-not-there") is None


def test_each_line_is_a_gpu(tmp_path: Path) -> None:
    tool = fake_tool(tmp_path / "smi", "echo 'Example A, 1024, 580.1'; echo 'Example B, [N/A], 580.1'")
    assert find_gpus(tool).found == (
        Gpu(name="Example A", memory_bytes=2**30, driver="580.1"),
        Gpu(name="Example B", memory_bytes=None, driver="580.1"),
    )


def test_a_driver_that_fails_is_a_problem_in_words(tmp_path: Path) -> None:
    tool = fake_tool(tmp_path / "smi", "echo 'Driver/library version mismatch'; exit 18")
    assert find_gpus(tool).found == ()
    assert "mismatch" in find_gpus(tool).problem
    assert count_other_processes(tool) is None


def test_a_driver_that_hangs_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpus, "LIMIT_S", 0.2)
    assert "did not answer" in find_gpus(fake_tool(tmp_path / "smi", "exec sleep 20")).problem


def test_processes_are_counted_once_and_this_one_not(tmp_path: Path) -> None:
    # The tool's parent is this process.
    tool = fake_tool(tmp_path / "smi", "echo 11; echo 11; echo 12; echo $PPID; echo")
    assert count_other_processes(tool) == 2

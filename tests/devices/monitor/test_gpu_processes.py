"""Which processes on a GPU are the worker's."""

import subprocess
from types import SimpleNamespace
from typing import Any

from netdyno.devices.monitor.gpu_processes import GpuProcesses


def _processes(*pairs: tuple[int, int]) -> list[Any]:
    return [SimpleNamespace(pid=pid, usedGpuMemory=used) for pid, used in pairs]


def test_nothing_is_ours_before_there_is_a_worker() -> None:
    assert GpuProcesses().own_bytes(_processes((77, 100))) is None


def test_the_worker_is_found_by_its_pid_among_strangers() -> None:
    assert GpuProcesses(ranks={77}).own_bytes(_processes((77, 100), (78, 5))) == 100


def test_a_worker_that_has_not_opened_the_gpu_uses_nothing() -> None:
    assert GpuProcesses(ranks={77}).own_bytes([]) == 0


def test_a_single_process_of_another_pid_namespace_is_ours() -> None:
    assert GpuProcesses(ranks={77}).own_bytes(_processes((123456789, 100))) == 100


def test_of_several_unknown_processes_none_is_called_ours() -> None:
    assert GpuProcesses(ranks={77}).own_bytes(_processes((123456789, 100), (123456790, 5))) is None


def test_who_was_there_before_the_worker_is_a_stranger() -> None:
    processes = GpuProcesses()
    processes.own_bytes(_processes((123456789, 100)))
    processes.ranks.add(77)
    assert processes.own_bytes(_processes((123456789, 100))) == 0
    assert processes.own_bytes(_processes((123456789, 100), (123456790, 5))) == 5


def test_several_ranks_on_one_gpu_are_added_and_counted() -> None:
    processes = GpuProcesses(ranks={77, 78, 79})
    found = _processes((77, 100), (79, 20), (80, 5))
    assert (processes.own_bytes(found), processes.own_count(found)) == (120, 2)


def test_nothing_is_counted_where_nobody_can_say_whose_it_is() -> None:
    processes = GpuProcesses(ranks={77, 78})
    assert processes.own_count(_processes((123456789, 100), (123456790, 5))) is None
    assert GpuProcesses().own_count(_processes((77, 100))) is None


def test_what_the_worker_starts_is_ours_too() -> None:
    worker = subprocess.Popen(
        ["sh", "-c", "sleep 30 & echo $!; wait"], stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        assert worker.stdout is not None
        child = int(worker.stdout.readline())
        processes = GpuProcesses(ranks={worker.pid})
        assert processes.own_bytes(_processes((worker.pid, 100), (child, 5), (123456789, 7))) == 105
    finally:
        subprocess.run(["kill", str(child), str(worker.pid)], check=False)
        worker.wait()

"""Workloads are found by name: a module with WORKLOAD is all that it takes."""

import pytest

import netdyno.workloads
from netdyno.errors import NetdynoError
from netdyno.workloads import find_workload, workload_names

MODULE = """
from netdyno.workloads.train import Train

WORKLOAD = Train("fast-forward")
"""


def test_those_that_measure_a_cell_are_known():
    assert {"train", "learn"} <= set(workload_names())
    assert not {"prove", "fit", "probe", "figures", "workload"} & set(workload_names())


@pytest.mark.parametrize("name", ["trian", "prove", "../train", ""])
def test_another_name_is_a_users_mistake(name):
    with pytest.raises(NetdynoError, match="no workload named"):
        find_workload(name)


def test_a_new_module_is_found_without_a_change_anywhere_else(tmp_path, monkeypatch):
    (tmp_path / "fast_forward.py").write_text(MODULE)
    monkeypatch.setattr(netdyno.workloads, "__path__", [*netdyno.workloads.__path__, str(tmp_path)])
    assert find_workload("fast-forward").name == "fast-forward"
    assert "fast-forward" in workload_names()

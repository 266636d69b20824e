"""Which GPUs a framework sees, in its order."""

import pytest
from tests.devices.fake_nvml import LIBRARY_NOT_FOUND, FakeNvml

from netdyno.devices.nvidia.gpus import visible_gpus


def test_without_the_variable_all_are_seen_and_without_a_driver_none() -> None:
    assert visible_gpus({}, FakeNvml(count=3)) == (0, 1, 2)
    assert visible_gpus({}, FakeNvml(refused={"nvmlInit": LIBRARY_NOT_FOUND})) == ()


@pytest.mark.parametrize(
    ("variable", "seen"),
    [
        ("2,0", (2, 0)),
        (" 1 , 2 ", (1, 2)),
        ("", ()),
        ("-1", ()),
        ("0,7,1", (0,)),  # a number that names no device ends the list
        ("GPU-2abc-4567,GPU-0abc-4567", (2, 0)),
        ("GPU-1a", (1,)),  # the beginning is enough where it is clear
        ("GPU-", ()),
        ("MIG-3eb87630-93d5-b2b6-b8ff-9b359caf4ee2", (2,)),  # a slice of card 2
        ("MIG-nonsense", ()),
    ],
)
def test_numbers_and_uuids_choose_and_order(variable: str, seen: tuple[int, ...]) -> None:
    assert visible_gpus({"CUDA_VISIBLE_DEVICES": variable}, FakeNvml(count=3)) == seen

"""Old MKLs are told what a CPU can do that is not their maker's."""

import pytest

from netdyno.devices.instructions import maker_variables


@pytest.mark.parametrize(
    ("vendor", "flags", "told"),
    [
        ("AuthenticAMD", "sse2 avx avx2 fma", {"MKL_DEBUG_CPU_TYPE": "5"}),
        ("AuthenticAMD", "sse2 avx", {}),
        ("GenuineIntel", "sse2 avx avx2", {}),
    ],
)
def test_only_a_foreign_cpu_with_avx2_is_told(tmp_path, vendor, flags, told):
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc" / "cpuinfo").write_text(f"processor: 0\nvendor_id\t: {vendor}\nflags\t\t: {flags}\n")
    assert maker_variables(tmp_path) == told


def test_a_machine_that_does_not_say_is_told_nothing(tmp_path):
    assert maker_variables(tmp_path) == {}

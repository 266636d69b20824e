"""A trace is read back as written, and whatever is left of it when it was not written to its end."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netdyno.devices.monitor.trace import Trace, append_problem, missing_line, read_trace, row_line, start_lines

NAMES = ("host.load", "gpu0.power_instant_w", "gpu0.energy_j")
ABOUT = {
    "facts": {"gpu0": {"name": "NVIDIA H200", "power_cap_w": 700.0}},
    "missing": {"host.rapl_j": "no counters"},
    "refresh_s": {"gpu0": 0.1},
}
TEXT = (
    start_lines(NAMES, **ABOUT)
    + row_line(1.0, NAMES, {"host.load": 0.5, "gpu0.power_instant_w": 79.808, "gpu0.energy_j": 22462693.125})
    + row_line(1.05, NAMES, {"gpu0.power_instant_w": 80.0})
    + missing_line(1.1, {"gpu0.energy_j": "the GPU is lost"})
    + row_line(1.2, NAMES, {"host.load": 0.25})
)


def _read(folder: Path, text: str | bytes) -> Trace:
    path = folder / "monitor.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_trace(path)


def test_a_trace_is_read_as_it_was_written(tmp_path: Path) -> None:
    trace = _read(tmp_path, TEXT)
    assert trace.problem == ""
    assert trace.names == NAMES
    assert trace.facts == ABOUT["facts"]
    assert trace.refresh_s == {"gpu0": 0.1}
    assert trace.missing == {"host.rapl_j": "no counters", "gpu0.energy_j": "the GPU is lost"}
    assert trace.series("gpu0.power_instant_w") == ((1.0, 79.808), (1.05, 80.0))
    assert trace.series("gpu0.energy_j") == ((1.0, 22462693.125),)
    assert trace.series("host.load") == ((1.0, 0.5), (1.2, 0.25))
    assert trace.series("gpu7.energy_j") == ()


def test_a_file_that_is_not_there_is_a_problem_in_words(tmp_path: Path) -> None:
    trace = read_trace(tmp_path / "nothing.csv")
    assert "no trace" in trace.problem
    assert trace.series("host.load") == ()


@pytest.mark.parametrize(
    "text", ["", "at,host.load\n1,2\n", '# {"format": 2}\nat\n', "# []\nat\n", '# {"format": 1}\n']
)
def test_a_file_that_is_no_trace_is_a_problem(tmp_path: Path, text: str) -> None:
    assert "does not start" in _read(tmp_path, text).problem


def test_a_cut_last_line_is_dropped_though_its_numbers_could_be_read(tmp_path: Path) -> None:
    trace = _read(tmp_path, start_lines(NAMES, **ABOUT) + "1.0,0.5,79,1\n1.2,0.5,79,2246")
    assert trace.series("gpu0.energy_j") == ((1.0, 1.0),)
    assert "cut" in trace.problem


@pytest.mark.parametrize("line", ["1,2", "1,2,3,4,5", "1,a,b,c", ",1,2,3", "1,nan,2,3", "# not json", "\x00\xff"])
def test_a_line_that_is_no_row_is_left_out_and_told(tmp_path: Path, line: str) -> None:
    trace = _read(tmp_path, start_lines(NAMES, **ABOUT) + f"1.0,0.5,79,1\n{line}\n1.2,0.25,79,2\n")
    assert trace.series("host.load") == ((1.0, 0.5), (1.2, 0.25))
    assert trace.problem.startswith("1 line")


def test_the_hosts_word_is_read_and_the_line_cut_before_it_is_not(tmp_path: Path) -> None:
    path = tmp_path / "monitor.csv"
    path.write_text(start_lines(NAMES, **ABOUT) + "1.0,0.5,79,1\n1.2,0.5,79,2246")
    append_problem(path, "the monitor was killed")
    trace = read_trace(path)
    assert trace.problem == "the monitor was killed"
    assert trace.series("gpu0.energy_j") == ((1.0, 1.0),)


def test_the_hosts_word_is_read_where_the_monitor_wrote_nothing(tmp_path: Path) -> None:
    append_problem(tmp_path / "monitor.csv", "it did not start")
    assert read_trace(tmp_path / "monitor.csv").problem == "it did not start"
    append_problem(tmp_path / "no" / "folder.csv", "nobody will read this")


@given(cut=st.integers(0, len(TEXT.encode())))
def test_a_trace_cut_anywhere_holds_the_beginning_of_the_whole(tmp_path_factory, cut: int) -> None:
    folder = tmp_path_factory.mktemp("cut")
    whole, part = _read(folder, TEXT), _read(folder, TEXT.encode()[:cut])
    for name in NAMES:
        assert part.series(name) == whole.series(name)[: len(part.series(name))]


@given(noise=st.binary(max_size=200), after=st.booleans())
def test_no_bytes_make_reading_fail(tmp_path_factory, noise: bytes, after: bool) -> None:
    trace = _read(tmp_path_factory.mktemp("noise"), TEXT.encode() + noise if after else noise)
    assert isinstance(trace.problem, str)
    assert len(trace.series("gpu0.power_instant_w")) >= 2 * after

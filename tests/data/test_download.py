"""A published file comes whole and checked, whatever its mirrors do; a loopback server plays them."""

from dataclasses import replace

import pytest
from tests.data.mirrors import PACKED, TINY, running_mirror

from netdyno.data import download as downloading
from netdyno.data.download import Fetching, download
from netdyno.errors import NetdynoError

ONE = TINY.files[0]
BODY = PACKED[ONE.name]


@pytest.fixture
def mirror():
    with running_mirror() as mirror:
        yield mirror


def _fetching(tmp_path, **more):
    return Fetching(published=ONE, partial=tmp_path / "file.partial", progress=lambda *_: None, **more)


def test_a_file_comes_whole_and_progress_is_told(mirror, tmp_path):
    told = []
    fetching = replace(_fetching(tmp_path), progress=lambda *facts: told.append(facts))
    download(fetching, [mirror.url])
    assert fetching.partial.read_bytes() == BODY
    assert told[-1] == (ONE.name, len(BODY), len(BODY))


def test_what_a_cut_connection_brought_is_continued_by_range(mirror, tmp_path):
    mirror.manner = lambda nth: "cuts_off" if nth <= 2 else "good"
    fetching = _fetching(tmp_path)
    download(fetching, [mirror.url])
    assert fetching.partial.read_bytes() == BODY
    assert [start for _, start in mirror.asked] == [0, 10_000, 20_000]


def test_an_earlier_command_s_part_is_continued(mirror, tmp_path):
    fetching = _fetching(tmp_path)
    fetching.partial.write_bytes(BODY[:12_345])
    download(fetching, [mirror.url])
    assert fetching.partial.read_bytes() == BODY
    assert [start for _, start in mirror.asked] == [12_345]


def test_a_server_that_ignores_range_begins_again_and_nothing_is_doubled(mirror, tmp_path):
    mirror.manner = "ignores_range"
    fetching = _fetching(tmp_path)
    fetching.partial.write_bytes(BODY[:12_345])
    download(fetching, [mirror.url])
    assert fetching.partial.read_bytes() == BODY


def test_an_earlier_part_that_was_wrong_is_not_the_mirror_s_fault(mirror, tmp_path):
    fetching = _fetching(tmp_path)
    fetching.partial.write_bytes(bytes(12_345))
    download(fetching, [mirror.url])
    assert fetching.partial.read_bytes() == BODY
    assert [start for _, start in mirror.asked] == [12_345, 0]


@pytest.mark.parametrize(
    ("manner", "words"),
    [
        ("cuts_off_without_a_word", "cut off at 5,000 of"),
        ("says_too_long", "received one of"),
        ("sends_more", "received more"),
        ("sends_wrong_bytes", "expected the MD5"),
        ("sends_a_page", "received one of 36"),
        ("is_missing", "404|Not Found"),
    ],
)
def test_a_bad_mirror_is_told_with_its_reason(mirror, tmp_path, manner, words):
    mirror.manner = manner
    with pytest.raises(NetdynoError, match=words):
        download(_fetching(tmp_path), [mirror.url])


def test_another_range_than_asked_for_is_never_appended(mirror, tmp_path):
    mirror.manner = "gives_another_range"
    fetching = _fetching(tmp_path)
    fetching.partial.write_bytes(BODY[:12_345])
    with pytest.raises(NetdynoError, match="expected the bytes from 12,345 on"):
        download(fetching, [mirror.url])
    assert fetching.partial.read_bytes() == BODY[:12_345]


def test_a_mirror_that_keeps_cutting_off_is_left_after_some_attempts(mirror, tmp_path):
    mirror.manner, mirror.cut_at = "cuts_off", 10
    with pytest.raises(NetdynoError, match="cut off at 50 of"):
        download(_fetching(tmp_path), [mirror.url])
    assert len(mirror.asked) == downloading.ATTEMPTS


def test_a_mirror_that_never_answers_is_left_in_time(mirror, tmp_path):
    mirror.manner = "sends_nothing"
    with pytest.raises(NetdynoError, match="timed out"):
        download(_fetching(tmp_path, timeout_s=0.2), [mirror.url])


def test_the_next_mirror_is_tried_and_continues(mirror, tmp_path):
    mirror.manner = lambda nth: "cuts_off" if nth == 1 else "sends_nothing" if nth == 2 else "good"
    fetching = _fetching(tmp_path, timeout_s=0.2)
    download(fetching, [f"{mirror.url}a/", f"{mirror.url}b/"])
    assert mirror.asked[-1] == (f"/b/{ONE.name}", 10_000)
    assert fetching.partial.read_bytes() == BODY


def test_no_mirror_at_all_is_told_with_every_reason(tmp_path):
    with pytest.raises(
        NetdynoError, match=r"none of 2 mirrors \(http://127.0.0.1:9/: .*; http://127.0.0.1:9/b/: .*--from"
    ):
        download(_fetching(tmp_path), ["http://127.0.0.1:9/", "http://127.0.0.1:9/b/"])


def test_a_trickle_is_refused():
    with pytest.raises(downloading.Unusable, match="received 33"):
        downloading._refuse_slow(1000, 30.0)
    downloading._refuse_slow(1_000_000, 30.0)

"""Does a text become the rows that its words or bytes say, and a bad one a line?"""

import math
from pathlib import Path

import numpy as np
import pytest

from netdyno.data.rows.text import is_text, text_rows
from netdyno.errors import NetdynoError


def _written(folder: Path, content: str | bytes) -> str:
    path = folder / "some text.txt"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return str(path)


def test_a_source_that_names_a_text_is_told_from_a_dataset() -> None:
    assert is_text("text:a/b.txt")
    assert is_text("bytes:a/b.txt")
    assert not is_text("mnist")
    assert not is_text("text")


def test_frequent_words_have_numbers_and_rare_ones_share_the_first(tmp_path: Path) -> None:
    path = _written(tmp_path, "to be, to be; to " * 10)
    rows = text_rows(f"text:{path}", words=3, steps=4)
    first = rows.train["tokens"][0]
    assert first.tolist() == [1, 2, 0, 1, 2]  # to be , to be


def test_each_row_begins_with_the_last_token_of_the_one_before(tmp_path: Path) -> None:
    path = _written(tmp_path, bytes(range(100)))
    rows = text_rows(f"bytes:{path}", words=256, steps=5)
    assert rows.train["tokens"][:3].tolist() == [[0, 1, 2, 3, 4, 5], [5, 6, 7, 8, 9, 10], [10, 11, 12, 13, 14, 15]]
    assert rows.test["tokens"].tolist() == [[90, 91, 92, 93, 94, 95]]
    assert rows.count() == 17


def test_what_needs_no_network_is_scored_on_the_last_tenth(tmp_path: Path) -> None:
    path = _written(tmp_path, b"ab" * 500)
    rows = text_rows(f"bytes:{path}", words=256, steps=5)
    single = -math.log(451 / (900 + 256))
    assert rows.simple["unigram"] == pytest.approx(single)
    assert rows.simple["bigram"] == pytest.approx(-math.log(0.75 + 0.25 * 451 / (900 + 256)), rel=1e-3)


def test_a_text_without_order_is_said_no_better_by_its_pairs(tmp_path: Path) -> None:
    drawn = np.random.RandomState(1).randint(0, 4, size=20_000).astype(np.uint8)
    rows = text_rows(f"bytes:{_written(tmp_path, drawn.tobytes())}", words=256, steps=8)
    assert rows.simple["unigram"] == pytest.approx(math.log(4), rel=0.02)
    assert rows.simple["bigram"] == pytest.approx(rows.simple["unigram"], rel=0.01)


@pytest.mark.parametrize(
    ("kind", "content", "words", "complaint"),
    [
        ("text", "", 100, "expected a text of 50 tokens or more, received 0."),
        ("bytes", b"short", 256, "expected a text of 50 tokens or more, received 5."),
        ("bytes", bytes([65, 200]) * 100, 128, "expected bytes below 128, the network's words, received 200."),
        ("text", b"good \xff bad", 100, "expected a text in UTF-8, received byte 0xff at 5."),
    ],
)
def test_a_text_that_cannot_be_read_is_a_line(
    tmp_path: Path, kind: str, content: str | bytes, words: int, complaint: str
) -> None:
    with pytest.raises(NetdynoError) as caught:
        text_rows(f"{kind}:{_written(tmp_path, content)}", words=words, steps=4)
    assert complaint in str(caught.value)


def test_a_file_that_is_not_there_is_a_line(tmp_path: Path) -> None:
    with pytest.raises(NetdynoError, match="expected a text, received: No such file or directory"):
        text_rows(f"text:{tmp_path / 'none'}", words=10, steps=4)


LICENCE = Path("/usr/share/common-licenses/GPL-3")  # of Debian's package base-files: 35 kB of English


@pytest.mark.skipif(not LICENCE.exists(), reason="needs a text of Debian's package base-files")
def test_a_real_text_says_more_by_pairs_of_words_than_by_words() -> None:
    rows = text_rows(f"text:{LICENCE}", words=500, steps=16)
    assert rows.simple["bigram"] < rows.simple["unigram"] < math.log(500)
    assert rows.train["tokens"].max() < 500
    assert rows.count() > 300

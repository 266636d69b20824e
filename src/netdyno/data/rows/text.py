"""A text of the user as rows of tokens: words or bytes, the last tenth for testing.

A row has one token more than the network reads, and begins with the last token of the row before it.
"""

import hashlib
import math
import re
from collections import Counter
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from netdyno.data.rows.split import Numbers, Rows
from netdyno.errors import NetdynoError

WORDS, BYTES = "text", "bytes"  # what a token is: `text:PATH` or `bytes:PATH`
TOKEN = re.compile(r"\w+|[^\w\s]")
UNKNOWN = 0  # the number of every word that is too rare to have one
TESTED = 10  # one part of so many
BIGRAMS = 0.75  # how much what follows a word counts beside how frequent words are


def is_text(source: str) -> bool:
    """Whether a source names a text."""
    return source.partition(":")[0] in (WORDS, BYTES) and ":" in source


def text_path(source: str) -> Path:
    return Path(source.partition(":")[2]).expanduser()


def text_digest(source: str) -> str:
    """Of the file's bytes."""
    return hashlib.sha256(_content(text_path(source))).hexdigest()


def text_rows(source: str, *, words: int, steps: int) -> Rows:
    """The rows of a text for a network with so many words that reads so many at a time."""
    kind, path = source.partition(":")[0], text_path(source)
    content = _content(path)
    train, test = _bytes(source, content, words) if kind == BYTES else _words(source, content, words)
    rows = {"train": _windows(train, steps), "test": _windows(test, steps)}
    if not len(rows["train"]) or not len(rows["test"]):
        least = TESTED * (steps + 1)
        raise NetdynoError(
            f"'{path}': expected a text of {least:,} tokens or more, received {len(train) + len(test):,}.",
            hint="Choose a longer text, or fewer steps: --set steps=N.",
        )
    simple = {"unigram": _unigram(train, test, words), "bigram": _bigram(train, test, words)}
    return Rows(train={"tokens": rows["train"]}, test={"tokens": rows["test"]}, simple=simple)


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise NetdynoError(f"'{path}': expected a text, received: {error.strerror or error}.") from None


def _bytes(source: str, content: bytes, words: int) -> tuple[Numbers, Numbers]:
    tokens = np.frombuffer(content, np.uint8).astype(np.int32)
    highest = int(tokens.max()) if len(tokens) else 0
    if highest >= words:
        raise NetdynoError(
            f"'{source}': expected bytes below {words}, the network's words, received {highest}.",
            hint="Use --set words=256.",
        )
    return _split(tokens)


def _words(source: str, content: bytes, words: int) -> tuple[Numbers, Numbers]:
    """Numbers from the most frequent word of the part that is learnt from to the rarest that has one."""
    try:
        found = TOKEN.findall(content.decode("utf-8"))
    except UnicodeDecodeError as error:
        where = f"byte {content[error.start]:#04x} at {error.start:,}"
        raise NetdynoError(
            f"'{source}': expected a text in UTF-8, received {where}.", hint="Use bytes:PATH --set words=256."
        ) from None
    learnt = found[: _border(len(found))]
    known = {word: number for number, (word, _) in enumerate(Counter(learnt).most_common(words - 1), start=1)}
    return _split(np.array([known.get(word, UNKNOWN) for word in found], np.int32))


def _split(tokens: Numbers) -> tuple[Numbers, Numbers]:
    border = _border(len(tokens))
    return tokens[:border], tokens[border:]


def _border(count: int) -> int:
    return count - count // TESTED


def _windows(tokens: Numbers, steps: int) -> Numbers:
    count = max(0, (len(tokens) - 1) // steps)
    places = np.arange(count)[:, None] * steps + np.arange(steps + 1)[None, :]
    return np.ascontiguousarray(tokens[places], np.int32)


def _unigram(train: Numbers, test: Numbers, words: int) -> float:
    """Nats per token if each is said by how frequent it is."""
    return float(-np.log(_frequencies(train, words)[test[1:]]).mean())


def _bigram(train: Numbers, test: Numbers, words: int) -> float:
    """Nats per token if each is said by what follows the one before it, and by how frequent it is."""
    single = _frequencies(train, words)
    pairs = Counter((train[:-1].astype(np.int64) * words + train[1:]).tolist())
    before = np.bincount(train[:-1], minlength=words)
    total = 0.0
    for first, second in zip(test[:-1].tolist(), test[1:].tolist(), strict=True):
        share = BIGRAMS if before[first] else 0.0
        followed = pairs[first * words + second] / before[first] if share else 0.0
        total -= math.log(share * followed + (1.0 - share) * single[second])
    return total / (len(test) - 1)


def _frequencies(train: Numbers, words: int) -> NDArray[np.float64]:
    """Of every token, none of them 0."""
    counts = np.bincount(train, minlength=words).astype(np.float64) + 1.0
    return np.asarray(counts / counts.sum(), np.float64)

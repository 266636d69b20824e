"""Whatever is done to an export: one clear line or a whole import, never a traceback, never a half."""

import json
import random
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.results.exports import everything, exported, full_store
from tests.results.fixtures import EXPORT

from netdyno.errors import NetdynoError
from netdyno.report.terminal.tables import results_tables
from netdyno.results.exchange.files import EXPORTS
from netdyno.results.exchange.merge import merge
from netdyno.results.result import results_of, to_json
from netdyno.results.store import Store, open_store
from netdyno.results.utilisation import measured_peak, shares

MARKUP = "<script>globalThis.pwned=1</script><img src=x onerror=alert(1)>\u202e\U0001f600'\"&"
VALUES: list[Any] = [
    None, True, -1, 0, 10**400, 1e308, -1e-320, "", "NaN", "x" * 2000, "\x1b[2J", "\ud800", "\0", [], {}, [[]],
    {"": 1}, {"__proto__": 1}, MARKUP, "../../../etc/passwd", "file:///etc/passwd", {"$ref": "#"}, [1] * 10,
]  # fmt: skip
Mutation = Callable[[bytes, random.Random], bytes]


def flip_bits(data: bytes, draw: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(draw.choice([1, 1, 1, 2, 20])):
        changed[draw.randrange(len(changed))] ^= 1 << draw.randrange(8)
    return bytes(changed)


def cut(data: bytes, draw: random.Random) -> bytes:
    start, end = sorted(draw.randrange(len(data)) for _ in range(2))
    return draw.choice([data[:end], data[start:], data[:start] + data[end:]])


def repeat_a_part(data: bytes, draw: random.Random) -> bytes:
    start, end = sorted(draw.randrange(len(data)) for _ in range(2))
    return data[:end] + data[start:end] + data[end:]


def nest(data: bytes, draw: random.Random) -> bytes:
    place = draw.randrange(len(data))
    deep = draw.choice([b"[", b'{"a":']) * draw.choice([50, 100_000])
    return data[:place] + deep + data[place:]


def give_another_value(data: bytes, draw: random.Random) -> bytes:
    """Somewhere in the tree, one value of another kind; without the digest, which would give it away."""
    told = parts_of(data)
    holder, key = draw.choice(list(_places(told)))
    holder[key] = draw.choice(VALUES)
    return joined(told)


def rename_a_field(data: bytes, draw: random.Random) -> bytes:
    told = parts_of(data)
    holder, key = draw.choice([(holder, key) for holder, key in _places(told) if isinstance(holder, dict)])
    holder[draw.choice(["__class__", "cell", MARKUP, "", "\n", "\x1b[2J"])] = holder.pop(key)
    return joined(told)


def parts_of(data: bytes) -> Any:
    """An object of schema_version 1, or a list of lines; without the digest."""
    if data.startswith(b'{"format": '):
        told = json.loads(data)
        del told["digest"]
        return told
    lines = [json.loads(line) for line in data.splitlines()]
    del lines[-1]["digest"]
    return lines


def joined(told: Any) -> bytes:
    if isinstance(told, dict):
        return json.dumps(told).encode()
    return "".join(json.dumps(line) + "\n" for line in told).encode()


def _places(value: Any) -> Any:
    for key in list(value) if isinstance(value, dict) else range(len(value)):
        yield value, key
        if isinstance(value[key], dict | list):
            yield from _places(value[key])


# How many of forty must be refused at least: some change what may be anything, or spaces only.
MUTATIONS: dict[Mutation, int] = {
    flip_bits: 35,
    cut: 40,
    repeat_a_part: 38,
    nest: 40,
    give_another_value: 20,
    rename_a_field: 20,
}


@pytest.fixture(scope="module", params=["lines", "object"])
def original(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A new export, or one of schema_version 1."""
    if request.param == "object":
        return EXPORT.read_bytes()
    with full_store(tmp_path_factory.mktemp("source") / "a.db") as store:
        return exported(store)


@pytest.mark.parametrize(("mutation", "least"), MUTATIONS.items(), ids=[m.__name__ for m in MUTATIONS])
def test_forty_mutations_of_a_kind_import_wholly_or_not_at_all(
    tmp_path: Path, original: bytes, mutation: Mutation, least: int
) -> None:
    draw = random.Random(mutation.__name__)
    told = []
    for attempt in range(40):
        path = tmp_path / "mutated.json"
        path.write_bytes(mutation(original, draw))
        with open_store(str(tmp_path / f"{attempt}.db")) as store:
            told += refusal(store, path)
    assert len(told) >= least
    assert all(line.isprintable() and len(line) < 700 for line in told)


def refusal(store: Store, path: Path) -> list[str]:
    """The line that refuses the file, and nothing in the store; or no line, and everything in it."""
    try:
        merged = merge(store, [path])
    except NetdynoError as error:
        told = [str(error)]
    else:
        told = []
    if told:
        assert everything(store) == []
    else:
        assert sum(merged.new.values()) == len(everything(store)) > 0
        show_everything(store)
    return told


def show_everything(store: Store) -> None:
    """What was let in can be shown and exported again without a traceback."""
    records = store.records()
    results = results_of(records)
    json.dumps(
        [to_json(result) | {"utilisation": shares(result, partial(measured_peak, records))} for result in results],
        allow_nan=False,
    )
    assert results_tables(results)
    for name, _ in store.finished("here").items():
        assert "network=" in name
    for to in EXPORTS:
        assert exported(store, to)


def test_markup_in_names_stays_what_it_is_data(tmp_path: Path, original: bytes) -> None:
    told = parts_of(original)
    for record in records_of(told):
        record["cell"]["network"] = MARKUP + record["cell"]["network"]
        record["machine"] = MARKUP + record["machine"]
    path = tmp_path / "markup.jsonl"
    path.write_bytes(joined(told))
    with open_store(str(tmp_path / "b.db")) as store:
        merge(store, [path])
        assert all(record.cell.network.startswith(MARKUP) for record in store.records({"workload": "train"}))
        show_everything(store)


def records_of(told: Any) -> list[dict[str, Any]]:
    if isinstance(told, dict):
        found: list[dict[str, Any]] = told["records"]
        return found
    return [line for line in told if line.get("kind") == "record"]


def test_no_path_in_a_file_is_opened(tmp_path: Path, original: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    told = parts_of(original)
    trap = str(tmp_path / "trap")
    records_of(told)[0].update(graph_digest=trap, settings={"folder": trap}, versions={"file": trap})
    path = tmp_path / "paths.jsonl"
    path.write_bytes(joined(told))
    opened: list[str] = []
    real = Path.open
    monkeypatch.setattr(Path, "open", lambda self, *a, **k: opened.append(str(self)) or real(self, *a, **k))
    with open_store(str(tmp_path / "b.db")) as store:
        merge(store, [path])
    assert opened == [str(path)]

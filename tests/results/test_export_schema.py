"""The JSON Schemas are what the code checks, and what it writes passes them."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from msgspec.structs import fields, replace
from tests.results.exports import exported, full_store, parsed, some_records
from tests.results.samples import make_cell
from tests.results.test_rows import RECORDS, TEXT

from netdyno.results.exchange import lines
from netdyno.results.exchange.check import Unexpected, checked
from netdyno.results.exchange.lines import encoded, plain_of, text_of
from netdyno.results.record import Record

FOLDER = Path(lines.__file__).parent
NAMES = ("record.schema.json", "export.schema.json")
VARIED = ("build_s", "first_step_s", "loss_first", "loss_last", "host_peak_bytes", "device_peak_bytes", "outcome")


def validator(name: str) -> jsonschema.Draft202012Validator:
    read = json.loads((FOLDER / name).read_text())
    jsonschema.Draft202012Validator.check_schema(read)
    return jsonschema.Draft202012Validator(read)


@pytest.mark.parametrize("name", NAMES)
def test_the_schema_files_are_as_the_code_says(name: str) -> None:
    assert (FOLDER / name).read_text() == lines.schema_text(name), "run: python -m netdyno.results.exchange.lines"


def test_every_field_of_a_record_is_in_its_schema() -> None:
    read = json.loads((FOLDER / "record.schema.json").read_text())
    assert set(read["$defs"]["Record"]["properties"]) == {field.name for field in fields(Record)}


def test_what_is_exported_passes_its_schema(location: str) -> None:
    with full_store(location) as store:
        export = exported(store)
    told = parsed(export)
    assert [len(told[kind]) for kind in ("record", "proof", "graph", "machine")] == [10, 2, 1, 2]
    assert {machine["name"]: machine["records"] for machine in told["machine"]} == {"here": 9, "there": 1}
    for line in export.splitlines():
        validator("export.schema.json").validate(json.loads(line))
    for kind in ("record", "proof", "graph", "machine"):
        for plain in told[kind]:
            checked(kind, plain)


SIMPLE = RECORDS.map(lambda record: replace(some_records()[0], **{name: getattr(record, name) for name in VARIED}))


@given(record=SIMPLE)
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_record_comes_back_from_plain_data_exactly(record: Record) -> None:
    told = json.loads(json.dumps(plain_of(record), allow_nan=False))
    validator("record.schema.json").validate(told)
    assert repr(checked("record", told)) == repr(record)


@given(record=SIMPLE)
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_line_of_a_record_is_its_plain_data(record: Record) -> None:
    many = replace(record, cost={**record.cost, "flops": 2**70})
    for each in (record, many, replace(record, cell=make_cell(options={"hidden": 512}))):
        assert text_of(each) == encoded(plain_of(each))


DRAWN = {"height": 1, "width": 1, "channels": 1, "made": "AA==", "images": "AA==", "sees_images": True}
WRONG: list[tuple[str, Any, str]] = [
    ("id", "../../etc/passwd", "id"),
    ("id", ".hidden", "id"),
    ("id", "", "id"),
    ("id", 5, "id"),
    ("machine", "\x1b]0;title\x07", "machine"),
    ("series", 0, "series"),
    ("series", 2**40, "series"),
    ("series", True, "series"),
    ("number", "1", "number"),
    ("outcome", "great", "outcome"),
    ("started_at", "yesterday", "started_at"),
    ("started_at", "2026-11-15T10:00:00", "started_at"),
    ("reason", None, "reason"),
    ("samples", {}, "samples"),
    ("samples", [{"steps": 1, "seconds": 0.1}] * 3 + [{"steps": 1, "seconds": -1}], "samples[3].seconds"),
    ("samples", [{"steps": 1, "seconds": 1e-300}], "samples[0].seconds"),
    ("samples", [{"steps": 0, "seconds": 1}], "samples[0].steps"),
    ("samples", [[1, 0.5]], "samples[0]"),
    ("samples", [{"steps": 1, "seconds": 1, "more": 1}], "samples[0].more"),
    ("build_s", "nan", "build_s"),
    ("host_peak_bytes", 2**63, "host_peak_bytes"),
    ("readings", {"mean_w": "NaN"}, "readings.mean_w"),
    ("readings", {"mean_w": 1e300}, "readings.mean_w"),
    ("readings", [], "readings"),
    ("absent", {"x": 3}, "absent.x"),
    ("trace", {"power_w": [[0, 1, 2]]}, "trace.power_w[0]"),
    ("trace", {"power_w": [[0, "1"]]}, "trace.power_w[0][1]"),
    ("trace", {"power_w": [[0, 1]] * 1001}, "trace.power_w"),
    ("pictures", {**DRAWN, "made": "AA", "images": "AA"}, "pictures.made"),
    ("pictures", {**DRAWN, "made": "A" * 400_000}, "pictures.made"),
    ("pictures", {**DRAWN, "height": 65}, "pictures.height"),
    ("pictures", {**DRAWN, "channels": 2}, "pictures.channels"),
    ("pictures", {**DRAWN, "title": "a dog"}, "pictures.title"),
    ("versions", {"x": {}}, "versions.x"),
    ("settings", {"execution": ["eager"]}, "settings.execution"),
    ("environment", {"gpus": ["H200"]}, "environment.gpus[0]"),
    ("environment", {"gpus": [{"name": None}]}, "environment.gpus[0].name"),
    ("environment", {"usable_cores": "many"}, "environment.usable_cores"),
    ("cost", {"step_flops": "1"}, "cost.step_flops"),
    ("cell", None, "cell"),
    (
        "figures",
        {"throughput": {"name": "throughput", "unit": 1, "better": "more", "value": 1}},
        "figures.throughput.unit",
    ),
    ("headline", "Speed", "headline"),
    ("curve", [{"step": 1}], "curve[0]"),
    ("surprise", 1, "surprise"),
]


@pytest.mark.parametrize(("name", "value", "where"), WRONG, ids=lambda value: str(value)[:30])
def test_a_wrong_value_is_refused_with_its_place_by_code_and_schema(name: str, value: Any, where: str) -> None:
    told = json.loads(json.dumps(plain_of(some_records()[0]))) | {name: value}
    with pytest.raises(Unexpected, match=r"expected .*, received") as caught:
        checked("record", told)
    assert caught.value.where == where
    assert not validator("record.schema.json").is_valid(told)


def test_a_month_that_does_not_exist_is_no_time() -> None:
    told = plain_of(some_records()[0]) | {"ended_at": "2026-13-01T00:00:00Z"}
    with pytest.raises(Unexpected, match="expected a time"):
        checked("record", told)


def test_what_is_nested_too_deep_is_refused() -> None:
    deep: Any = 1
    for _ in range(20):
        deep = [deep]
    told = plain_of(some_records()[0]) | {"settings": {"x": deep}}
    with pytest.raises(Unexpected, match="nested less deep"):
        checked("record", told)


def test_a_missing_field_is_named() -> None:
    told = plain_of(some_records()[0])
    del told["machine"]
    with pytest.raises(Unexpected, match="expected a field 'machine'"):
        checked("record", told)


@given(text=TEXT)
def test_words_of_a_worker_lose_what_would_move_a_cursor(text: str) -> None:
    told = plain_of(some_records()[-1]) | {"reason": text, "flags": [text], "absent": {"x": text}}
    made = checked("record", told)
    for words in (made.reason, made.flags[0], made.absent["x"]):
        assert len(words) == len(text)
        assert not set(words) & (set(map(chr, range(0x20))) - {"\t", "\n"} | set(map(chr, range(0x7F, 0xA0))))

"""How values of an export are put together: lists, names with values, objects with certain fields."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

from netdyno.results.shape import NAME, PHRASE, Shape, Unexpected


@dataclass(frozen=True, slots=True)
class ListOf:
    """Values of one kind in a row, within limits of length."""

    shape: Shape
    most: int = 100_000
    least: int = 0

    def check(self, value: Any) -> None:
        if not isinstance(value, list) or not self.least <= len(value) <= self.most:
            raise Unexpected(f"a list of {self.least} to {self.most:,} values", value)
        index = 0
        try:
            for index, item in enumerate(value):  # noqa: B007 (told when an item is wrong)
                self.shape.check(item)
        except Unexpected as error:
            raise error.under(index) from None

    def schema(self) -> dict[str, Any]:
        return {"type": "array", "items": self.shape.schema(), "minItems": self.least, "maxItems": self.most}


@dataclass(frozen=True, slots=True)
class MapOf:
    """Values of one kind by name."""

    shape: Shape
    most: int = 1000

    def check(self, value: Any) -> None:
        if not isinstance(value, dict) or len(value) > self.most:
            raise Unexpected(f"an object with at most {self.most:,} fields", value)
        for name, item in value.items():
            NAME.check(name)
            try:
                self.shape.check(item)
            except Unexpected as error:
                raise error.under(name) from None

    def schema(self) -> dict[str, Any]:
        names, values = NAME.schema(), self.shape.schema()
        return {"type": "object", "propertyNames": names, "additionalProperties": values, "maxProperties": self.most}


@dataclass(frozen=True, slots=True)
class Described:
    """Whatever JSON can say by name; what netdyno itself looks at has a shape."""

    known: Mapping[str, Shape]

    def check(self, value: Any) -> None:
        ANYTHING.check(value)
        for name, shape in self.known.items():
            if name in value:
                try:
                    shape.check(value[name])
                except Unexpected as error:
                    raise error.under(name) from None

    def schema(self) -> dict[str, Any]:
        return {**ANYTHING.schema(), "properties": {name: shape.schema() for name, shape in self.known.items()}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Fields:
    """An object with these fields and no others."""

    required: Mapping[str, Shape]
    optional: Mapping[str, Shape] = field(default_factory=dict)

    def check(self, value: Any) -> None:
        if not isinstance(value, dict):
            raise Unexpected("an object", value)
        if not value.keys() >= self.required.keys():
            missing = min(self.required.keys() - value.keys())
            raise Unexpected(f"a field '{missing}'", ", ".join(map(str, value)) or "none")
        name, required, optional = "", self.required, self.optional
        try:
            for name, item in value.items():
                (required[name] if name in required else optional.get(name, _NO_FIELD)).check(item)
        except Unexpected as error:
            raise error.under(name[:60]) from None

    def schema(self) -> dict[str, Any]:
        fields = {name: shape.schema() for name, shape in {**self.required, **self.optional}.items()}
        return {
            "type": "object",
            "properties": fields,
            "required": list(self.required),
            "additionalProperties": False,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class AnyJson:
    """Whatever JSON can say, not too deep: what an adapter chose, what a machine is."""

    deepest: int = 16

    def check(self, value: Any) -> None:
        _check_json(value, self.deepest)

    def schema(self) -> dict[str, Any]:
        return {}


def _check_json(value: Any, deepest: int) -> None:
    if isinstance(value, str):
        PHRASE.check(value)
    elif isinstance(value, float) and not isfinite(value):
        raise Unexpected("a number that is finite", value)
    elif isinstance(value, dict | list):
        if not deepest:
            raise Unexpected("a value that is nested less deep", value)
        for part, item in value.items() if isinstance(value, dict) else enumerate(value):
            try:
                _check_json(part, 0)
                _check_json(item, deepest - 1)
            except Unexpected as error:
                raise error.under(part) from None


@dataclass(frozen=True, slots=True)
class _Nothing:
    """A field that is not known: whatever is in it is wrong."""

    def check(self, value: Any) -> None:
        raise Unexpected("no such field", value)

    def schema(self) -> dict[str, Any]:
        return {"not": {}}


_NO_FIELD = _Nothing()
ANYTHING = MapOf(AnyJson())

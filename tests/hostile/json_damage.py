"""How JSON lines are damaged by seed: values of another type, too large, too deep, left out, doubled, cut off."""

import json
import random
from typing import Any

VALUES: tuple[Any, ...] = (
    None, True, 0, -1, 2**31, 2**53 + 1, 10**30, 0.0, -0.0, 1e-300, 1e300, "", "x", "[/b]", "\x1b[2J", "\u202e", "\0",
    "\ud800", "a" * 5000, [], {}, [[]], [None], {"": ""}, {"a": {"b": {"c": []}}}, "NaN", "1e999", "../../etc/passwd",
)  # fmt: skip
RAW = ("NaN", "Infinity", "-Infinity", "1e999", "9" * 5000, "[" * 3000, "\udcff", "{", '"', "0x10", "\x00")


def damaged(lines: list[str], draw: random.Random) -> bytes:
    """The lines with one to three damages."""
    made = list(lines)
    for _ in range(draw.choice((1, 1, 2, 3))):
        if made:
            draw.choice(DAMAGES)(made, draw)
    return ("\n".join(made) + "\n").encode("utf-8", "surrogateescape")


def _change_value(lines: list[str], draw: random.Random) -> None:
    place = draw.randrange(len(lines))
    lines[place] = json.dumps(_changed(_read(lines[place]), draw))


def _change_text(lines: list[str], draw: random.Random) -> None:
    """Something that is no JSON, or is none that every reader takes, in place of a number."""
    place = draw.randrange(len(lines))
    digits = [at for at, letter in enumerate(lines[place]) if letter.isdigit()]
    at = draw.choice(digits) if digits else 0
    lines[place] = lines[place][:at] + draw.choice(RAW) + lines[place][at + 1 :]


def _leave_out(lines: list[str], draw: random.Random) -> None:
    del lines[draw.randrange(len(lines))]


def _double(lines: list[str], draw: random.Random) -> None:
    lines.insert(draw.randrange(len(lines)), draw.choice(lines))


def _cut(lines: list[str], draw: random.Random) -> None:
    place = draw.randrange(len(lines))
    lines[place:] = [lines[place][: draw.randrange(len(lines[place]) + 1)]]


def _flip(lines: list[str], draw: random.Random) -> None:
    place = draw.randrange(len(lines))
    line = lines[place]
    if line:
        at = draw.randrange(len(line))
        lines[place] = line[:at] + chr(draw.randrange(1, 0x250)) + line[at + 1 :]


def _changed(value: Any, draw: random.Random) -> Any:
    """The value with one part of it replaced, left out or added."""
    if isinstance(value, dict) and value and draw.random() < 0.9:
        name = draw.choice(list(value))
        kind = draw.random()
        if kind < 0.1:
            return {key: part for key, part in value.items() if key != name}
        if kind < 0.2:
            return {**value, str(draw.choice(VALUES)): draw.choice(VALUES)}
        return {**value, name: _changed(value[name], draw)}
    if isinstance(value, list) and value and draw.random() < 0.8:
        at = draw.randrange(len(value))
        return [*value[:at], _changed(value[at], draw), *value[at + 1 :]]
    return draw.choice(VALUES)


def _read(line: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return line


DAMAGES = (_change_value, _change_value, _change_value, _change_text, _leave_out, _double, _cut, _flip)

"""Which options a recipe has (its keyword-only parameters), and how a user's values are checked."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from netdyno.errors import NetdynoError, unknown

Option = int | float | str
TYPES: Mapping[type, tuple[type, ...]] = {int: (int,), float: (int, float), str: (str,)}
WORDS: Mapping[type, str] = {int: "a whole number", float: "a number", str: "a text"}


def options_of(recipe: Callable[..., Any]) -> dict[str, Option]:
    """{name: default}; a parameter whose default is no number or text is refused."""
    found: dict[str, Option] = {}
    for name, parameter in inspect.signature(recipe).parameters.items():
        if parameter.kind is not inspect.Parameter.KEYWORD_ONLY:
            continue
        if type(parameter.default) not in TYPES:
            raise NetdynoError(f"option '{name}': expected a number or a text as its default, received none.")
        found[name] = parameter.default
    return found


def takes_items(recipe: Callable[..., Any]) -> bool:
    """Is it given the dataset's items as a second argument? If not, it declares inputs of its own."""
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    kinds = [parameter.kind for parameter in inspect.signature(recipe).parameters.values()]
    return sum(kind in positional for kind in kinds) > 1


def checked_options(network: str, known: Mapping[str, Option], given: Mapping[str, Option]) -> dict[str, Option]:
    """Every option of a network: those given, of the type of their default, and the defaults of the others."""
    for name, value in given.items():
        _expect_known(network, known, name)
        kind = type(known[name])
        if type(value) not in TYPES[kind]:
            raise NetdynoError(f"network '{network}', {name}: expected {WORDS[kind]}, received {value!r}.")
    return {**known, **given}


def check_sizes(network: str, options: Mapping[str, Option]) -> None:
    """Every number is over 0, as those of the zoo's own networks are: how many of something, or a factor on that."""
    for name, value in options.items():
        if not isinstance(value, str) and not value > 0:
            kind = WORDS[type(value)]
            raise NetdynoError(f"network '{network}', {name}: expected {kind} over 0, received {value!r}.")


def parsed_options(network: str, known: Mapping[str, Option], texts: Iterable[str]) -> dict[str, Option]:
    """Options as a user writes them, `hidden=512`, in the type of their default."""
    found: dict[str, Option] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name and equals):
            raise NetdynoError(f"an option of a network: expected NAME=VALUE, received '{text}'.")
        _expect_known(network, known, name)
        kind = type(known[name])
        try:
            found[name] = kind(value)
        except ValueError:
            raise NetdynoError(f"network '{network}', {name}: expected {WORDS[kind]}, received '{value}'.") from None
    return found


def _expect_known(network: str, known: Mapping[str, Option], name: str) -> None:
    if not known:
        raise NetdynoError(f"network '{network}': expected no options, received '{name}'.")
    if name not in known:
        raise unknown(f"option of {network}", name, known)

"""A user's own network: one function (net, images) -> logits in a Python file, given as path/to/file.py:function."""

import importlib.util
import inspect
import traceback
from dataclasses import replace
from functools import wraps
from pathlib import Path
from types import ModuleType
from typing import Any

from netdyno.errors import NetdynoError, unknown
from netdyno.graph.check import check_programme
from netdyno.graph.cost import totals
from netdyno.zoo.builder import Net, Value
from netdyno.zoo.catalog import Entry, Recipe, resolve
from netdyno.zoo.items import Items
from netdyno.zoo.options import Option, options_of, takes_items

BATCH = 64
LEARNING_RATE = 0.01
CUSTOM = "custom"


def load_network(reference: str, items: Items) -> Entry:
    """An entry like the catalog's, named by its function. The file is run and the network built once, so that
    mistakes show now."""
    path, name = _parse(reference)
    return network_of(_function(_load(path), path, name), name, path, items)


def network_of(function: Any, name: str, path: Path, items: Items) -> Entry:
    """The entry of a function; `path` is the file that its mistakes are in."""
    entry = Entry(
        network=name,
        family=CUSTOM,
        items=items,
        build=_guarded(function, path),
        source=str(path),
        parameters=0,
        macs=0,
        batch=BATCH,
        learning_rate=LEARNING_RATE,
    )
    counted = totals(resolve(entry, BATCH))
    return replace(entry, parameters=counted.parameters, macs=counted.macs // BATCH)


def _parse(reference: str) -> tuple[Path, str]:
    file, _, name = reference.rpartition(":")
    if not file.endswith(".py") or not name:
        raise NetdynoError(f"a network of your own: expected path/to/file.py:function, received '{reference}'.")
    if not Path(file).is_file():
        raise NetdynoError(f"{file}: expected a Python file, received a path where there is none.")
    return Path(file), name


def _load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise NetdynoError(f"{path}: expected a Python file, received something that cannot be imported.")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:  # the file is not ours: whatever it raises is shown with its line
        raise _placed(error, path) from error
    return module


def _function(module: ModuleType, path: Path, name: str) -> Any:
    known = [key for key, value in vars(module).items() if callable(value) and not key.startswith("_")]
    if not hasattr(module, name):
        raise NetdynoError(f"{path}: {unknown('function', name, known)}")
    function = getattr(module, name)
    if not callable(function):
        kind = type(function).__name__
        raise NetdynoError(f"{path}: expected '{name}' to be a function (net, images), received a {kind}.")
    try:
        options_of(function)
        inspect.signature(function).bind(*["net", "images"][: 1 + takes_items(function)])
    except (NetdynoError, TypeError) as error:
        raise NetdynoError(f"{path}: expected '{name}' to take (net, images) or (net), received: {error}.") from None
    return function


def _guarded(function: Any, path: Path) -> Recipe:
    """The function with every mistake in it reported as one line with file and line number."""
    first_line = getattr(getattr(function, "__code__", None), "co_firstlineno", 1)

    @wraps(function)
    def recipe(net: Net, *items: Value, **options: Option) -> Value | tuple[Value, ...]:
        try:
            output = function(net, *items, **options)
        except (Exception, SystemExit) as error:
            raise _placed(error, path) from error
        try:
            return _checked(net, output)
        except NetdynoError as error:
            raise NetdynoError(f"{path}, line {first_line}: {error}") from None

    return recipe


def _checked(net: Net, output: object) -> Value | tuple[Value, ...]:
    if isinstance(output, tuple) and net.has_updates and output and all(isinstance(each, Value) for each in output):
        check_programme(net.programme(output))
        return output
    if not isinstance(output, Value):
        kind = "nothing" if output is None else f"a {type(output).__name__}"
        raise NetdynoError(f"expected the function to return the logits, received {kind}.")
    wanted = (net.batch, net.classes)
    if not net.has_updates and output.shape != wanted:
        raise NetdynoError(f"expected logits of shape {list(wanted)}, received {list(output.shape)}.")
    check_programme(net.programme(output))
    return output


def _placed(error: BaseException, path: Path) -> NetdynoError:
    """`error` in one line, with the last line of the user's file that led to it."""
    lines = [
        frame.lineno
        for frame in traceback.extract_tb(error.__traceback__)
        if Path(frame.filename).resolve() == path.resolve()
    ]
    if isinstance(error, SyntaxError) and error.filename and Path(error.filename).resolve() == path.resolve():
        lines = [error.lineno]
    place = f"{path}, line {lines[-1]}" if lines else str(path)
    if isinstance(error, NetdynoError):
        return NetdynoError(f"{place}: {error}")
    said = error.msg if isinstance(error, SyntaxError) else str(error)
    return NetdynoError(f"{place}: {type(error).__name__}: {said}")

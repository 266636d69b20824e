"""How a command is declared: options grouped in its help, examples at the end, imported when it is used."""

import importlib
from collections.abc import Mapping
from typing import Any, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup

from netdyno.signals import interrupt_when_signalled

OTHERS = "General"


class Lazy(NamedTuple):
    """A command of the top level: where it is defined and what the list of commands says about it."""

    module: str
    help: str


class GroupedCommand(TyperCommand):
    """A command whose help lists its options under the panel that each names, and prints the epilog as it is."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        panels: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            row = parameter.get_help_record(ctx)
            if row is not None:
                is_argument = parameter.param_type_name == "argument"
                panel = "Arguments" if is_argument else getattr(parameter, "rich_help_panel", None) or OTHERS
                panels.setdefault(panel, []).append(row)
        for panel, rows in panels.items():
            with formatter.section(panel):
                formatter.write_dl(rows)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        if self.epilog:
            with formatter.section("Examples"):
                for line in self.epilog.strip().splitlines():
                    formatter.write(f"  {line.strip()}\n")


class LazyGroup(TyperGroup):
    """Imports a command's module when it is called or asked for help: `netdyno --help` itself imports none."""

    lazy: Mapping[str, Lazy] = {}

    def list_commands(self, ctx: Any) -> list[str]:
        return list(self.lazy)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in self.lazy:
            return None
        module = importlib.import_module(self.lazy[cmd_name].module)
        interrupt_when_signalled()
        command = typer.main.get_command(module.app)
        command.name = cmd_name
        return command

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, command.help) for name, command in self.lazy.items()])


def one_command(function: Any, examples: str) -> typer.Typer:
    """Return the application of a module with a single command."""
    app = _plain()
    app.command(cls=GroupedCommand, epilog=examples)(function)
    return app


def several_commands(help: str, cls: type[TyperGroup] = TyperGroup) -> typer.Typer:
    """Return the application of a module with commands of its own, to be added with `cls=GroupedCommand`."""
    return _plain(help=help, cls=cls)


def _plain(**settings: Any) -> typer.Typer:
    return typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False, **settings)

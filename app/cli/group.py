"""Groups of commands: modules that are imported when one of their commands is run, and help that
cuts no sentence."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import click

_SENTENCE: int = 1000  # characters: more than the first sentence of any help


class Commands(click.Group):
    """Commands in the order of the source, each with the first sentence of its help."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(self.descriptions())

    def descriptions(self) -> list[tuple[str, str]]:
        """The name of each command and what it does."""
        return [
            (name, command.get_short_help_str(_SENTENCE)) for name, command in self.commands.items()
        ]


class Entry(NamedTuple):
    """A command or a group of commands at the top: its name, the module of ``app.cli`` whose
    list ``commands`` it is in, and the first sentence of its help."""

    name: str
    module: str
    help: str


class LazyCommands(Commands):
    """Imports the module of a command when the command is run or its help is asked for.

    What commands import takes most of a second. Here errors become a message and an exit code too.
    """

    def __init__(self, *args: Any, entries: Sequence[Entry] = (), **options: Any) -> None:
        super().__init__(*args, **options)
        self._entries = {entry.name: entry for entry in entries}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self._entries)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        entry = self._entries.get(cmd_name)
        if entry is None:
            return None
        commands: Sequence[click.Command] = importlib.import_module(
            f"app.cli.{entry.module}"
        ).commands
        return next(command for command in commands if command.name == cmd_name)

    def descriptions(self) -> list[tuple[str, str]]:
        return [(entry.name, entry.help) for entry in self._entries.values()]

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.Abort, click.exceptions.Exit):
            raise
        except Exception as error:
            # It knows the errors of libraries that help and wrong usage do without.
            from app.cli.failures import message_of  # noqa: PLC0415

            if message := message_of(error, ctx.obj):
                raise message from None
            raise

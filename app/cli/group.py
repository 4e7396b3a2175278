"""Groups of commands, whose modules are imported on demand, with help that truncates no
sentence."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import click

_SENTENCE: Final = 1000  # characters; longer than any first sentence


class Entry(NamedTuple):
    """A command or a group of commands."""

    name: str
    module: str  # in app.cli
    help: str  # first sentence


class Commands(click.Group):
    """Commands in the order of the source, each with the first sentence of its help.

    Those of ``entries`` come last. Their modules are imported only when they run or show their
    help, as the imports of all commands take most of a second.
    """

    def __init__(self, *args: Any, entries: Sequence[Entry] = (), **options: Any) -> None:
        super().__init__(*args, **options)
        self.entries: Final = {entry.name: entry for entry in entries}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*self.commands, *self.entries]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        entry = self.entries.get(cmd_name)
        if entry is None:
            return super().get_command(ctx, cmd_name)
        module = importlib.import_module(f"app.cli.{entry.module}")
        return next(
            value
            for value in vars(module).values()
            if isinstance(value, click.Command) and value.name == cmd_name
        )

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.NoSuchCommand as error:  # click suggests commands that are imported already
            raise click.NoSuchCommand(
                error.command_name, possibilities=self.list_commands(ctx), ctx=ctx
            ) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        rows = [
            (name, command.get_short_help_str(_SENTENCE)) for name, command in self.commands.items()
        ]
        rows += [(entry.name, entry.help) for entry in self.entries.values()]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


class AllCommands(Commands):
    """The top-level group, in which errors become a message and an exit code."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.Abort, click.exceptions.Exit):
            raise
        except Exception as error:
            # Imported late: --help does not need these libraries.
            from app.cli.failures import message_of  # noqa: PLC0415

            if message := message_of(error, ctx.obj):
                raise message from None
            raise

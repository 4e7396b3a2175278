"""The help of every command: complete, and shown without loading what only work needs."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator

import click
import pytest
from click.testing import CliRunner

from app.cli import canopy
from app.cli.group import Commands
from app.values.version import VERSION, describe_version, read_commit
from config import ROOT
from tests.captured import captured

# Libraries that the service uses and the help of bin/canopy does without.
HEAVY = {
    "alembic", "cryptography", "flask", "marshmallow", "numpy", "psycopg", "pyproj", "redis", "rq",
    "shapely", "sqlalchemy",
}  # fmt: skip
# What only requests need: no command loads it.
WEB = {"app.factory", "flask_smorest", "flask_wtf", "gunicorn", "openai", "wtforms"}

_HELP = """
import sys
from click.testing import CliRunner
from app.cli import canopy
assert CliRunner().invoke(canopy, ["--help"]).exit_code == 0
print(*sys.modules)
"""


def _commands(group: click.Group, *path: str) -> Iterator[tuple[list[str], click.Command]]:
    """Every command of a group and of the groups in it, the groups too, with its words."""
    yield list(path), group
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from _commands(command, *path, name)
        else:
            yield [*path, name], command


COMMANDS = list(_commands(canopy))


def help_of(words: list[str]) -> str:
    result = CliRunner().invoke(canopy, [*words, "--help"], terminal_width=80)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_the_first_help_loads_no_library_of_the_service() -> None:
    command = [sys.executable, "-c", _HELP]
    done = captured(command, cwd=ROOT, check=True)
    assert set(done.stdout.split()) & (HEAVY | WEB) == set()


@pytest.mark.slow
def test_a_command_loads_neither_the_web_application_nor_geometry(tmp_path: object) -> None:
    script = (
        "import sys; from app.cli import canopy\n"
        "canopy.main(['migrate', '--json'], standalone_mode=False)\n"
        "print(*sys.modules, file=sys.stderr)"
    )
    done = captured(
        [sys.executable, "-c", script], cwd=ROOT, env={"INSTANCE_PATH": str(tmp_path)}, check=True
    )
    assert json.loads(done.stdout)["previous"] is None
    assert set(done.stderr.split()) & (WEB | {"numpy", "pyproj", "shapely"}) == set()


def test_an_entry_says_what_its_command_says() -> None:
    for _, group in COMMANDS:
        for entry in group.entries.values() if isinstance(group, Commands) else ():
            command = group.get_command(click.Context(group), entry.name)
            assert command is not None
            assert command.get_short_help_str(1000) == entry.help, entry.name


def test_help_is_complete_and_fits(subtests: pytest.Subtests) -> None:
    for words, _ in COMMANDS:
        with subtests.test(" ".join(words)):
            shown = help_of(words)
            assert shown.startswith("Usage: ")
            assert "..." not in shown.replace("[ARGS]...", "").replace("[OPTIONS]...", "")
            _, _, listed = shown.partition("\nCommands:\n")
            for line in listed.splitlines():  # each command on a line, ended by a full stop
                assert line.startswith("  "), line
                assert line[2] != " ", line
                assert line.endswith("."), line


def test_help_of_a_command_has_examples_and_json(subtests: pytest.Subtests) -> None:
    for words, command in COMMANDS:
        if not isinstance(command, click.Group):
            with subtests.test(" ".join(words)):
                shown = help_of(words)
                assert f"bin/canopy {' '.join(words)}" in shown
                assert "--json" in shown


def test_the_version() -> None:
    result = CliRunner().invoke(canopy, ["--version"])
    shown = f"Canopy {describe_version(VERSION, read_commit())}\n"
    assert (result.exit_code, result.stdout) == (0, shown)

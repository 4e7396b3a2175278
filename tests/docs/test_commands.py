"""The commands that the pages show exist, with the options that they are shown with."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence

import click
import pytest

from app.cli import canopy
from tests.architecture.documents import documents
from tests.architecture.sources import ROOT
from tests.docs.pages import commands, mentioned_commands
from trials.__main__ import ALL

PAGES = documents()
SHOWN = sorted({tuple(words) for page in PAGES.values() for words in commands(page)})
MENTIONED = sorted({tuple(words) for page in PAGES.values() for words in mentioned_commands(page)})


def resolve(words: Sequence[str]) -> tuple[list[str], click.Command, list[str]]:
    """The path of a command of ``bin/canopy``, the command, and what follows it."""
    path: list[str] = []
    command: click.Command = canopy
    rest = list(words)
    while isinstance(command, click.Group) and rest and not rest[0].startswith("-"):
        found = command.get_command(click.Context(command), rest[0])
        assert found is not None, f"bin/canopy has no {' '.join([*path, rest[0]])}"
        command = found
        path.append(rest.pop(0))
    return path, command, rest


def check_arguments(command: click.Command, words: list[str]) -> None:
    """Assert that a command takes these words, and that they are all that it needs."""
    if {"-h", "--help"} & set(words):
        return
    context = click.Context(command)
    given, left, _ = command.make_parser(context).parse_args(list(words))
    assert not left, f"{command.name} takes no {left}"
    needed = [each for each in command.params if each.required]
    missing = [e.name for e in needed if e.name not in given or e.value_is_missing(given[e.name])]
    assert not missing, f"{command.name} needs {missing}"


def unknown_trials(words: Sequence[str]) -> list[str]:
    """The names among the words of ``bin/trials`` that are no trial."""
    names = words[: words.index("--")] if "--" in words else words
    known = {*ALL, "release", "weekly", "all", "NAME", "--list"}
    return [name for name in names if name not in known]


def test_the_pages_show_commands() -> None:
    assert ("bin/serve",) in SHOWN
    assert any(words[:2] == ("bin/canopy", "import") for words in SHOWN)


def test_a_command_that_is_shown_can_be_run() -> None:
    for program, *words in (words for words in SHOWN if words[0].startswith("bin/")):
        assert (ROOT / program).is_file()
        if program == "bin/canopy":
            _, command, rest = resolve(words)
            check_arguments(command, rest)
        if program == "bin/trials":
            assert unknown_trials(words) == []


def test_a_command_that_is_mentioned_exists() -> None:
    for program, *words in MENTIONED:
        assert (ROOT / program).is_file(), program
        if program == "bin/canopy":
            resolve(words)
        if program == "bin/trials":
            assert unknown_trials(words) == []


def test_a_module_that_is_run_exists() -> None:
    # pip is for environments of one's own.
    modules = {w[2] for w in SHOWN if "-m" in w[:2]} - {"pip", "venv"}
    assert [name for name in modules if importlib.util.find_spec(name) is None] == []


@pytest.mark.parametrize(
    "line",
    [
        "bees",
        "account bees",
        "account list --bees",
        "account list bees",
        "account create --name Woods",
        "import --account woods",
    ],
)
def test_a_command_that_cannot_be_run_is_seen(line: str) -> None:
    with pytest.raises((AssertionError, click.UsageError)):
        check_arguments(*resolve(line.split())[1:])


def test_a_trial_that_there_is_not_is_seen() -> None:
    assert unknown_trials(["bench.parts", "bench.bees", "--", "--quick"]) == ["bench.bees"]

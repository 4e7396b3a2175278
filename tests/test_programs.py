"""The programs that the header of a run names."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from config import ROOT
from tests.deploy.programs import PACKAGES
from tests.pages.test_webhook_snippets import BUILDS, PROGRAMS
from tests.programs import NAMES, describe_programs, find_programs

LOOKED_FOR = re.compile(r"""\b(?:tool|which|find_installed)\("([\w-]+)""")
# Tables of commands, where a name does not stand beside what looks for it.
IN_TABLES = {"docker", "docker-compose", "unzip", "bsdtar", "7z"}
# Chromium has an entry of its own, a package has Valkey, and the others are everywhere.
OTHERS = {"chromium", "chromium-browser", "valkey-server", "git", "cp"}


def test_every_program_that_a_test_looks_for_is_named() -> None:
    folders = (ROOT / "tests", ROOT / "trials")
    sources = (path.read_text() for folder in folders for path in folder.rglob("*.py"))
    looked_for = {name for source in sources for name in LOOKED_FOR.findall(source)}
    looked_for |= set(PACKAGES) | IN_TABLES
    looked_for |= {command[0] for command in BUILDS.values()}
    for language, (_, command) in PROGRAMS.items():
        looked_for |= {command("1")[0]} if language not in BUILDS else set()
    needed = {name for name in looked_for if "/" not in name} - OTHERS
    assert needed == set(NAMES)


def test_what_is_there_is_told_apart_from_what_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "caddy"
    program.write_text("#!/bin/sh\n")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert find_programs()["caddy"] == ""  # it is there, but cannot be run
    program.chmod(0o755)
    assert find_programs()["caddy"] == str(program)
    there, missing = describe_programs()
    assert "caddy" in there
    assert "caddy" not in missing
    assert "nginx" in missing

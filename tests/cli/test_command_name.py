"""Commands name themselves as they were called, in help and hints."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.values.command_name import canopy_command
from config import ROOT
from tests.captured import captured

# What pip makes of [project.scripts], and what the container has.
INSTALLED = f"#!{sys.executable}\nfrom app.cli import main\nmain()\n"
# In place of bin/_setup.py, which would look at the environment first.
SETUP = """import os, sys
os.execv({python!r}, [{python!r}, "-P", "-m", "app.cli", *sys.argv[2:]])
"""


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder with both kinds of commands, which know no name yet."""
    (tmp_path / "bin").mkdir()
    for name in ("canopy", "_python.sh"):
        shutil.copy(ROOT / "bin" / name, tmp_path / "bin")
    (tmp_path / "bin" / "_setup.py").write_text(SETUP.format(python=sys.executable))
    installed = tmp_path / "environment" / "canopy"
    installed.parent.mkdir()
    installed.write_text(INSTALLED)
    installed.chmod(0o755)
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("CANOPY_COMMAND")
        patch.setenv("INSTANCE_PATH", str(tmp_path / "instance"))
        patch.setenv("PYTHONPATH", str(ROOT))
        yield tmp_path


@pytest.mark.slow
def test_help_begins_as_the_command_did(
    folder: Path, monkeypatch: pytest.MonkeyPatch, subtests: pytest.Subtests
) -> None:
    monkeypatch.setenv("PATH", str(folder / "environment"), prepend=os.pathsep)
    for called, named in (
        (["bin/canopy"], "bin/canopy"),
        ([sys.executable, "-m", "app.cli"], f"{sys.executable} -m app.cli"),
        (["canopy"], "canopy"),
    ):
        with subtests.test(named):
            help_text = captured([*called, "--help"], cwd=folder, check=True).stdout
            assert help_text.startswith(f"Usage: {named} ")
            assert f"\n    {named} key create --account " in help_text


def test_other_processes_name_what_is_there(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["gunicorn"])
    monkeypatch.setattr(sys, "executable", str(folder / "python"))
    assert canopy_command("doctor") == "bin/canopy doctor"
    installed = folder / "environment" / "canopy"
    monkeypatch.setattr(sys, "executable", str(installed.with_name("python")))
    assert canopy_command("doctor") == f"{installed} doctor"
    monkeypatch.setenv("PATH", str(installed.parent), prepend=os.pathsep)
    assert canopy_command("doctor") == "canopy doctor"

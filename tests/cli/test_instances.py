"""On which instance a command works: nothing is made by mistake, and a file can name it."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import click
import pytest
from click.testing import CliRunner, Result

import app.cli
from app.cli import settings
from config import ROOT
from tests import templates
from tests.captured import captured

# Takes over the settings of a file, and says as whom it goes on.
TAKE_OVER = """
import os, sys, click
from app.cli.settings import SETTINGS_FILE, prepare_environment
with click.Context(click.Command("doctor")) as context:
    context.meta[SETTINGS_FILE] = sys.argv[1]
    prepare_environment()
print(os.geteuid(), os.getegid(), os.environ["HOME"])
"""


@pytest.fixture(autouse=True)
def _own_environment() -> Iterator[None]:
    """A command takes over the settings of a file into the environment of its process."""
    with patch.dict(os.environ):
        yield


def canopy(environ: dict[str, str], *arguments: str) -> Result:
    return CliRunner(env=environ).invoke(app.cli.canopy, arguments)


def test_no_command_makes_an_instance(tmp_path: Path) -> None:
    environ = {"INSTANCE_PATH": str(tmp_path / "instance")}
    for words in ("account list", f"backup {tmp_path}/b.zip", f"restore {tmp_path}/b.zip --yes"):
        done = canopy(environ, *words.split())
        assert (done.exit_code, done.stdout) == (2, "")
        assert f"no database at {tmp_path}/instance/canopy.sqlite3" in done.stderr
        assert "bin/canopy migrate" in done.stderr
    assert canopy(environ, "doctor").exit_code == 1
    assert list(tmp_path.iterdir()) == []


def test_no_command_makes_a_key(tmp_path: Path) -> None:
    """Where the service has its own, another one would be of no use."""
    templates.copy_sqlite(tmp_path)
    done = canopy({"INSTANCE_PATH": str(tmp_path)}, "account", "list")
    assert done.exit_code == 2
    assert "SECRET_KEY is not set" in done.stderr
    assert not (tmp_path / "secret_key").exists()


def test_a_file_names_the_instance(tmp_path: Path) -> None:
    file, folder = tmp_path / "canopy.env", tmp_path / "instance"
    file.write_text(f"INSTANCE_PATH={folder}\nSECRET_KEY='{'k' * 32}'\n")
    assert canopy({}, "--settings", str(file), "migrate").exit_code == 0
    assert (folder / "canopy.sqlite3").exists()
    assert not (folder / "secret_key").exists()
    elsewhere = {"CANOPY_SETTINGS": str(file), "INSTANCE_PATH": str(tmp_path / "other")}
    done = canopy(elsewhere, "account", "list")
    assert (done.exit_code, done.stderr) == (0, f"Settings: {file}\n")
    missing = canopy({}, "--settings", f"{file}.old", "account", "list")
    assert missing.exit_code == 2
    assert f"{file}.old cannot be read (No such file or directory)." in missing.stderr


def test_whose_instance_it_is_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A checkout with an instance or settings of its own does not take those of the machine."""
    file, own, machines = tmp_path / "canopy.env", tmp_path / "own", tmp_path / "machines"
    file.write_text(f"INSTANCE_PATH={machines}\nSECRET_KEY='{'k' * 32}'\n")
    monkeypatch.setattr(settings, "DEFAULT_FILE", file)
    monkeypatch.setattr(settings, "OWN_INSTANCE", own)
    told = f"Instance: {own}, of this checkout. For that of this machine: bin/canopy --settings"

    def told_by(*arguments: str, **environ: str) -> str:
        with patch.dict(os.environ):
            return canopy(environ, *arguments).stderr

    assert told_by("migrate").startswith(f"Settings: {file}\n")
    assert (machines / "canopy.sqlite3").exists()
    assert told_by("plan", "list", PUBLIC_URL="http://x").startswith(told)
    own.mkdir()
    assert told_by("plan", "list").startswith(told)
    assert told_by("plan", "list", INSTANCE_PATH=str(own)).startswith("There is no")
    monkeypatch.setattr(settings, "SERVICE_ROOT", ROOT)  # where the units have the checkout
    assert told_by("plan", "list") == f"Settings: {file}\n"


def test_a_file_that_cannot_be_looked_for_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a folder of root's. Root is told so of a name that is too long."""
    monkeypatch.setattr(settings, "DEFAULT_FILE", tmp_path / ("x" * 300))
    monkeypatch.setattr(settings, "OWN_INSTANCE", tmp_path / "own")
    done = canopy({}, "account", "list")
    assert done.exit_code == 2
    assert "cannot be read (File name too long)" in done.stderr


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_root_becomes_the_user_of_the_instance(tmp_path: Path) -> None:
    """A file of root's would be in the way of the service. Or they are told that they cannot."""
    nobody = pwd.getpwnam("nobody")
    file, folder = tmp_path / "canopy.env", tmp_path / "instance"
    folder.mkdir()
    os.chown(folder, nobody.pw_uid, nobody.pw_gid)
    file.write_text(f"INSTANCE_PATH={folder}\n")
    file.chmod(0o600)
    private = tmp_path / "private"
    shutil.copytree(Path(click.__file__).parent, private / "click")
    private.chmod(0o700)
    for path in (str(ROOT), f"{private}:{ROOT}"):
        used = Path(click.__file__) if path == str(ROOT) else private / "click" / "__init__.py"
        done = captured([sys.executable, "-c", TAKE_OVER, str(file)], env={"PYTHONPATH": path})
        code = (Path(os.__file__), used, ROOT / "app" / "cli" / "settings.py")
        if unreadable := [each for each in code if not _can_read(nobody, each)]:
            assert done.stderr.splitlines()[-1] == (
                "config.SettingsError: The instance belongs to the user nobody, who cannot read "
                f"{unreadable[0]}: run the command of the checkout that the service uses, "
                "/opt/canopy/bin/canopy."
            )
        else:
            assert done.stdout.split() == [str(nobody.pw_uid), str(nobody.pw_gid), nobody.pw_dir]


def _can_read(person: pwd.struct_passwd, path: Path) -> bool:
    ids = {"user": person.pw_uid, "group": person.pw_gid, "extra_groups": []}
    return subprocess.run(["test", "-r", path], **ids).returncode == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_root_stays_root_where_the_user_of_the_instance_has_no_name(tmp_path: Path) -> None:
    """As in containers."""
    file, folder = tmp_path / "canopy.env", tmp_path / "instance"
    folder.mkdir()
    os.chown(folder, 4_000_000, -1)
    file.write_text(f"INSTANCE_PATH={folder}\n")
    assert "no database at" in canopy({}, "--settings", str(file), "account", "list").stderr
    assert os.geteuid() == 0

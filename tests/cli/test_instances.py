"""On which instance a command works: nothing is made by mistake, and a file can name it."""

from __future__ import annotations

import os
import pwd
import subprocess
import sys
from pathlib import Path

import pytest

from config import ROOT

Environment = dict[str, str]

# Takes over the settings of a file, and says as whom it goes on.
TAKE_OVER = """
import os, sys, click
from app.cli.settings import SETTINGS_FILE, prepare_environment
with click.Context(click.Command("doctor")) as context:
    context.meta[SETTINGS_FILE] = sys.argv[1]
    prepare_environment()
print(os.geteuid(), os.getegid(), os.environ["HOME"])
"""


@pytest.fixture
def environment() -> Environment:
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    return {**kept, "PYTHONPATH": str(ROOT)}


def canopy(environ: Environment, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-P", "-m", "app.cli", *arguments]
    return subprocess.run(command, env=environ, cwd="/", text=True, capture_output=True)


@pytest.mark.slow
def test_no_command_makes_an_instance(environment: Environment, tmp_path: Path) -> None:
    environ = environment | {"INSTANCE_PATH": str(tmp_path / "instance")}
    for words in ("account list", f"backup {tmp_path}/b.zip", f"restore {tmp_path}/b.zip --yes"):
        done = canopy(environ, *words.split())
        assert (done.returncode, done.stdout) == (2, "")
        assert f"no database at {tmp_path}/instance/canopy.sqlite3" in done.stderr
        assert "python -m app.cli migrate" in done.stderr
    assert canopy(environ, "doctor").returncode == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_no_command_makes_a_key(environment: Environment, tmp_path: Path) -> None:
    """Where the service has its own, another one would be of no use."""
    environ = environment | {"INSTANCE_PATH": str(tmp_path)}
    canopy(environ | {"SECRET_KEY": "k" * 32}, "migrate")
    done = canopy(environ, "account", "list")
    assert done.returncode == 2
    assert "SECRET_KEY is not set" in done.stderr
    assert not (tmp_path / "secret_key").exists()


@pytest.mark.slow
def test_a_file_names_the_instance(environment: Environment, tmp_path: Path) -> None:
    file, folder = tmp_path / "canopy.env", tmp_path / "instance"
    file.write_text(f"INSTANCE_PATH={folder}\nSECRET_KEY='{'k' * 32}'\n")
    assert canopy(environment, "--settings", str(file), "migrate").returncode == 0
    assert (folder / "canopy.sqlite3").exists()
    assert not (folder / "secret_key").exists()
    elsewhere = {"CANOPY_SETTINGS": str(file), "INSTANCE_PATH": str(tmp_path / "other")}
    done = canopy(environment | elsewhere, "account", "list")
    assert (done.returncode, done.stderr) == (0, f"Settings: {file}\n")
    missing = canopy(environment, "--settings", f"{file}.old", "account", "list")
    assert missing.returncode == 2
    assert f"{file}.old cannot be read (No such file or directory)." in missing.stderr


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_root_becomes_the_user_of_the_instance(environment: Environment, tmp_path: Path) -> None:
    """A file of root's would be in the way of the service."""
    nobody = pwd.getpwnam("nobody")
    file, folder = tmp_path / "canopy.env", tmp_path / "instance"
    folder.mkdir()
    os.chown(folder, nobody.pw_uid, nobody.pw_gid)
    file.write_text(f"INSTANCE_PATH={folder}\n")
    file.chmod(0o600)
    done = subprocess.run(
        [sys.executable, "-c", TAKE_OVER, str(file)],
        env=environment,
        text=True,
        capture_output=True,
    )
    assert done.stdout.split() == [str(nobody.pw_uid), str(nobody.pw_gid), nobody.pw_dir]

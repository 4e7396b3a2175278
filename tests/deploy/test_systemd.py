"""The units: they run what there is, in the folder that they may write, and stop in time."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest

from app import preload
from app.processes.job_worker import GIVE_UP_WITHIN
from app.settings.environment_file import DEFAULT_FILE
from config import load_settings
from tests.captured import captured
from tests.deploy.files import (
    DEFAULTS,
    PYTHONS,
    SETTINGS,
    assignments,
    missing_programs,
    text,
    tool,
    unit,
    units,
)

EXAMPLE = text("deploy/systemd/canopy.env.example")
PYTHON = "/opt/canopy/.venv/bin/python"
LONGEST_END = 10  # seconds that bin/serve and its parts take to end
MOST_EXPOSED = 20  # of 100, as systemd-analyze counts


@pytest.mark.parametrize("name", units())
def test_a_unit_runs_what_there_is(name: str) -> None:
    for line in unit(name)["ExecStart"]:
        for command in line.removeprefix("/bin/sh -c '").removesuffix("'").split(" && exec "):
            program, *rest = shlex.split(command)
            assert program == PYTHON
            assert list(missing_programs(["python", *rest])) == []
    assert PYTHON.startswith(unit(name)["WorkingDirectory"][0] + "/")


@pytest.mark.parametrize("name", units())
def test_a_unit_may_write_the_folder_of_its_settings(name: str) -> None:
    folder = unit(name)["StateDirectory"][0].split()[0]
    assert assignments(EXAMPLE)["INSTANCE_PATH"] == f"/var/lib/{folder}"
    assert unit(name)["ProtectSystem"] == ["strict"]
    assert unit(name)["User"] != ["root"]


def test_backups_are_made_where_the_unit_may_write() -> None:
    (line,) = unit("canopy-backup.service")["ExecStart"]
    folders = unit("canopy-backup.service")["StateDirectory"][0].split()
    assert shlex.split(line)[3:5] == ["backup", f"/var/lib/{folders[1]}"]
    assert unit("canopy-backup.timer")["WantedBy"] == ["timers.target"]


@pytest.mark.parametrize("name", sorted({*units()} - {"canopy-backup.service"}))
def test_a_wrong_setting_is_not_tried_again(name: str) -> None:
    assert unit(name)["Restart"] == ["always"]
    assert unit(name)["RestartPreventExitStatus"] == ["2"]


@pytest.mark.parametrize("name", sorted({*units()} - {"canopy-backup.service"}))
def test_a_unit_is_given_time_to_end(name: str) -> None:
    (seconds,) = unit(name)["TimeoutStopSec"]
    assert int(seconds) > LONGEST_END > preload.END_WITHIN > GIVE_UP_WITHIN
    assert unit(name)["KillMode"] == ["mixed"]


@pytest.mark.parametrize("name", units())
def test_a_unit_sets_no_setting_itself_but_where_logs_go(name: str) -> None:
    words = {word for line in unit(name)["Environment"] for word in line.split()}
    logs = {"LOG_FILES=0"} if name == "canopy.service" else set()
    assert {word.split("=")[0] for word in words - logs} <= PYTHONS
    assert logs <= words


@pytest.mark.parametrize("name", sorted({*units()} - {"canopy-backup.service"}))
def test_a_unit_gives_the_service_the_names_of_its_settings(name: str) -> None:
    assert unit(name)["EnvironmentFile"] == [str(DEFAULT_FILE)]
    assert unit(name)["LoadCredential"] == [f"{DEFAULT_FILE.name}:{DEFAULT_FILE}"]


def test_the_example_names_settings_only() -> None:
    assert assignments(EXAMPLE).keys() <= SETTINGS
    for name in ("HOST", "PORT", "WEB_WORKERS", "WEB_THREADS"):
        assert assignments(EXAMPLE)[name] == DEFAULTS[name]


def test_the_example_can_be_used_once_its_key_is_set(tmp_path: Path) -> None:
    given = assignments(EXAMPLE)
    for name in ("canopy.service", "canopy-web.service", "canopy-worker.service"):
        folders = unit(name)["StateDirectory"][0].split()  # that it makes and can write
        assert {given[each] for each in ("INSTANCE_PATH", "BACKUP_DAILY")} == {
            f"/var/lib/{folder}" for folder in folders
        }
    instance, backups = tmp_path / "canopy", tmp_path / "canopy-backups"
    backups.mkdir()
    given |= {"SECRET_KEY": "k" * 32, "INSTANCE_PATH": str(instance), "BACKUP_DAILY": str(backups)}
    settings = load_settings(given)
    assert settings.production
    assert not settings.uses_sqlite
    assert settings.redis_url


def test_both_ways_of_running_do_not_run_at_once() -> None:
    assert set(unit("canopy.service")["Conflicts"][0].split()) == {
        "canopy-web.service",
        "canopy-worker.service",
    }


@pytest.fixture
def checked(tmp_path: Path) -> list[str]:
    """The units, with this Python in the place of one that need not be here."""
    if tool("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not installed")
    paths = []
    for name in units():
        path = tmp_path / name
        path.write_text(text(f"deploy/systemd/{name}").replace(PYTHON, sys.executable))
        paths.append(str(path))
    return paths


def test_systemd_takes_the_units(checked: list[str]) -> None:
    words = ["systemd-analyze", "verify", "--man=no", *checked]
    done = captured(words)
    complaints = [line for line in done.stderr.splitlines() if "canopy" in line]
    assert (done.returncode, complaints) == (0, [])


def test_the_units_are_little_exposed(checked: list[str]) -> None:
    words = ["systemd-analyze", "security", "--offline=yes", "--no-pager"]
    for path in checked:
        done = captured([*words, f"--threshold={MOST_EXPOSED}", path])
        if "unrecognized option" in done.stderr:
            pytest.skip("this systemd-analyze judges no files")
        assert done.returncode == 0, done.stdout

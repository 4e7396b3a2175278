"""The settings of commands, from the environment or a file."""

from __future__ import annotations

import os
import pwd
from pathlib import Path
from typing import Final

import click

from app.cli.output import print_text
from app.settings.environment_file import (
    DEFAULT_FILE,
    SETTINGS_FILE,
    parse_environment_file,
)
from config import Settings, SettingsError, load_settings

_NAMES_INSTANCE: Final = ("INSTANCE_PATH", "DATABASE_URL")


def read_settings(*, creates: bool) -> Settings:
    """Return the settings of this run.

    Args:
        creates: make the instance folder and its key if they do not exist.

    Raises:
        config.SettingsError: one is wrong, or there is no instance and ``creates`` is false.
    """
    prepare_environment()
    return load_settings(creates=creates)


def prepare_environment() -> None:
    """Take over the settings of the file, if there is one. Root becomes the owner of the instance
    folder, as root's files there would block the service.

    Raises:
        config.SettingsError: the file cannot be read.
    """
    option: str | None = click.get_current_context().meta.get(SETTINGS_FILE)
    if option is None and any(os.environ.get(name) for name in _NAMES_INSTANCE):
        return
    path = Path(option or DEFAULT_FILE)
    try:
        variables = parse_environment_file(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        if option is None and isinstance(error, FileNotFoundError):
            return
        cause = getattr(error, "strerror", "it is not UTF-8")
        advice = ""
        if isinstance(error, PermissionError):
            advice = ": run the command as root, or set INSTANCE_PATH to use another instance"
        raise SettingsError(f"The settings in {path} cannot be read ({cause}){advice}.") from None
    if option is not None:
        print_text(f"Settings: {path}", err=True)
    os.environ.update(variables)
    _become_owner(variables.get("INSTANCE_PATH"))


def _become_owner(folder: str | None) -> None:
    if os.geteuid() != 0 or not folder or not Path(folder).is_dir():
        return
    try:
        owner = pwd.getpwuid(Path(folder).stat().st_uid)
    except KeyError:  # the owner has no name, as in containers
        return
    if owner.pw_uid:
        os.initgroups(owner.pw_name, owner.pw_gid)
        os.setgid(owner.pw_gid)
        os.setuid(owner.pw_uid)
        os.environ["HOME"] = owner.pw_dir  # where libpq looks for .pgpass

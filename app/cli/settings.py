"""The settings of commands, from the environment or a file."""

from __future__ import annotations

import os
import pwd
from collections.abc import Collection
from pathlib import Path
from typing import Final

import click

from app.cli.output import print_text
from app.settings.environment_file import (
    DEFAULT_FILE,
    SERVICE_ROOT,
    SETTINGS_FILE,
    parse_environment_file,
)
from app.values.command_name import canopy_command
from config import OWN_INSTANCE, ROOT, Settings, SettingsError, load_settings

_NAMES_INSTANCE: Final = ("INSTANCE_PATH", "DATABASE_URL")
_TELL_OWN: Final = ("CANOPY_ENV", "REDIS_URL", "SECRET_KEY", "PUBLIC_URL")


def read_settings(*, creates: bool) -> Settings:
    """Return the settings of this run.

    Args:
        creates: make the instance folder and its key if they do not exist.

    Raises:
        config.SettingsError: one is wrong, or there is no instance and ``creates`` is false.
    """
    prepare_environment()
    return load_settings(creates=creates)


def prepare_environment() -> Collection[str]:
    """Take over the settings of the file that is named, else those of the machine's, unless this
    checkout has settings or an instance of its own. Returns the names in the file. Root becomes
    the owner of the instance folder, as root's files there would block the service.

    Raises:
        config.SettingsError: the file cannot be read, or the owner cannot read this checkout.
    """
    option: str | None = click.get_current_context().meta.get(SETTINGS_FILE)
    path = Path(option or DEFAULT_FILE)
    if option is None and (any(map(os.environ.get, _NAMES_INSTANCE)) or not _may_exist(path)):
        return ()
    has_own = OWN_INSTANCE.is_dir() or any(map(os.environ.get, _TELL_OWN))
    # At SERVICE_ROOT, bin/serve may have been tried before.
    if option is None and has_own and ROOT != SERVICE_ROOT:
        print_text(
            f"Instance: {OWN_INSTANCE}, of this checkout. For that of this machine: "
            f"{canopy_command()} --settings {path} …",
            err=True,
        )
        return ()
    try:
        variables = parse_environment_file(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        cause = getattr(error, "strerror", "it is not UTF-8")
        advice = ""
        if isinstance(error, PermissionError):
            advice = ": run the command as root, or set INSTANCE_PATH to use another instance"
        raise SettingsError(f"The settings in {path} cannot be read ({cause}){advice}.") from None
    print_text(f"Settings: {path}", err=True)
    os.environ.update(variables)
    _become_owner(variables.get("INSTANCE_PATH"))
    return variables


def _may_exist(path: Path) -> bool:
    """True if there is such a file, or its folder cannot be looked into."""
    try:
        return path.exists()
    except OSError:
        return True


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
        _require_readable_code(owner.pw_name)


def _require_readable_code(user: str) -> None:
    """Raise SettingsError if this user cannot read Python, its packages or this checkout: what is
    imported later would fail."""
    for path in (os.__file__, click.__file__, __file__):
        if not os.access(path, os.R_OK):
            raise SettingsError(
                f"The instance belongs to the user {user}, who cannot read {path}: run the command "
                f"of the checkout that the service uses, {SERVICE_ROOT}/bin/canopy."
            )

"""The plans in force: the policy's, changed and extended by the operator's file."""

from __future__ import annotations

import logging
import re
import tomllib
from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any, Final

from flask import Flask, current_app

from app.policy.plans import BASE_PLAN, PLANS, Plan
from app.values.command_name import canopy_command
from config import Settings, SettingsError

log = logging.getLogger(__name__)

_EXTENSION: Final = "canopy_plans"
_LIMITS: Final = tuple(item.name for item in fields(Plan))
_NAME: Final = re.compile(r"[a-z][a-z0-9_-]{0,49}")  # the column of accounts takes 50
_MOST: Final = 2**53 - 1  # the largest integer that is exact in every JSON parser


def init_app(app: Flask, settings: Settings) -> None:
    """Give ``app`` its plans. Raises as ``plans_of``."""
    app.extensions[_EXTENSION] = plans_of(settings)


def plans_of(settings: Settings) -> Mapping[str, Plan]:
    """The plans of these settings by name.

    Raises:
        config.SettingsError: ``PLANS_FILE`` is wrong, with the line and the reason in the message;
            or there is no plan ``DEFAULT_PLAN``.
    """
    path = settings.plans_file
    by_name = PLANS if path is None else PLANS | read_plans(path)
    if settings.default_plan not in by_name:
        raise SettingsError(
            f"DEFAULT_PLAN must be one of {', '.join(by_name)}, not {settings.default_plan!r}; "
            "PLANS_FILE adds plans."
        )
    return by_name


def plans() -> Mapping[str, Plan]:
    """The application's plans by name."""
    in_force: Mapping[str, Plan] = current_app.extensions[_EXTENSION]
    return in_force


def default_plan() -> str:
    """The name of the plan of new accounts."""
    settings: Settings = current_app.config["SETTINGS"]
    return settings.default_plan


def plan_of(name: str) -> Plan:
    """The plan with this name. One that was removed from the file has the limits of ``BASE_PLAN``
    until the account gets another plan."""
    in_force = plans()
    if name not in in_force:
        _log_once(name)
        name = BASE_PLAN
    return in_force[name]


def read_plans(path: Path) -> dict[str, Plan]:
    """The plans of a TOML file: a table for each, where 0 or a missing key means no limit.

    Raises:
        config.SettingsError: it cannot be read, or a name or a number in it is wrong.
    """
    try:
        text = path.read_text("utf-8")
        tables = tomllib.loads(text)
    except (OSError, ValueError) as error:  # tomllib's and UTF-8's errors are ValueErrors
        raise SettingsError(f"PLANS_FILE {path} cannot be read: {error}.") from None
    return {name: _read_plan(path, text, name, table) for name, table in tables.items()}


def _read_plan(path: Path, text: str, name: str, table: Any) -> Plan:
    if not isinstance(table, dict):
        raise _plan_fault(path, text, None, name, "must be a table, such as [pro]")
    if not _NAME.fullmatch(name):
        message = "is not a name for a plan: use at most 50 lower-case letters, digits, - and _"
        raise _plan_fault(path, text, name, None, f"{name!r} {message}")
    for key, value in table.items():
        if key not in _LIMITS:
            raise _plan_fault(
                path, text, name, key, f"is unknown; a plan can have {', '.join(_LIMITS)}"
            )
        if type(value) is not int or not 0 <= value <= _MOST:
            raise _plan_fault(path, text, name, key, "must be a whole number; 0 means no limit")
    return Plan(**{key: table.get(key) or None for key in _LIMITS})


def _plan_fault(
    path: Path, text: str, table: str | None, key: str | None, reason: str
) -> SettingsError:
    place = " of ".join(part for part in (key, f"[{table}]" if table else None) if part)
    message = reason if key is None else f"{place} {reason}"
    return SettingsError(f"PLANS_FILE {path}, line {_line_of(text, table, key)}: {message}.")


def _line_of(text: str, table: str | None, key: str | None) -> int:
    """The line of a key, which tomllib does not return. If it is not found, as TOML has several
    notations, the line of its table, or 1."""
    inside, line_number = table is None, 1
    for number, line in enumerate(text.splitlines(), 1):
        if header := re.match(r"""\s*\[\s*["']?([^\]"']+?)["']?\s*\]""", line):
            inside = header[1] == table
            line_number = number if inside else line_number
        elif inside and key and re.match(rf"""\s*["']?{re.escape(key)}["']?\s*[=.]""", line):
            return number
    return line_number


@cache
def _log_once(name: str) -> None:
    log.warning(
        "plan %r does not exist, so its accounts get the limits of %s. "
        "Put it back into PLANS_FILE, "
        f"or run: {canopy_command()} account update ACCOUNT --plan PLAN",
        name,
        BASE_PLAN,
    )

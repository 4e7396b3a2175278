"""Reading the file of ``PLANS_FILE``.

Errors are sentences that name the setting.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, Final

from app.policy.plans import PLANS, Plan

_LIMITS: Final = tuple(item.name for item in fields(Plan))
_NAME: Final = re.compile(r"[a-z][a-z0-9_-]{0,49}")  # the column of accounts takes 50
_MOST: Final = 2**53 - 1  # the largest integer that is exact in every JSON parser


def plans_of(path: Path | None, default_plan: str) -> Mapping[str, Plan]:
    """The plans by name: the policy's, changed and extended by the file.

    Raises:
        ValueError: the file is wrong, with the line and the reason in the message; or there is no
            plan ``default_plan``.
    """
    by_name = PLANS if path is None else PLANS | read_plans(path)
    if default_plan not in by_name:
        raise ValueError(
            f"DEFAULT_PLAN must be one of {', '.join(by_name)}, not {default_plan!r}; "
            "PLANS_FILE adds plans."
        )
    return by_name


def read_plans(path: Path) -> dict[str, Plan]:
    """The plans of a TOML file: a table for each, where 0 or a missing key means no limit.

    Raises:
        ValueError: it cannot be read, or a name or a number in it is wrong.
    """
    try:
        text = path.read_text("utf-8")
        tables = tomllib.loads(text)
    except (OSError, ValueError) as error:  # tomllib's and UTF-8's errors are ValueErrors
        raise ValueError(f"PLANS_FILE {path} cannot be read: {error}.") from None
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
) -> ValueError:
    place = " of ".join(part for part in (key, f"[{table}]" if table else None) if part)
    message = reason if key is None else f"{place} {reason}"
    return ValueError(f"PLANS_FILE {path}, line {_line_of(text, table, key)}: {message}.")


def _line_of(text: str, table: str | None, key: str | None) -> int:
    """The line of a key, which tomllib does not return. If it is not found, as TOML has several
    notations, the line of its table, or 1."""
    inside, line_number = table is None, 1
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("["):
            inside = line.partition("[")[2].partition("]")[0].strip(" \t\"'") == table
            line_number = number if inside else line_number
        elif inside and key and re.match(rf"""\s*["']?{re.escape(key)}["']?\s*[=.]""", line):
            return number
    return line_number

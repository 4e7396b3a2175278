"""The findings of checks."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class Status(StrEnum):
    OK = "ok"
    WARNING = "warning"  # it works, but could be better
    PROBLEM = "problem"  # it does not work, or data is wrong


class Finding(NamedTuple):
    """What a check has found."""

    status: Status
    found: str  # a sentence
    advice: str = ""
    check: str = ""  # the name of the check, which the doctor sets


def ok(found: str) -> Finding:
    return Finding(Status.OK, found)


def warning(found: str, advice: str) -> Finding:
    return Finding(Status.WARNING, found, advice)


def problem(found: str, advice: str) -> Finding:
    return Finding(Status.PROBLEM, found, advice)

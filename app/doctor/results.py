"""The results of checks."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Status(StrEnum):
    OK = "ok"
    WARNING = "warning"  # it works, but could be better
    PROBLEM = "problem"  # it does not work, or data is wrong


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a check."""

    status: Status
    found: str  # a sentence
    advice: str = ""


def ok(found: str) -> Result:
    return Result(Status.OK, found)


def warning(found: str, advice: str) -> Result:
    return Result(Status.WARNING, found, advice)


def problem(found: str, advice: str) -> Result:
    return Result(Status.PROBLEM, found, advice)

"""The report of a trial, and how its figures are written."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from statistics import quantiles


class CannotCause(Exception):
    """This machine or user cannot bring the fault about. The message says what it takes."""


@dataclass
class Report:
    """Figures, a line each; what was wrong; what took too long, which depends on the machine."""

    lines: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    late: list[str] = field(default_factory=list)

    def check(self, is_right: bool, otherwise: str) -> None:
        if not is_right:
            self.wrong.append(otherwise)

    def check_none(self, cases: Iterable[object], what: str) -> None:
        """Nothing may be there of which ``what`` can be said."""
        if cases := list(cases):
            self.wrong.append(f"{len(cases):,} {what}, such as {cases[0]}")

    def check_time(self, what: str, seconds: float, allowed: float) -> None:
        if seconds > allowed:
            self.late.append(f"{what} took {seconds:.2f} s, and {allowed:.2f} s are allowed")


def say(text: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def percentile(values: Sequence[float], number: int) -> float:
    return quantiles(values, n=100)[number - 1] if len(values) > 1 else max(values, default=0.0)


def described(seconds: Sequence[float], what: str = "requests") -> str:
    """How long things took."""
    p50, p99 = (percentile(seconds, number) * 1000 for number in (50, 99))
    return (
        f"p50 {p50:,.1f} ms, p99 {p99:,.1f} ms, longest {max(seconds, default=0):.2f} s, "
        f"{len(seconds):,} {what}"
    )

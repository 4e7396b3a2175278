"""The report of a trial."""

from __future__ import annotations

from dataclasses import dataclass, field


class CannotCause(Exception):
    """This machine or user cannot bring the fault about. The message says what it takes."""


@dataclass
class TrialReport:
    """Figures, a line each; what was wrong; and what took too long, which depends on the machine
    and is for people to read."""

    lines: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    late: list[str] = field(default_factory=list)

    def check(self, is_right: bool, otherwise: str) -> None:
        if not is_right:
            self.wrong.append(otherwise)

    def check_time(self, what: str, seconds: float, allowed: float) -> None:
        if seconds > allowed:
            self.late.append(f"{what} took {seconds:.2f} s, and {allowed:.2f} s are allowed")

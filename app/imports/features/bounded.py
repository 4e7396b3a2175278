"""Deciding about the features of a file, with a bound of processor time."""

from __future__ import annotations

from dataclasses import dataclass
from time import thread_time
from typing import Final

from app.imports.features.candidates import Candidate
from app.imports.features.reader_process import TooCostly
from app.imports.features.targets import Decision, Matcher

_TOO_SLOW: Final = (
    "Comparing the features with what the account has takes too long. Split the file into several."
)


@dataclass(slots=True)
class BoundedMatcher:
    """A matcher whose decisions take ``most_seconds`` of this thread's processor time at most, or
    raise TooCostly. ``seconds`` are those that they have taken."""

    matcher: Matcher
    most_seconds: float
    seconds: float = 0.0

    def decide(self, item: Candidate) -> Decision:
        """Decide about a feature. Raises CannotImport, TooCostly."""
        if self.seconds > self.most_seconds:
            raise TooCostly(_TOO_SLOW)
        start = thread_time()
        try:
            return self.matcher.decide(item)
        finally:
            self.seconds += thread_time() - start

    def free_name(self, name: str) -> str:
        return self.matcher.free_name(name)

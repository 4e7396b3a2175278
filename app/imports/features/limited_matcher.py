"""Deciding about the features of a file within a limit of processor time."""

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
class LimitedMatcher:
    """A matcher whose decisions may take ``max_seconds`` of this thread's processor time.
    ``seconds`` is the time that they have taken."""

    matcher: Matcher
    max_seconds: float
    seconds: float = 0.0

    def decide(self, candidate: Candidate) -> Decision:
        """Decide about a feature. Raises CannotImport, TooCostly."""
        if self.seconds > self.max_seconds:
            raise TooCostly(_TOO_SLOW)
        start = thread_time()
        try:
            return self.matcher.decide(candidate)
        finally:
            self.seconds += thread_time() - start

    def free_name(self, name: str) -> str:
        return self.matcher.free_name(name)

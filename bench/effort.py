"""How long a bench measures: long enough for a figure, or just long enough to see that it works."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Effort:
    """What a bench may spend."""

    rounds: int  # after one that warms up
    seconds: float  # of one measurement
    share: float = 1.0  # of the numbers of requests, projects and so on

    def number(self, full: int) -> int:
        """So many of something that a full run has ``full`` of; at least one."""
        return max(1, round(full * self.share))


QUICK: Final = Effort(rounds=1, seconds=0.1, share=0.02)

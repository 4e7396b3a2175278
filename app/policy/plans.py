"""The plans and their limits. ``None`` means no limit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Plan:
    """The limits of one plan, counted per account over all its credentials."""

    requests_per_minute: int | None
    requests_per_day: int | None
    hectares: int | None  # reported, never enforced
    members: int | None  # invited people count
    chat_questions_per_day: int | None = None  # in 24 hours from the first one

    def requests_in_words(self) -> str:
        """The limits in words, such as ``300 a minute and 10,000 a day``; empty without any."""
        limits = ((self.requests_per_minute, "a minute"), (self.requests_per_day, "a day"))
        return " and ".join(f"{number:,} {span}" for number, span in limits if number is not None)


PLANS: Final[dict[str, Plan]] = {
    #                  a minute    a day  hectares  members  questions
    "free": Plan(            60,   1_000,    1_000,       3,        50),
    "pro": Plan(            300,  10_000,   50_000,      25,       500),
    "enterprise": Plan(   1_000,    None,     None,    None,      None),
}  # fmt: skip

# The plan after a canceled subscription, and the limits of accounts whose plan no longer exists.
# The plan of new accounts is the setting DEFAULT_PLAN.
BASE_PLAN: Final = "free"

# Percentages of a limit at which an event is sent. Exceeding the limit is another event.
USAGE_THRESHOLDS: Final = (75, 90, 100)

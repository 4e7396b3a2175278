"""The filters of a webhook's log, which are in the address of the page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Final

from app.pages.filters import LogFilters
from app.pages.webhooks.event_groups import event_groups
from app.policy.events import TEST_EVENT
from app.webhooks.logs.filters import LogQuery
from app.webhooks.logs.schemas import LogQuerySchema

PER_PAGE: Final = 25
PERIODS: Final = {1: "24 hours", 7: "7 days", 30: "30 days"}  # days of the charts
RESULTS: Final = {"failed": "Failed", "success": "Succeeded"}
EVENT_TYPES: Final = {
    group.name: {name: name for name, _ in group.types} for group in event_groups()
} | {TEST_EVENT: TEST_EVENT}


class AttemptFilters(LogFilters):
    """The filters of attempts. ``days`` is the period of the charts."""

    schema = LogQuerySchema()
    labels: ClassVar = {"status": "Result", "event_type": "Event", "since": "From", "until": "To"}
    kind = "log"

    def __init__(self, webhook_id: str, arguments: Mapping[str, str]) -> None:
        days = arguments.get("days", "")
        self.days = int(days) if days in map(str, PERIODS) else 1
        days = "" if self.days == 1 else days
        super().__init__(f"/webhooks/{webhook_id}", arguments, days=days)

    @property
    def query(self) -> LogQuery:
        values = {**self.values, "per_page": PER_PAGE, "before": self.before or None}
        return LogQuery(**values)

    @property
    def is_live(self) -> bool:
        """True if new attempts can appear on the page."""
        return not (self.before or {"since", "until"} & self.chosen.keys())

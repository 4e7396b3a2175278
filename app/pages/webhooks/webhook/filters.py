"""The filters of a webhook's log, which are in the address of the page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from app.pages.filters import list_address, load_valid_filters, problem_sentences
from app.site.times import field_timestamp, time_field_text
from app.values.ids import is_id
from app.webhooks.logs.filters import LogQuery
from app.webhooks.logs.schemas import LogQuerySchema

PER_PAGE: Final = 25
PERIODS: Final = {1: "24 hours", 7: "7 days", 30: "30 days"}  # days of the charts
_LABELS: Final = {"status": "Result", "event_type": "Event", "since": "From", "until": "To"}


class LogFilters(NamedTuple):
    """The filters of one request, and their problems.

    Attributes:
        chosen: the filters as the address has them.
        values: the filters as ``LogQuerySchema`` loads them.
        days: the period of the charts.
        before: the id of an entry; the page shows older ones. Empty: the newest.
    """

    chosen: dict[str, str]
    values: dict[str, Any]
    problems: list[str]
    days: int
    before: str

    @property
    def query(self) -> LogQuery:
        return LogQuery(**self.values, before=self.before or None)

    @property
    def is_live(self) -> bool:
        """True if new attempts can appear on the page."""
        return not (self.before or {"since", "until"} & self.values.keys())

    @property
    def are_default(self) -> bool:
        """True if no attempt is left out."""
        return not {"status", "event_type", "since", "until"} & self.values.keys()

    def address(self, path: str, **others: Any) -> str:
        """Return the address of the newest entries with these filters, except for ``others``."""
        days = "" if self.days == 1 else self.days
        return list_address(path, {**self.chosen, "days": days, **others}, {})

    def moment(self, name: str) -> str:
        """Return ``since`` or ``until`` as the text of its field."""
        return time_field_text(self.values.get(name))


def read_filters(arguments: Mapping[str, str]) -> LogFilters:
    """Read the filters of an address. Invalid ones are left out and reported in ``problems``."""
    chosen = {name: arguments[name].strip() for name in _LABELS if arguments.get(name, "").strip()}
    for name in ("since", "until"):
        if name in chosen:
            chosen[name] = field_timestamp(chosen[name])
    loaded, problems = load_valid_filters(LogQuerySchema(), {**chosen, "per_page": str(PER_PAGE)})
    chosen = {name: value for name, value in chosen.items() if name not in problems}
    days, before = arguments.get("days", ""), arguments.get("before", "")
    return LogFilters(
        chosen,
        loaded,
        problem_sentences(problems, _LABELS),
        int(days) if days in map(str, PERIODS) else 1,
        before if is_id("log", before) else "",
    )

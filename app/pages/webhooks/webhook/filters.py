"""The filters of a webhook's log, which are in the address of the page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from app.pages.filters import filtered, load_valid, sentences
from app.site.moments import field_value, in_utc
from app.values.ids import is_id
from app.webhooks.logs.filters import LogQuery
from app.webhooks.logs.schemas import LogQuerySchema

PER_PAGE: Final = 25
PERIODS: Final = {1: "24 hours", 7: "7 days", 30: "30 days"}  # of the charts
_LABELS: Final = {"status": "Result", "event_type": "Event", "since": "From", "until": "To"}


class LogFilters(NamedTuple):
    """The filters of one request, and what is wrong with them."""

    chosen: dict[str, str]  # as the address has them
    values: dict[str, Any]  # as ``LogQuerySchema`` loads them
    problems: list[str]
    days: int
    before: str  # the id of the entry that all that are shown are older than; empty: the newest

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
        """An address with these filters, but for those that are named; the newest entries."""
        days = "" if self.days == 1 else self.days
        return filtered(path, {**self.chosen, "days": days, **others}, {})

    def moment(self, name: str) -> str:
        """``since`` or ``until`` as the field of the form has it, in UTC."""
        return field_value(self.values.get(name))


def read_filters(arguments: Mapping[str, str]) -> LogFilters:
    """The filters of an address. Invalid ones are left out and reported in ``problems``."""
    chosen = {name: arguments[name].strip() for name in _LABELS if arguments.get(name, "").strip()}
    for name in ("since", "until"):
        if name in chosen:
            chosen[name] = in_utc(chosen[name])
    loaded, wrong = load_valid(LogQuerySchema(), {**chosen, "per_page": str(PER_PAGE)})
    chosen = {name: value for name, value in chosen.items() if name not in wrong}
    days, before = arguments.get("days", ""), arguments.get("before", "")
    return LogFilters(
        chosen,
        loaded,
        sentences(wrong, _LABELS),
        int(days) if days in map(str, PERIODS) else 1,
        before if is_id("log", before) else "",
    )

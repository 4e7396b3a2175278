"""The usage of an account compared with the limits of its plan."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any, Final, NamedTuple

from app.events.listing import latest_events
from app.limits.plan_file import plan_of
from app.policy.plans import USAGE_THRESHOLDS
from app.site.formats import area, byte_size, number, percent
from app.usage.statistics import requests_today, usage_statistics

_MOST_EVENTS: Final = 200  # thresholds are reached seldom


class Crossing(NamedTuple):
    """A threshold that was reached this month, and the last time."""

    words: str
    at: str


class Meter(NamedTuple):
    """The usage of one limit.

    Attributes:
        current: the usage, in the unit of ``limit``.
        limit: None for no limit.
        words: formats a number with its unit.
        at_limit: a sentence about what happens at the limit.
        refuses: True if anything is refused at the limit.
        more: another sentence.
    """

    name: str
    current: float
    limit: float | None
    words: Callable[[float], str]
    at_limit: str
    refuses: bool = False
    more: str = ""
    crossings: tuple[Crossing, ...] = ()

    @property
    def percent(self) -> float:
        if self.limit is None:
            return 0.0
        return 100 * self.current / self.limit if self.limit else 100.0 * bool(self.current)

    @property
    def shown_percent(self) -> str:
        """The percentage as text, rounded down."""
        shown = int(10 * self.percent) / 1000
        return f"< {percent(0.001)}" if not shown and self.current else percent(shown)

    @property
    def level(self) -> str:
        """How near the limit it is, as a class of ``css/account.css``."""
        reached = sum(self.percent >= threshold for threshold in USAGE_THRESHOLDS)
        return ("", "near", "near", "over" if self.refuses else "near")[reached]

    @property
    def state(self) -> str:
        """The level in words; empty while there is room."""
        if self.limit is None or not self.level:
            return ""
        if self.percent < USAGE_THRESHOLDS[-1]:
            return "near the limit"
        return "over the limit" if self.current > self.limit else "at the limit"


def usage_meters(account_id: str, plan_name: str) -> list[Meter]:
    """Return the meters of an account on a plan."""
    usage = usage_statistics(account_id, plan_name)
    crossings = _threshold_crossings(account_id, usage["period"]["start"])
    plan = plan_of(plan_name)
    hectares, members, projects = usage["hectares"], usage["members"], usage["projects"]
    month, stored, history = (
        usage[name] for name in ("api_requests", "stored_bytes", "history_bytes")
    )
    drafts = projects["total"] - projects["active"] - projects["archived"]
    return [
        Meter(
            "Forest area", hectares["current"], hectares["limit"], area,
            "Nothing is refused beyond the limit.",
            more="Archived projects do not count.", crossings=crossings.get("hectares", ()),
        ),
        Meter(
            "Projects", projects["total"], None, number, "",
            more=f"{number(projects['active'])} active, {number(drafts)} drafts, "
            f"{number(projects['archived'])} archived.",
        ),
        Meter(
            "Members", members["current"], members["limit"], number,
            "At the limit, nobody else can be invited.", refuses=True,
            more="Open invitations count.", crossings=crossings.get("members", ()),
        ),
        Meter(
            "API requests today (UTC)", requests_today(account_id), plan.requests_per_day,
            number, "At the limit, requests are refused until 00:00 UTC.", refuses=True,
        ),
        Meter(
            "API requests this month", month["current"], month["limit"], number,
            "Nothing is refused: only the daily limit holds. This is the sum of all days.",
            crossings=crossings.get("api_requests", ()),
        ),
        Meter(
            "Stored data", stored["current"], stored["limit"], byte_size,
            "At the limit, no boundary or metadata can grow.", refuses=True,
            more="Counts boundaries, including earlier versions, and metadata.",
        ),
        Meter(
            "History", history["current"], history["limit"], byte_size,
            "At the limit, projects and assets cannot be created, changed or imported.",
            refuses=True,
            more="Counts events, deliveries and the audit log, which go by themselves with time.",
        ),
    ]  # fmt: skip


def _threshold_crossings(account_id: str, since: str) -> dict[str, tuple[Crossing, ...]]:
    """Return the thresholds that were reached since a time, the latest first, by metric. Looks
    through the last ``_MOST_EVENTS`` events."""
    crossings: dict[str, tuple[Crossing, ...]] = {}
    start = datetime.fromisoformat(since)
    for event in latest_events(account_id, account_id, _MOST_EVENTS):
        if not event["type"].startswith("usage.") or _event_time(event) < start:
            continue
        data = event["data"]
        exceeded = event["type"] == "usage.limit_exceeded"
        words = (
            "Limit exceeded"
            if exceeded
            else f"{percent(data['threshold'] / 100, trim=True)} reached"
        )
        later = crossings.get(data["metric"], ())
        if words not in (crossing.words for crossing in later):
            crossings[data["metric"]] = (*later, Crossing(words, event["created_at"]))
    return crossings


def _event_time(event: dict[str, Any]) -> datetime:
    return datetime.fromisoformat(event["created_at"])

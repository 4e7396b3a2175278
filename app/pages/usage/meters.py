"""What the account uses of each limit, in words and numbers."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any, Final, NamedTuple

from app.events.listing import latest_events
from app.limits.plan_file import plan_of
from app.policy.plans import USAGE_THRESHOLDS
from app.usage.statistics import requests_today, usage_statistics

_MOST_EVENTS: Final = 200  # thresholds are reached seldom
_UNITS: Final = (("GB", 1024**3), ("MB", 1024**2), ("KB", 1024))


class Crossing(NamedTuple):
    """A threshold that was reached this month, and when last."""

    words: str
    at: str


class Meter(NamedTuple):
    """One limit. ``limit`` is None for no limit; ``current`` and ``limit`` have the same unit."""

    name: str
    current: float
    limit: float | None
    words: Callable[[float], str]
    at_limit: str
    refuses: bool = False  # anything at the limit
    more: str = ""
    crossings: tuple[Crossing, ...] = ()

    @property
    def percent(self) -> float:
        if self.limit is None:
            return 0.0
        return 100 * self.current / self.limit if self.limit else 100.0 * bool(self.current)

    @property
    def shown_percent(self) -> str:
        """Not rounded up to a limit that is not reached."""
        whole = int(self.percent)
        return "less than 1" if not whole and self.current else f"{whole:,}"

    @property
    def level(self) -> str:
        """How near the limit it is: a class of ``css/usage.css``."""
        reached = sum(self.percent >= each for each in USAGE_THRESHOLDS)
        return ("", "near", "near", "over" if self.refuses else "near")[reached]

    @property
    def state(self) -> str:
        """The same in words; empty while there is room."""
        if self.limit is None or not self.level:
            return ""
        if self.percent < USAGE_THRESHOLDS[-1]:
            return "near the limit"
        return "over the limit" if self.current > self.limit else "at the limit"


def meters(account_id: str, plan_name: str) -> list[Meter]:
    """The meters of an account on a plan."""
    found = usage_statistics(account_id, plan_name)
    crossed = _crossings(account_id, found["period"]["start"])
    plan = plan_of(plan_name)
    hectares, members = found["hectares"], found["members"]
    month, stored, history = (
        found[name] for name in ("api_requests", "stored_bytes", "history_bytes")
    )
    projects = found["projects"]
    drafts = projects["total"] - projects["active"] - projects["archived"]
    return [
        Meter(
            "Forest area", hectares["current"], hectares["limit"], _hectares,
            "Nothing is refused beyond the limit.",
            more="Archived projects do not count.", crossings=crossed.get("hectares", ()),
        ),
        Meter(
            "Projects", projects["total"], None, _number, "",
            more=f"{projects['active']:,} active, {drafts:,} drafts, "
            f"{projects['archived']:,} archived.",
        ),
        Meter(
            "Members", members["current"], members["limit"], _number,
            "At the limit, nobody else can be invited.", refuses=True,
            more="Open invitations count.", crossings=crossed.get("members", ()),
        ),
        Meter(
            "API requests today (UTC)", requests_today(account_id), plan.requests_per_day,
            _number, "At the limit, requests are refused until 00:00 UTC.", refuses=True,
        ),
        Meter(
            "API requests this month", month["current"], month["limit"], _number,
            "Nothing is refused: only the daily limit holds. This is the sum of all days.",
            crossings=crossed.get("api_requests", ()),
        ),
        Meter(
            "Stored data", stored["current"], stored["limit"], size,
            "At the limit, no boundary or metadata can grow.", refuses=True,
            more="Counts boundaries, including earlier versions, and metadata.",
        ),
        Meter(
            "History", history["current"], history["limit"], size,
            "At the limit, projects and assets cannot be created, changed or imported.",
            refuses=True,
            more="Counts events, deliveries and the audit log, which go by themselves with time.",
        ),
    ]  # fmt: skip


def size(number: float) -> str:
    """A number of bytes for people: ``1.5 MB``."""
    for unit, step in _UNITS:
        if number >= step:
            return f"{number / step:,.3g} {unit}"
    return f"{number:,.0f} bytes"


def _hectares(number: float) -> str:
    return f"{number:,.0f} ha" if number >= 100 or number == int(number) else f"{number:,.2f} ha"


def _number(number: float) -> str:
    return f"{number:,.0f}"


def _crossings(account_id: str, since: str) -> dict[str, tuple[Crossing, ...]]:
    """The thresholds that were reached since then, by what is limited, the latest first; not those
    after which usage passed _MOST_EVENTS others, up and down."""
    found: dict[str, tuple[Crossing, ...]] = {}
    start = datetime.fromisoformat(since)
    for event in latest_events(account_id, account_id, _MOST_EVENTS):
        if not event["type"].startswith("usage.") or _time(event) < start:
            continue
        data = event["data"]
        exceeded = event["type"] == "usage.limit_exceeded"
        words = "Limit exceeded" if exceeded else f"{data['threshold']} % reached"
        known = found.get(data["metric"], ())
        if words not in (each.words for each in known):
            found[data["metric"]] = (*known, Crossing(words, event["created_at"]))
    return found


def _time(event: dict[str, Any]) -> datetime:
    return datetime.fromisoformat(event["created_at"])

"""Which days and whose requests the page shows, as its address says."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from flask import request

from app.pages.filters import filtered
from app.site.charts import Chart, Series, stacked_bars
from app.usage.requests import CallerRequests, Requests

PERIODS: Final = (7, 30, 90)
_DEFAULT: Final = 30


class Shown(NamedTuple):
    """The last ``days``, and the id of a credential, or empty for the whole account."""

    days: int
    credential: str

    def query(self, **others: Any) -> str:
        """The query of an address that shows these, or others."""
        return filtered("", self._asdict() | others, {"days": _DEFAULT})


def shown_requests() -> Shown:
    """What the address of the request asks for; what it cannot have is left out."""
    days = request.args.get("days", type=int, default=_DEFAULT)
    return Shown(days if days in PERIODS else _DEFAULT, request.args.get("credential", "")[:40])


def chosen_of(found: Requests, shown: Shown) -> CallerRequests | None:
    """The requests of the credential that was asked for, if there is one."""
    return next((each for each in found.callers if each.caller.id == shown.credential), None)


def chart_of(found: Requests, chosen: CallerRequests | None) -> Chart:
    """Requests by day: of the account, or of one credential."""
    numbers = found.by_day if chosen is None else chosen.by_day
    return stacked_bars(
        found.days, [Series("Requests", "main", list(numbers))], lambda number: f"{number:,.0f}"
    )

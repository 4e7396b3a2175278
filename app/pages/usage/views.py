"""The page of an account's usage: the limits of its plan, and who makes its requests."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from flask import Response, request

from app.auth.principal import Principal
from app.limits.plan_file import plan_of
from app.pages.filters import list_address
from app.pages.usage.meters import usage_meters
from app.site import formats
from app.site.charts import Chart, Series, stacked_bars
from app.site.pages import PageBlueprint, live_part, page
from app.site.protection import own_site_only
from app.site.signed_in import is_from_script, of_account
from app.usage.requests import (
    CSV,
    CallerRequests,
    Requests,
    csv_name,
    last_days,
    read_requests,
    requests_csv,
)

bp = PageBlueprint("usage_page", __name__, section="/usage")

_PERIODS: Final = (7, 30, 90)
_DEFAULT: Final = 30


class RequestFilters(NamedTuple):
    """The last ``days``, and the id of a credential, or empty for the whole account."""

    days: int
    credential: str

    def query(self, **others: Any) -> str:
        """Return the query of an address with these filters, except for ``others``."""
        return list_address("", self._asdict() | others, {"days": _DEFAULT})


@bp.get("/usage", of_account("billing:read"))
def usage(principal: Principal) -> Response:
    """What the account uses of its plan, and who makes its requests."""
    filters = _request_filters()
    requests = read_requests(principal.account_id, last_days(filters.days))
    chosen = next(
        (caller for caller in requests.callers if caller.caller.id == filters.credential), None
    )
    values: dict[str, Any] = {
        "filters": filters if chosen else filters._replace(credential=""),
        "periods": _PERIODS,
        "requests": requests,
        "chosen": chosen,
        "requests_chart": _requests_chart(requests, chosen),
        "meters": usage_meters(principal.account_id, principal.plan),
        "plan_name": principal.plan,
        "plan": plan_of(principal.plan),
    }
    if is_from_script():
        return live_part("usage/now.html", **values)
    return page("usage/usage.html", **values)


@bp.get("/usage/requests.csv", of_account("billing:read"))
@own_site_only
def requests_file(principal: Principal) -> Response:
    """The requests by day and credential, as CSV."""
    requests = read_requests(principal.account_id, last_days(_request_filters().days))
    headers = {
        "Content-Disposition": f'attachment; filename="{csv_name(requests)}"',
        "Cache-Control": "no-store",
    }
    return Response(requests_csv(requests), content_type=CSV, headers=headers)


def _request_filters() -> RequestFilters:
    """Return the filters in the address of the page, without those that are invalid."""
    days = request.args.get("days", type=int, default=_DEFAULT)
    credential = request.args.get("credential", "")[:40]
    return RequestFilters(days if days in _PERIODS else _DEFAULT, credential)


def _requests_chart(requests: Requests, chosen: CallerRequests | None) -> Chart:
    """The requests by day, of the account or of one credential."""
    numbers = requests.by_day if chosen is None else chosen.by_day
    series = [Series("Requests", "main", list(numbers))]
    days = [formats.day_text(day) for day in requests.days]
    return stacked_bars(days, series, formats.number)

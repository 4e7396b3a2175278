"""The page of usage, and its file of requests."""

from __future__ import annotations

from typing import Any

from flask import Response

from app.auth.principal import Principal
from app.limits.plan_file import plan_of
from app.pages.usage.meters import meters
from app.pages.usage.period import PERIODS, chart_of, chosen_of, shown_requests
from app.site.live import live_part
from app.site.pages import PageBlueprint, page
from app.site.protection import own_site_only
from app.site.signed_in import is_from_script, of_account
from app.usage.requests import CSV, csv_name, last_days, read_requests, requests_csv

bp = PageBlueprint("usage_page", __name__, section="/usage")


@bp.get("/usage")
@of_account("billing:read")
def usage(principal: Principal) -> Response:
    """What the account uses of its plan, and who makes its requests."""
    shown = shown_requests()
    found = read_requests(principal.account_id, last_days(shown.days))
    chosen = chosen_of(found, shown)
    shown = shown if chosen else shown._replace(credential="")
    values: dict[str, Any] = {
        "shown": shown,
        "periods": PERIODS,
        "found": found,
        "chosen": chosen,
        "drawn": chart_of(found, chosen),
        "meters": meters(principal.account_id, principal.plan),
        "plan_name": principal.plan,
        "plan": plan_of(principal.plan),
    }
    if is_from_script():
        return live_part("usage/now.html", **values)
    return page("usage/usage.html", **values)


@bp.get("/usage/requests.csv")
@of_account("billing:read")
@own_site_only
def requests_file(principal: Principal) -> Response:
    """The requests by day and credential, as CSV."""
    found = read_requests(principal.account_id, last_days(shown_requests().days))
    headers = {
        "Content-Disposition": f'attachment; filename="{csv_name(found)}"',
        "Cache-Control": "no-store",
    }
    return Response(requests_csv(found), content_type=CSV, headers=headers)

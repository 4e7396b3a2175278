"""One webhook with its health and its log, and one attempt."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import urlsplit

from flask import Response, request

from app.auth.principal import Principal
from app.db.transactions import transaction
from app.lists.logs import LOOKED_THROUGH
from app.pages.webhooks.event_groups import subscription_words
from app.pages.webhooks.explanations import explain_attempt, failure_of, status_words
from app.pages.webhooks.forms import OVERLAPS
from app.pages.webhooks.webhook.attempt import phases_of, pretty_json, state_words
from app.pages.webhooks.webhook.charts import charts_of
from app.pages.webhooks.webhook.filters import EVENT_TYPES, PERIODS, RESULTS, AttemptFilters
from app.pages.webhooks.webhook.snippets import snippets_for
from app.policy.deliveries import ATTEMPTS, DISABLED_AFTER, LOG_DAYS, RETRIES_LAST
from app.site import formats
from app.site.pages import PageBlueprint, live_part, page, redirect_to
from app.site.signed_in import of_account
from app.values import clock
from app.values.clock import parse_time
from app.webhooks.activity import count_waiting_deliveries, read_overview
from app.webhooks.logs import service as logs
from app.webhooks.logs.listing import list_latest
from app.webhooks.replays.service import last_replay
from app.webhooks.service import TRIED_AT_ONCE, retry_now, send_test

bp = PageBlueprint("webhook_page", __name__, section="/webhooks")

_ONE: Final = "/webhooks/<webhook_id>"
_LOG: Final = f"{_ONE}/logs/<log_id>"
_MOST_COUNTED: Final = 1_000  # deliveries that wait


@bp.get(_ONE, of_account("admin"))
def webhook(principal: Principal, webhook_id: str) -> Response:
    """One webhook: its health, its attempts, and its actions."""
    filters = AttemptFilters(webhook_id, request.args)
    values = _health_variables(principal, webhook_id)
    overview = values["webhook"]
    return page(
        "webhook/webhook.html",
        **values | _log_variables(principal, webhook_id, filters),
        **_charts_variables(principal, webhook_id, filters),
        results=RESULTS,
        event_types=EVENT_TYPES,
        overlaps=OVERLAPS,
        subscribed=subscription_words(overview["events"]),
        snippets=snippets_for(overview["url"]),
    )


@bp.get(f"{_ONE}/health", of_account("admin"))
def health(principal: Principal, webhook_id: str) -> Response:
    """The health, for the script of the page."""
    return live_part("webhook/health.html", **_health_variables(principal, webhook_id))


@bp.get(f"{_ONE}/charts", of_account("admin"))
def charts(principal: Principal, webhook_id: str) -> Response:
    """The charts, for the script of the page."""
    overview = read_overview(principal.account_id, webhook_id)
    filters = AttemptFilters(webhook_id, request.args)
    values = _charts_variables(principal, webhook_id, filters)
    return live_part("webhook/charts.html", webhook=overview, filters=filters, **values)


@bp.get(f"{_ONE}/log", of_account("admin"))
def log(principal: Principal, webhook_id: str) -> Response:
    """The attempts that the filters leave, for the script of the page."""
    overview = read_overview(principal.account_id, webhook_id)
    filters = AttemptFilters(webhook_id, request.args)
    values = _log_variables(principal, webhook_id, filters)
    return live_part("webhook/log.html", webhook=overview, **values)


@bp.post(f"{_ONE}/test", of_account("admin"))
def test(principal: Principal, webhook_id: str) -> Response:
    """Send a test event."""
    with transaction():
        send_test(principal, webhook_id)
    return redirect_to(
        f"/webhooks/{webhook_id}",
        "A test is on its way. The result appears in the log within seconds.",
    )


@bp.post(f"{_ONE}/retry", of_account("admin"))
def retry(principal: Principal, webhook_id: str) -> Response:
    """Retry at once all deliveries that wait for their next attempt."""
    with transaction():
        number = retry_now(principal, webhook_id)
    deliveries = formats.pluralize(number, "delivery is", "deliveries are")
    return redirect_to(
        f"/webhooks/{webhook_id}",
        f"{deliveries} tried now. The results appear in the log." if number else "Nothing waited.",
    )


@bp.get(_LOG, of_account("admin"))
def attempt(principal: Principal, webhook_id: str, log_id: str) -> Response:
    """One attempt: the request, the response, and the state of the delivery."""
    entry = logs.read_log(principal.account_id, webhook_id, log_id)
    overview = read_overview(principal.account_id, webhook_id)
    body = logs.read_body(principal.account_id, entry["event_id"])
    delivery = logs.read_delivery(principal.account_id, entry["delivery_id"])
    return page(
        "webhook/attempt.html",
        webhook=overview,
        host=urlsplit(overview["url"]).netloc,
        entry=entry,
        body=body,
        pretty=None if body is None else pretty_json(body),
        length=0 if body is None else len(body.encode()),
        phases=phases_of(entry["timing"]),
        explanation=explain_attempt(entry),
        status_words=status_words,
        delivery=delivery,
        state=state_words(delivery["state"]),
        most=ATTEMPTS,
    )


@bp.post(f"{_LOG}/redeliver", of_account("admin"))
def redeliver(principal: Principal, webhook_id: str, log_id: str) -> Response:
    """Send the event of an attempt once more."""
    logs.check_log(principal, webhook_id, log_id)
    with transaction():
        logs.redeliver(principal, webhook_id, log_id)
    return redirect_to(
        f"/webhooks/{webhook_id}",
        "The event is on its way again. The result appears in the log within seconds.",
    )


def _health_variables(principal: Principal, webhook_id: str) -> dict[str, Any]:
    """Return the variables of the part with the health."""
    overview = read_overview(principal.account_id, webhook_id)
    failure = failure_of(principal.account_id, overview)
    since = overview["failing_since"]
    disabled_at = None if since is None else parse_time(since) + DISABLED_AFTER
    if disabled_at is not None and disabled_at < clock.now():
        disabled_at = None  # a day after a warning: attempts were rare, or nothing was sent
    return {
        "webhook": overview,
        "host": urlsplit(overview["url"]).netloc,
        "failure": failure,
        "explanation": explain_attempt(failure) if failure else None,
        "has_given_up": since is not None and clock.now() - parse_time(since) > RETRIES_LAST,
        "replay": last_replay(principal.account_id, webhook_id),
        "disabled_at": disabled_at,
        "waiting": count_waiting_deliveries(principal.account_id, webhook_id, _MOST_COUNTED),
        "most_counted": _MOST_COUNTED,
        "tries": ATTEMPTS,
        "tried_at_once": TRIED_AT_ONCE,
        "days": LOG_DAYS,
    }


def _charts_variables(
    principal: Principal, webhook_id: str, filters: AttemptFilters
) -> dict[str, Any]:
    """Return the variables of the part with the charts."""
    return {
        "charts": charts_of(principal.account_id, webhook_id, filters.days),
        "periods": PERIODS,
    }


def _log_variables(
    principal: Principal, webhook_id: str, filters: AttemptFilters
) -> dict[str, Any]:
    """Return the variables of the part with the log."""
    listed = list_latest(principal.account_id, webhook_id, filters.query)
    return {
        "filters": filters,
        "listed": listed,
        "entries": listed.records,
        "looked_through": LOOKED_THROUGH,
        "most": ATTEMPTS,
        "days": LOG_DAYS,
    }

"""Sending past events to a webhook again."""

from __future__ import annotations

from typing import Final

from flask import Response, request

from app.auth.principal import Principal
from app.db.transactions import transaction
from app.pages.webhooks.event_groups import event_groups, subscription_words
from app.pages.webhooks.explanations import explain_attempt, failure_of
from app.pages.webhooks.replays.forms import ReplayDraft
from app.policy.deliveries import REPLAYED_PER_SECOND
from app.policy.request_limits import EVENT_DAYS
from app.site import formats
from app.site.forms import form_page
from app.site.pages import PageBlueprint, redirect_to
from app.site.signed_in import of_account
from app.webhooks.activity import read_overview
from app.webhooks.replays.service import EventSelection, count_replay, start_replay

bp = PageBlueprint("webhook_replays", __name__, section="/webhooks")

_PERIODS: Final = {1: "24 hours", 7: "7 days", EVENT_DAYS: f"{EVENT_DAYS} days"}
_PATH: Final = "/webhooks/<webhook_id>/replay"


@bp.get(_PATH, of_account("admin"))
def choose(principal: Principal, webhook_id: str) -> Response:
    """The form that selects events, and once it is sent, their number."""
    if "since" not in request.args:
        overview = read_overview(principal.account_id, webhook_id)
        only_failed = request.args.get("only_failed", "") == "true"
        days = request.args.get("days", EVENT_DAYS, type=int)
        days = days if days in _PERIODS else EVENT_DAYS
        draft = ReplayDraft.new(overview, days, only_failed=only_failed)
        selection = draft.selection() if only_failed else None
        return _replay_page(principal, webhook_id, draft, selection, days=days)
    draft = ReplayDraft.sent(request.args)
    return _replay_page(principal, webhook_id, draft, draft.selection())


@bp.post(_PATH, of_account("admin"))
def start(principal: Principal, webhook_id: str) -> Response:
    """Start sending the selected events."""
    draft = ReplayDraft.sent(request.form)
    selection = draft.selection()
    if selection is None:
        return _replay_page(principal, webhook_id, draft, None)
    number = 0
    with draft.refusals(), transaction():
        number = start_replay(principal, webhook_id, selection)["replayed"]
    if not number:
        return _replay_page(principal, webhook_id, draft, selection)
    events = formats.pluralize(number, "event is", "events are")
    return redirect_to(f"/webhooks/{webhook_id}", f"{events} on the way.")


def _replay_page(
    principal: Principal,
    webhook_id: str,
    draft: ReplayDraft,
    selection: EventSelection | None,
    days: int = 0,
) -> Response:
    overview = read_overview(principal.account_id, webhook_id)
    failure = failure_of(principal.account_id, overview)
    number = count_replay(principal, webhook_id, selection) if selection else None
    return form_page(
        "webhook_replays/replay.html",
        draft,
        webhook=overview,
        explanation=explain_attempt(failure) if failure else None,
        selection=selection,
        number=number,
        groups=event_groups(),
        subscription_words=subscription_words,
        kept_days=EVENT_DAYS,
        chosen_days=days,
        periods=_PERIODS,
        a_second=REPLAYED_PER_SECOND,
    )

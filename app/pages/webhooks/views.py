"""The list of webhooks, and the forms to create, edit and delete one."""

from __future__ import annotations

from typing import Any, Final

from flask import Response, request

from app.auth.principal import Principal
from app.db.transactions import transaction
from app.http.errors import PreconditionFailed
from app.pages.second_factor.step_up import ask_again
from app.pages.webhooks.event_groups import event_groups, subscription_words
from app.pages.webhooks.explanations import explain_attempt, failure_of
from app.pages.webhooks.forms import LIMITS, OVERLAPS, WebhookDraft
from app.policy.deliveries import ATTEMPTS, WEBHOOKS_PER_ACCOUNT
from app.site.forms import Unchanged, count_post, form_page
from app.site.pages import PageBlueprint, page, redirect_to
from app.site.sent_forms import check_not_sent_before, show_once
from app.site.signed_in import of_account
from app.webhooks.activity import list_overviews
from app.webhooks.service import (
    check_webhook,
    create_webhook,
    delete_webhook,
    read_webhook,
    rotate_secret,
    update_webhook,
)

bp = PageBlueprint("webhook_pages", __name__, section="/webhooks")

_ONE: Final = "/webhooks/<webhook_id>"


@bp.get("/webhooks", of_account("admin"))
def webhooks(principal: Principal) -> Response:
    """All webhooks with their health."""
    overviews = list_overviews(principal.account_id)
    failures = {row["id"]: failure_of(principal.account_id, row) for row in overviews}
    return page(
        "webhooks/webhooks.html",
        webhooks=overviews,
        reasons={
            key: explain_attempt(failure).what for key, failure in failures.items() if failure
        },
        most=WEBHOOKS_PER_ACCOUNT,
        tries=ATTEMPTS,
        subscription_words=subscription_words,
    )


@bp.get("/webhooks/new", of_account("admin"))
def new_webhook(_: Principal) -> Response:
    """A form for a new webhook."""
    return _webhook_form_page(WebhookDraft.new())


@bp.post("/webhooks/new", of_account("admin"))
def create(principal: Principal) -> Response:
    """Create a webhook, whose secret is shown once."""
    check_not_sent_before("rotate it")
    draft = WebhookDraft.sent(request.form)
    draft.read(is_new=True)
    if not draft.values:
        return _webhook_form_page(draft)
    ask_again()
    with draft.refusals(), transaction():
        created = create_webhook(principal, **draft.values)
    if draft.has_problem:
        return _webhook_form_page(draft)
    return _secret_page(created.record, created.secret)


@bp.get(f"{_ONE}/edit", of_account("admin"))
def edit_webhook(principal: Principal, webhook_id: str) -> Response:
    """A form to change a webhook."""
    record = read_webhook(principal.account_id, webhook_id)
    return _webhook_form_page(WebhookDraft.of(record), record)


@bp.post(f"{_ONE}/edit", of_account("admin"))
def save(principal: Principal, webhook_id: str) -> Response:
    """Change a webhook, unless it was changed since the page was loaded."""
    record = read_webhook(principal.account_id, webhook_id)
    draft = WebhookDraft.sent(request.form)
    draft.read(is_new=False)
    if not draft.values:
        return _webhook_form_page(draft, record)
    is_dangerous = draft.values["url"] != record["url"] or "secret" in draft.values
    if is_dangerous:
        ask_again()
    is_unchanged = Unchanged(updated_at=draft.texts["version"])
    with draft.refusals(), transaction():
        update_webhook(principal, webhook_id, draft.values, is_unchanged)
    if isinstance(draft.rejection, PreconditionFailed):
        record = read_webhook(principal.account_id, webhook_id)
        draft.compare(record)
    if draft.has_problem:
        return _webhook_form_page(draft, record)
    return redirect_to(f"/webhooks/{webhook_id}", "Webhook saved.")


@bp.post(f"{_ONE}/enable", of_account("admin"))
def enable(principal: Principal, webhook_id: str) -> Response:
    """Enable a webhook. Events are sent from now on."""
    with transaction():
        update_webhook(principal, webhook_id, {"enabled": True})
    return redirect_to(
        f"/webhooks/{webhook_id}",
        "Webhook enabled. What it missed is not sent by itself: use “Send again”.",
    )


@bp.post(f"{_ONE}/disable", of_account("admin"))
def disable(principal: Principal, webhook_id: str) -> Response:
    """Disable a webhook, and cancel its pending deliveries."""
    with transaction():
        update_webhook(principal, webhook_id, {"enabled": False})
    return redirect_to(f"/webhooks/{webhook_id}", "Webhook disabled. Nothing is sent to it.")


@bp.post(f"{_ONE}/delete", of_account("admin"))
def delete(principal: Principal, webhook_id: str) -> Response:
    """Delete a webhook."""
    with transaction():
        delete_webhook(principal, webhook_id)
    return redirect_to("/webhooks", "Webhook deleted.")


@bp.post(f"{_ONE}/rotate", of_account("admin"))
def rotate(principal: Principal, webhook_id: str) -> Response:
    """Give a webhook a new secret, which is shown once."""
    check_webhook(principal, webhook_id)
    check_not_sent_before("rotate it")
    count_post()
    typed = request.form.get("overlap_hours", "")
    hours = next((number for number in OVERLAPS if str(number) == typed), None)
    if hours is None:
        problem = "Nothing was done. Choose how long the former secret is valid."
        return redirect_to(f"/webhooks/{webhook_id}", problem)
    ask_again()
    with transaction():
        rotated = rotate_secret(principal, webhook_id, overlap_hours=hours)
    return _secret_page(rotated.record, rotated.secret, is_rotated=True)


def _webhook_form_page(draft: WebhookDraft, record: dict[str, Any] | None = None) -> Response:
    return form_page(
        "webhooks/form.html", draft, record=record, groups=event_groups(), limits=LIMITS
    )


def _secret_page(record: dict[str, Any], secret: str, **values: Any) -> Response:
    path = f"/webhooks/{record['id']}"
    return show_once(path, page("webhooks/secret.html", record=record, secret=secret, **values))

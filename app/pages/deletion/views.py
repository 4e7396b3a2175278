"""The pages that delete an account, and the signed-in person."""

from __future__ import annotations

from typing import Any

from flask import Response, request

from app.account.billing.service import has_subscription
from app.account.deletion.contents import count_contents, describe_contents
from app.account.deletion.schedule import cancel_deletion, schedule_deletion, scheduled_deletion
from app.account.lookup import read_account
from app.account.members.removal import solely_owned_accounts
from app.account.members.removal_preview import access_of
from app.auth.memberships import memberships_of
from app.auth.principal import Principal
from app.auth.sessions import SignedIn, switch_account
from app.db.transactions import transaction
from app.http.errors import Conflict, NotFound
from app.pages.second_factor.step_up import ask_again
from app.people.deletion import delete_person
from app.policy.deletion import DELETED_AFTER
from app.policy.permissions import OWNER
from app.site.form_fields import ConfirmationSchema
from app.site.forms import Draft, form_page, sent_draft
from app.site.pages import PageBlueprint, page, redirect_to
from app.site.signed_in import of_account, sign_out, signed_in
from app.values import clock

bp = PageBlueprint("deletion", __name__, section="/settings")
person_bp = PageBlueprint("deletion_of_person", __name__)


@bp.route("/settings/deletion", of_account("admin", owners_only=True), methods=["GET", "POST"])
def account_deletion(principal: Principal) -> Response:
    """Schedule the deletion of the account, or show how to cancel it."""
    draft = sent_draft(ConfirmationSchema(read_account(principal.account_id)["slug"]))
    if not draft.values:
        return _account_page(principal, draft)
    ask_again(password=True)
    try:
        with transaction():
            schedule_deletion(principal)
    except Conflict as error:  # as by the second of two clicks
        return redirect_to("/settings/deletion", error.message)
    return redirect_to("/settings/deletion", "The account is scheduled for deletion.")


@bp.post("/settings/deletion/cancel", of_account("admin", owners_only=True))
def cancel(principal: Principal) -> Response:
    """Cancel the deletion of the account."""
    try:
        with transaction():
            cancel_deletion(principal)
    except Conflict as error:
        return redirect_to("/settings/deletion", error.message)
    return redirect_to("/settings", "The account will not be deleted.")


@person_bp.route("/accounts/<slug>/deletion", signed_in, methods=["GET", "POST"])
def of_any_account(person: SignedIn, slug: str) -> Response:
    """Lead from the mail to the deletion of an account. Somebody who works in another account
    switches to it first, by a POST, as any site may link to this page."""
    account = next((row for row in memberships_of(person.user_id) if row.slug == slug), None)
    if account is None:
        raise NotFound("You do not belong to this account. It may also have been deleted.")
    if request.method == "POST":
        with transaction():
            switch_account(person.session_id, account.id)
    elif account.id != person.account_id or account.role != OWNER:
        scheduled = scheduled_deletion(account.id)
        is_due = scheduled is not None and scheduled.deletes_at <= clock.now()
        values = {"account": account, "scheduled": scheduled, "is_due": is_due}
        return page("deletion/switch.html", **values)
    return redirect_to("/settings/deletion")


@person_bp.route("/profile/deletion", signed_in, methods=["GET", "POST"])
def delete(person: SignedIn) -> Response:
    """Delete the signed-in person."""
    draft = sent_draft(ConfirmationSchema(person.email))
    if not draft.values:
        return _person_page(person, draft)
    ask_again(password=True)
    with draft.refusals(), transaction():
        delete_person(person.user_id)
    if draft.has_problem:
        return _person_page(person, draft)
    return sign_out(redirect_to("/login", "Your profile has been deleted. Goodbye."))


def _account_page(principal: Principal, draft: Draft) -> Response:
    account_id = principal.account_id
    return form_page(
        "deletion/account.html",
        draft,
        expected=read_account(account_id)["slug"],
        scheduled=scheduled_deletion(account_id),
        contents=describe_contents(count_contents(account_id)),
        life=DELETED_AFTER,
        has_subscription=has_subscription(account_id),
    )


def _person_page(person: SignedIn, draft: Draft) -> Response:
    accounts: list[Any] = [
        (row, access_of(row.id, person.user_id).lost_with(None))
        for row in memberships_of(person.user_id)
    ]
    alone = solely_owned_accounts(person.user_id)
    return form_page(
        "deletion/person.html", draft, expected=person.email, accounts=accounts, alone=alone
    )

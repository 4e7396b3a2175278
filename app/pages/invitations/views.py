"""The pages for accepting and declining invitations."""

from __future__ import annotations

from typing import Any, Final

from flask import Response, request

from app.account.members.invitations import accept_invitation, find_invitation
from app.account.members.own_invitations import (
    accept_own_invitation,
    decline_own_invitation,
    inviter_of,
    list_own_invitations,
)
from app.auth.sessions import SignedIn, switch_account
from app.db.extensions import db
from app.db.transactions import transaction
from app.people.service import set_first_password
from app.policy.people import INVITATION_LIFE
from app.site.form_fields import NameSchema, NewPassword
from app.site.forms import Draft, count_post, form_page, sent_draft
from app.site.pages import PageBlueprint, instance, page, redirect_to
from app.site.second_step import begin_sign_in
from app.site.signed_in import current_person, signed_in
from app.values.ids import is_id

bp = PageBlueprint("invitations", __name__)

_ENDED: Final = "That invitation has ended."


class JoinSchema(NameSchema):
    password = NewPassword("name")


@bp.route("/invitations/<token>", methods=["GET", "POST"])
def join(token: str) -> Any:
    """Join an account, signed in or as a new person who sets a password."""
    person, invitation = current_person(), find_invitation(token)
    if invitation is None:
        return _ended_invitation_page()
    if person is not None and person.user_id == invitation.user_id:
        if request.method == "GET":
            return form_page("invitations/join.html", Draft(), invitation=invitation)
        count_post()
        return _join_account(token, invitation, person.session_id)
    if person is not None or invitation.is_registered or not instance().password_sign_in:
        return page("invitations/sign_in_first.html", invitation=invitation, target=request.path)
    schema = JoinSchema()
    schema.guessable = (invitation.email, invitation.account_name)
    draft = sent_draft(schema)
    if not draft.values:
        values = {"invitation": invitation, "path": request.path}
        return form_page("invitations/join.html", draft, **values)
    return _join_new(token, invitation, **draft.values)


@bp.get("/invitations", signed_in)
def invitations(person: SignedIn) -> Response:
    """The invitations of a person whose address was verified."""
    rows = list_own_invitations(person.user_id) if person.is_verified else []
    inviters = {row.id: inviter_of(row.id, person.user_id) for row in rows}
    return page("invitations/invitations.html", invitations=rows, inviters=inviters)


@bp.post("/invitations", signed_in)
def accept(person: SignedIn) -> Response:
    """Accept an invitation."""
    account_id = _chosen_account(person)
    joined = accept_own_invitation(person.user_id, account_id) if account_id else None
    if joined is None:
        db.session.rollback()
        return redirect_to("/invitations", _ENDED)
    switch_account(person.session_id, joined.account_id)
    db.session.commit()
    return redirect_to("/projects", "You have joined the account.")


@bp.post("/invitations/decline", signed_in)
def decline(person: SignedIn) -> Response:
    """Decline an invitation."""
    account_id = _chosen_account(person)
    with transaction():
        declined = bool(account_id) and decline_own_invitation(person.user_id, account_id)
    return redirect_to("/invitations", "Invitation declined." if declined else _ENDED)


def _chosen_account(person: SignedIn) -> str:
    """Return the id of the account in the form; empty if it is invalid."""
    account_id = request.form.get("account_id", "")
    return account_id if person.is_verified and is_id("account", account_id) else ""


def _ended_invitation_page() -> Response:
    db.session.rollback()
    return page("invitations/dead_invitation.html", 404, life=INVITATION_LIFE)


def _join_account(token: str, invitation: Any, session_id: str) -> Response:
    joined = accept_invitation(token)
    if joined is None:
        return _ended_invitation_page()
    switch_account(session_id, joined.account_id)
    db.session.commit()
    return redirect_to("/projects", f"You have joined {invitation.account_name}.")


def _join_new(token: str, invitation: Any, *, name: str, password: str) -> Response:
    if not set_first_password(invitation.user_id, name, password):
        db.session.rollback()  # they have just set a password, and can sign in
        return redirect_to(request.path)
    joined = accept_invitation(token)  # after the name is set, which the event includes
    if joined is None:
        return _ended_invitation_page()
    message = f"Welcome. You have joined {invitation.account_name}."
    response = begin_sign_in("/projects", joined.user_id, joined.account_id, message)
    db.session.commit()
    return response

"""Who belongs to the account: inviting, changing roles, removing."""

from __future__ import annotations

import math
from typing import Any, Final

from flask import Response, g, request

from app.account.members.allowed_actions import allowed_actions
from app.account.members.invitation_status import invitation_statuses
from app.account.members.invitations import invite_member
from app.account.members.removal_preview import access_of
from app.account.members.schemas import InvitationSchema
from app.account.members.service import change_role, list_members, read_member, remove_member
from app.auth.principal import Principal
from app.db.transactions import transaction
from app.http.errors import (
    ApiError,
    Conflict,
    Forbidden,
    NotFound,
    PreconditionFailed,
    ValidationFailed,
)
from app.limits.plan_file import plan_of
from app.pages.members.words import (
    ROLE_TABLE,
    ROLE_WORDS,
    conflict_words,
    lost_access_words,
    mail_words,
)
from app.pages.recent_changes import last_change
from app.pages.second_factor.step_up import ask_again
from app.people.second_factor.requirement import members_with_second_factor
from app.people.second_factor.reset import reset_member, reset_problem
from app.policy.permissions import OWNER, ROLES
from app.site.forms import Draft, Unchanged, count_post, form_page, sent_draft
from app.site.pages import PageBlueprint, instance, page, redirect_to
from app.site.signed_in import of_account
from app.values.folding import fold_text

bp = PageBlueprint("member_pages", __name__, section="/members")

_ONE: Final = "/members/<member_id>"
PER_PAGE: Final = 100  # invited people come first
_POWERFUL: Final = (OWNER, "admin")  # roles that can create keys for everything


@bp.get("/members", of_account("members:read"))
def members(principal: Principal) -> Response:
    """The members of the account, and those who are invited."""
    return _members_page(principal, _new_invitation())


@bp.post("/members/invite", of_account("members:write"))
def invite(principal: Principal) -> Response:
    """Invite somebody by email, or send the invitation again."""
    draft = sent_draft(InvitationSchema())
    if not draft.values:
        return _members_page(principal, draft)
    if draft.values["role"] in _POWERFUL:
        ask_again()
    try:
        with transaction():
            invite_member(principal, **draft.values)
    except (Conflict, Forbidden, ValidationFailed) as error:
        draft.errors["email"] = [_error_message(error)]
        return _members_page(principal, draft)
    return redirect_to("/members", _mailed_words("An invitation", draft.values["email"]))


@bp.get(_ONE, of_account("members:write"))
def member(principal: Principal, member_id: str) -> Response:
    """A member: their role, their access, and what a change would end."""
    return _member_page(principal, member_id)


@bp.post(f"{_ONE}/role", of_account("members:write"))
def set_role(principal: Principal, member_id: str) -> Response:
    """Change a role, unless somebody else has changed the member since the page was loaded."""
    before, role = read_member(principal.account_id, member_id), request.form.get("role", "")
    if role not in ROLES:
        return _member_page(principal, member_id, 422, "Choose a role.")
    is_powerful = role in _POWERFUL or before["role"] == OWNER
    if is_powerful:
        ask_again()
    try:
        with transaction():
            change_role(principal, member_id, role, _unchanged_member())
    except (Conflict, Forbidden, PreconditionFailed) as error:
        return _rejected_page(principal, member_id, error)
    message = f"The role of {before['name']} is {role} now."
    return redirect_to("/members", message if role != before["role"] else "Nothing was changed.")


@bp.post(f"{_ONE}/invite", of_account("members:write"))
def invite_again(principal: Principal, member_id: str) -> Response:
    """Email the invitation again, with a new link. The former link becomes invalid."""
    count_post()
    invited = read_member(principal.account_id, member_id)
    if invited["role"] in _POWERFUL:
        ask_again()
    try:
        with transaction():
            invite_member(principal, email=invited["email"], role=invited["role"])
    except (Conflict, Forbidden) as error:
        return _members_page(principal, _new_invitation(), error.status, _error_message(error))
    return redirect_to("/members", _mailed_words("A new invitation", invited["email"]))


@bp.post(f"{_ONE}/second-factor/reset", of_account("members:write"))
def reset_second_factor(principal: Principal, member_id: str) -> Response:
    """Reset the second factor of a member who has lost it; for owners."""
    read_member(principal.account_id, member_id)
    ask_again()
    try:
        with transaction():
            name = reset_member(principal, member_id)
    except (Conflict, Forbidden) as error:
        return _member_page(principal, member_id, error.status, error.message)
    return redirect_to(
        f"/members/{member_id}", f"The second factor of {name} is reset. They were told by email."
    )


@bp.post(f"{_ONE}/remove", of_account("members:write"))
def remove(principal: Principal, member_id: str) -> Response:
    """Remove a member, or withdraw an invitation, unless they have joined or changed since."""
    before = read_member(principal.account_id, member_id)
    if before["role"] == OWNER:
        ask_again()
    try:
        with transaction():
            remove_member(principal, member_id, _unchanged_member())
    except (Conflict, Forbidden, PreconditionFailed) as error:
        return _rejected_page(principal, member_id, error)
    if before["joined_at"] is None:
        return redirect_to("/members", f"The invitation of {before['email']} is withdrawn.")
    return redirect_to("/members", f"{before['name']} is removed and no longer has access.")


@bp.errorhandler(NotFound)
def not_a_member(_: NotFound) -> Response:
    """The list, instead of the page of somebody who is no member, or no longer."""
    problem = "This person does not belong to the account, or no longer does. Nothing was changed."
    return _members_page(g.principal, _new_invitation(), 404, problem)


def _unchanged_member() -> Unchanged:
    """Return the precondition that role and membership are as the page showed them."""
    role, joined_at = request.form.get("was_role"), request.form.get("was_joined_at")
    return Unchanged(role=role, joined_at=joined_at or None)


def _rejected_page(principal: Principal, member_id: str, error: ApiError) -> Response:
    """Return the page of the saved member, with the reason why nothing was changed."""
    if not isinstance(error, PreconditionFailed):
        return _member_page(principal, member_id, error.status, error.message)
    saved = read_member(principal.account_id, member_id)
    change = last_change(principal.account_id, member_id, "member.updated")
    problem = conflict_words(saved, change, bool(request.form.get("was_joined_at")))
    return _member_page(principal, member_id, error.status, problem)


def _new_invitation() -> Draft:
    return Draft({"role": "viewer"})


def _error_message(error: ApiError) -> str:
    """Return the message of an error, or of its details if it is about a field."""
    is_field = any(detail.field in ("email", "role") for detail in error.details)
    return " ".join(detail.message for detail in error.details) if is_field else error.message


def _member_page(
    principal: Principal, member_id: str, status: int = 200, problem: str = ""
) -> Response:
    record = read_member(principal.account_id, member_id)
    own = read_member(principal.account_id, str(principal.user_id))
    access = access_of(principal.account_id, member_id)
    invited = invitation_statuses(principal.account_id).get(member_id)
    ranks = list(ROLES)
    lower = ranks[: ranks.index(record["role"])]
    return page(
        "members/member.html",
        status,
        member=record,
        invited=invited,
        mail=mail_words(invited, is_held=instance().is_outbound_off),
        is_self=member_id == principal.user_id,
        allowed=allowed_actions(principal, own["role"], record),
        words=ROLE_WORDS,
        ends={role: lost_access_words(access.lost_with(role)) for role in lower},
        removal=lost_access_words(access.lost_with(None)),
        problem=problem,
        **_second_factor(principal, own["role"], member_id),
    )


def _second_factor(principal: Principal, own_role: str, member_id: str) -> dict[str, Any]:
    """Return variables about a member's second factor, and whether the viewer may reset it."""
    has_one = member_id in members_with_second_factor(principal.account_id)
    may_reset = has_one and own_role == OWNER and member_id != principal.user_id
    return {
        "has_second_factor": has_one,
        "may_reset": may_reset,
        "reset_problem": reset_problem(principal.user_id, member_id) if may_reset else None,
    }


def _mailed_words(invitation: str, email: str) -> str:
    if instance().sends_mail:
        return f"{invitation} is on its way to {email}."
    return f"{email} is invited, but this instance does not send email."


def _members_page(
    principal: Principal, draft: Draft, status: int | None = None, problem: str = ""
) -> Response:
    members = list_members(principal.account_id)
    members.sort(key=lambda member: (member["joined_at"] is not None, fold_text(member["name"])))
    invited, is_held = invitation_statuses(principal.account_id), instance().is_outbound_off
    pages = math.ceil(len(members) / PER_PAGE)
    number = min(max(request.args.get("page", 1, int), 1), pages)
    listed = members[(number - 1) * PER_PAGE : number * PER_PAGE]
    values: dict[str, Any] = {
        "people": [member for member in listed if member["joined_at"]],
        "invited": [
            (member, it := invited.get(member["id"]), mail_words(it, is_held=is_held))
            for member in listed
            if not member["joined_at"]
        ],
        "number": number,
        "pages": pages,
        "taken": len(members),
        "taken_by_invited": len(invited),
        "seats": plan_of(principal.plan).members,
        "plan": principal.plan,
        "roles": list(ROLES),
        "words": ROLE_WORDS,
        "table": ROLE_TABLE,
        "problem": problem,
    }
    if principal.may("members:write"):
        values["having_second_factor"] = members_with_second_factor(principal.account_id)
    return form_page("members/members.html", draft, status, **values)

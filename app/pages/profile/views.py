"""Pages for the signed-in person: profile, sessions and accounts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from flask import Response, request
from sqlalchemy.exc import IntegrityError

from app.account.members.service import remove_member
from app.auth.memberships import memberships_of
from app.auth.sessions import SignedIn, list_sessions, principal_of, switch_account
from app.db.transactions import transaction
from app.http.errors import Conflict, NotFound
from app.pages.profile.forms import FormatsSchema, PasswordSchema, locales, time_zones
from app.pages.second_factor.step_up import ask_again, asks_for_factor
from app.people import passwords, service
from app.people.single_sign_on.identities import list_identities
from app.policy.people import TRIES
from app.security.passwords import hash_password
from app.site.browsers import browser_name
from app.site.form_fields import AccountSchema, NameSchema
from app.site.forms import Draft, count_post, form_page, sent_draft
from app.site.pages import PageBlueprint, instance, redirect_to
from app.site.signed_in import sign_in, sign_out, signed_in, with_passwords
from app.values import clock

bp = PageBlueprint("profile", __name__)


@bp.get("/profile", signed_in)
def profile(person: SignedIn) -> Response:
    """Name, address, times, password, sessions."""
    return _profile_page(person)


@bp.post("/profile/name", signed_in)
def change_name(person: SignedIn) -> Response:
    """Change the person's name."""
    draft = sent_draft(NameSchema())
    if not draft.values:
        return _profile_page(person, name_draft=draft)
    with transaction():
        service.rename_person(person.user_id, draft.values["name"])
    return redirect_to("/profile", "Name saved.")


@bp.post("/profile/times", signed_in)
def change_formats(person: SignedIn) -> Response:
    """Choose how numbers and dates are written, the unit of areas and the time zone."""
    draft = sent_draft(FormatsSchema())
    if not draft.values:
        return _profile_page(person, formats_draft=draft)
    with transaction():
        service.set_formats(person.user_id, **draft.values)
    return redirect_to("/profile", "Numbers and dates are shown this way now.")


@bp.post("/profile/password")
@with_passwords
@signed_in
def change_password(person: SignedIn) -> Response:
    """Change the password; all other sessions end.

    This session is replaced, so people give their second factor first: a stolen session would never
    end. They enter the passwords afterwards, as no page carries passwords along.
    """
    ask_again()
    if "new_password" not in request.form:
        return redirect_to("/profile", "Now enter your current password and a new one.")
    schema = PasswordSchema()
    schema.guessable = (person.name, person.email)
    draft = sent_draft(schema)
    if draft.values:
        with draft.refusals(), transaction():
            attempt = passwords.count_own_attempt(person.user_id)
    if draft.values:
        hashed = hash_password(draft.values["new_password"])
        if passwords.check_password(attempt, draft.values["password"]):
            return _set_password(person, hashed)
        draft.errors["password"] = ["That is not your current password."]
    return _profile_page(person, password_draft=draft)


@bp.post("/profile/verify-email", signed_in)
def send_verification(person: SignedIn) -> Response:
    """Email a link that verifies the address."""
    count_post()
    if not person.is_verified:
        with transaction():
            service.send_verification(person.user_id, person.email, person.name)
    return redirect_to("/profile", _mail_notice(person))


@bp.post("/profile/sessions/<session_id>/end", signed_in)
def end_session_by_id(person: SignedIn, session_id: str) -> Response:
    """End one session."""
    with transaction():
        ended = service.end_session_by_id(person, session_id)
    if not ended:
        return redirect_to("/profile", "That browser was already signed out.")
    if session_id == person.session_id:
        return sign_out(redirect_to("/login", "You are signed out."))
    return redirect_to("/profile", "That browser is signed out.")


@bp.post("/profile/sessions/end-others", signed_in)
def end_other_sessions(person: SignedIn) -> Response:
    """End all other sessions."""
    with transaction():
        service.end_other_sessions(person)
    return redirect_to("/profile", "You are signed out everywhere else.")


@bp.get("/accounts", signed_in)
def accounts(person: SignedIn) -> Response:
    """The person's accounts, and the current one."""
    return _accounts_page(person, Draft())


@bp.post("/accounts", signed_in)
def open_account(person: SignedIn) -> Response:
    """Create another account."""
    draft = sent_draft(AccountSchema())
    if not draft.values:
        return _accounts_page(person, draft)
    name, slug = draft.values["account_name"], draft.values["account_slug"] or None
    for _ in range(TRIES):
        try:
            with transaction():
                account_id = service.open_own_account(person.user_id, name, slug)
                switch_account(person.session_id, account_id)
        except IntegrityError:  # the slug has just been taken
            continue
        return redirect_to("/accounts", f"Account {name} created.")
    raise Conflict(
        "changed_meanwhile",
        "account_slug",
        "Others have just created accounts with this name. Please try again.",
    )


@bp.post("/accounts/switch", signed_in)
def switch(person: SignedIn) -> Response:
    """Switch to another account."""
    account, _ = _chosen_account(person)
    with transaction():
        switch_account(person.session_id, account.id)
    return redirect_to("/accounts", f"Switched to {account.name}.")


@bp.post("/accounts/leave", signed_in)
def leave(person: SignedIn) -> Response:
    """Leave an account."""
    account, others = _chosen_account(person)
    # People without a second factor may leave an account that requires one, and nothing else.
    member = replace(
        person,
        account_id=account.id,
        account_name=account.name,
        role=account.role,
        second_factor_due_at=None,
    )
    with transaction():
        if person.account_id == account.id:  # keep this session, in another account
            switch_account(person.session_id, others[0].id if others else None)
        remove_member(principal_of(member), person.user_id)
    return redirect_to("/accounts", f"You have left {account.name}.")


def _chosen_account(person: SignedIn) -> tuple[Any, list[Any]]:
    """Return (the account that the form names, the person's other accounts). Raises NotFound."""
    account_id = request.form.get("account_id", "")
    accounts = memberships_of(person.user_id)
    account = next((row for row in accounts if row.id == account_id), None)
    if account is None:
        raise NotFound("You do not belong to this account.")
    return account, [row for row in accounts if row.id != account_id]


def _mail_notice(person: SignedIn) -> str:
    if instance().sends_mail:
        return f"We are sending a link to {person.email}."
    return "This instance does not send email. Ask whoever runs this instance to help you."


def _set_password(person: SignedIn, hashed: str) -> Response:
    response = redirect_to("/profile", "Password changed. You are signed out everywhere else.")
    with transaction():
        service.set_password(person.user_id, hashed, address=request.remote_addr or "")
        has_confirmed = not person.has_second_factor
        sign_in(response, person.user_id, person.account_id, confirmed=has_confirmed)
    return response


def _profile_page(person: SignedIn, **rejected: Draft) -> Response:
    """Return the page with all forms, one of which may have been rejected."""
    chosen = {name: getattr(person, name) or "" for name in ("locale", "area_unit", "time_zone")}
    sessions = [(row, browser_name(row.browser)) for row in list_sessions(person.user_id)]
    values: dict[str, Any] = {
        "name_draft": Draft({"name": person.name}),
        "formats_draft": Draft(chosen),
        "password_draft": Draft(),
        "sessions": sessions,
        "time_zones": time_zones(),
        "locales": locales(),
        "now": clock.now(),
        "has_password": service.find_contact(person.user_id).has_password,
        "asks_for_factor": asks_for_factor(person),
        "identities": list_identities(person.user_id) if instance().single_sign_on else [],
    }
    draft = next(iter(rejected.values()), Draft())
    return form_page("profile/profile.html", draft, **values | rejected)


def _accounts_page(person: SignedIn, draft: Draft) -> Response:
    problem = service.own_account_problem(person.user_id)
    accounts = memberships_of(person.user_id)
    return form_page("profile/accounts.html", draft, accounts=accounts, problem=problem)

"""Pages of the second factor: the second step of signing in, and a person's own settings."""

from __future__ import annotations

from typing import Any, Final

from flask import Response, request
from marshmallow import fields
from sqlalchemy.exc import NoResultFound

from app.auth.memberships import memberships_of
from app.auth.pending_sign_ins import claim_pending
from app.auth.sessions import SignedIn, confirm_session
from app.db.extensions import db
from app.db.transactions import transaction
from app.http.errors import Conflict, RateLimited
from app.pages.second_factor.prompt import factor_draft, submitted_factor, ways_of
from app.pages.second_factor.step_up import ask_again
from app.people.second_factor import changes, totp
from app.people.second_factor.authenticators import (
    AuthenticatorSetup,
    authenticator_since,
    new_setup,
    read_setup,
)
from app.people.second_factor.challenges import Purpose
from app.people.second_factor.checking import (
    RECOVERY_CODE,
    Factor,
    check_factor,
    count_sign_in_check,
    refuse_factor,
)
from app.people.second_factor.passkeys import list_passkeys, registration_options
from app.people.second_factor.recovery_codes import codes_left_now, recovery_codes_left
from app.people.second_factor.relying_party import BadResponse, is_possible
from app.people.service import write_sign_in_entry
from app.policy.second_factor import PASSKEY_NAME_LENGTH
from app.site.form_fields import FormSchema
from app.site.forms import Draft, count_post, form_page, sent_draft
from app.site.pages import PageBlueprint, instance, omit_form_action, page, redirect_to
from app.site.second_step import SECOND_STEP, end_second_step, pending_sign_in
from app.site.sent_forms import check_not_sent_before, show_once
from app.site.signed_in import known_browser, sign_in, signed_in, with_person
from app.values.schemas import Line

bp = PageBlueprint("second_factor", __name__)

_OWN: Final = "/profile/second-factor"
_CODES_AGAIN: Final = "make new ones"


class AuthenticatorSchema(FormSchema):
    code = fields.String(required=True)


class PasskeySchema(FormSchema):
    name = Line(shortest=1, longest=PASSKEY_NAME_LENGTH, required=True)
    response = fields.String(load_default="")


@bp.route(SECOND_STEP, with_person, methods=["GET", "POST"])
def second_step() -> Response:
    """The second step of signing in, after the right password."""
    pending = pending_sign_in()
    if pending is None:
        return _begin_again()
    omit_form_action(pending.target)
    factor = submitted_factor()
    if factor is None or not factor.value:
        return _second_step(pending, wrong=factor)
    try:
        count_post()
        with transaction():
            keys = count_sign_in_check(pending.user_id, factor, known_browser())
    except RateLimited as error:
        return _second_step(pending, rejection=error)
    try:
        return _finish_sign_in(pending, factor, keys)
    except NoResultFound:  # the person has just been deleted
        db.session.rollback()
        return _begin_again()


def _finish_sign_in(pending: Any, factor: Factor, keys: tuple[str, ...]) -> Response:
    """Sign in if the factor is right. The factor, the pending sign-in and the session change in one
    transaction."""
    if not check_factor(_purpose_of(pending), factor, keys, request.remote_addr or ""):
        db.session.rollback()
        with transaction():
            refuse_factor(pending.user_id, pending.email, keys, request.remote_addr or "")
        return _second_step(pending, wrong=factor)
    claimed = claim_pending(pending.token_hash)
    if claimed is None:
        db.session.rollback()
        return _begin_again()
    accounts = [row.id for row in memberships_of(claimed.user_id)]
    account_id: str | None = claimed.current_account_id
    if account_id not in accounts:
        account_id = next(iter(accounts), None)
    write_sign_in_entry(claimed.user_id)
    response = redirect_to(claimed.target, _codes_left(claimed.user_id, factor))
    sign_in(response, claimed.user_id, account_id, confirmed=True)
    end_second_step(response)
    db.session.commit()
    return response


def _second_step(pending: Any, **problem: Any) -> Response:
    ways = ways_of(_purpose_of(pending))
    return form_page(
        "second_factor/sign_in.html", factor_draft(**problem), email=pending.email, **ways
    )


def _codes_left(user_id: str, factor: Factor) -> str:
    """Return the message after a recovery code was used; empty for other factors."""
    if factor.kind != RECOVERY_CODE:
        return ""
    left = codes_left_now(user_id)
    return f"You have used a recovery code; {left} {'is' if left == 1 else 'are'} left."


def _purpose_of(pending: Any) -> Purpose:
    return Purpose("sign in", pending.user_id, pending.token_hash)


def _begin_again() -> Response:
    response = redirect_to("/login", "This sign-in has expired or ended. Sign in again.")
    end_second_step(response)
    return response


@bp.get(_OWN, signed_in)
def own_page(person: SignedIn) -> Response:
    """The person's own second factor, and how to turn it on."""
    return _own_page(person)


@bp.post(f"{_OWN}/authenticator", signed_in)
def new_authenticator(person: SignedIn) -> Response:
    """Show a new secret for an authenticator app."""
    ask_again(password=True)
    return _setup_page(person, Draft(), new_setup(person.user_id))


@bp.post(f"{_OWN}/authenticator/confirm", signed_in)
def confirm_authenticator(person: SignedIn) -> Response:
    """Turn on an authenticator app with its first code."""
    check_not_sent_before(_CODES_AGAIN)
    setup = read_setup(person.user_id, request.form.get("setup", ""))
    if setup is None:
        return redirect_to(_OWN, "This took too long. Please start again.")
    draft = sent_draft(AuthenticatorSchema())
    if not draft.values:
        return _setup_page(person, draft, setup)
    ask_again(password=True)
    try:
        with transaction():
            codes = changes.turn_on_authenticator(
                person.user_id,
                setup.secret,
                draft.values["code"].strip(),
                first=not person.has_second_factor,
                address=request.remote_addr or "",
            )
            if codes is not None:
                confirm_session(person.session_id)
    except Conflict as error:
        return redirect_to(_OWN, error.message)
    if codes is None:
        draft.errors["code"] = [
            "Wrong code. Wait for the next one and try again. If it keeps failing, check your "
            "phone’s clock."
        ]
        return _setup_page(person, draft, setup)
    return _codes_page(codes, "Your authenticator app works.")


@bp.post(f"{_OWN}/authenticator/remove", signed_in)
def remove_authenticator(person: SignedIn) -> Response:
    """Remove the authenticator app."""
    ask_again()
    with transaction():
        removed = changes.remove_authenticator(person.user_id, address=request.remote_addr or "")
    return redirect_to(_OWN, "App removed." if removed else "The app was already removed.")


@bp.post(f"{_OWN}/passkeys/new", signed_in)
def new_passkey(person: SignedIn) -> Response:
    """Ask the browser to make a passkey."""
    ask_again(password=True)
    return _passkey_page(person, Draft())


@bp.post(f"{_OWN}/passkeys", signed_in)
def add_passkey(person: SignedIn) -> Response:
    """Store the passkey that the browser has made."""
    check_not_sent_before(_CODES_AGAIN)
    draft = sent_draft(PasskeySchema())
    if not draft.values:
        return _passkey_page(person, draft)
    ask_again(password=True)
    try:
        with transaction():
            codes = changes.turn_on_passkey(
                _registration_purpose(person),
                draft.values["name"],
                draft.values["response"],
                first=not person.has_second_factor,
                address=request.remote_addr or "",
            )
            confirm_session(person.session_id)
    except BadResponse:
        draft.errors["name"] = [
            "Your browser created no passkey, or took too long. Please try again."
        ]
        return _passkey_page(person, draft)
    except Conflict as error:
        draft.show(error)
        return _passkey_page(person, draft)
    return _codes_page(codes, f"Passkey “{draft.values['name']}” added.")


@bp.post(f"{_OWN}/passkeys/<passkey_id>/remove", signed_in)
def remove_passkey(person: SignedIn, passkey_id: str) -> Response:
    """Remove a passkey."""
    ask_again()
    with transaction():
        name = changes.remove_passkey(person.user_id, passkey_id, address=request.remote_addr or "")
    return redirect_to(_OWN, f"Passkey “{name}” removed." if name else "It was already removed.")


@bp.post(f"{_OWN}/recovery-codes", signed_in)
def new_recovery_codes(person: SignedIn) -> Response:
    """Make new recovery codes, and show them once."""
    check_not_sent_before(_CODES_AGAIN)
    count_post()
    ask_again()
    try:
        with transaction():
            codes = changes.new_recovery_codes(person.user_id, address=request.remote_addr or "")
    except Conflict as error:
        return redirect_to(_OWN, error.message)
    return _codes_page(codes)


@bp.post(f"{_OWN}/off", signed_in)
def turn_off(person: SignedIn) -> Response:
    """Turn the second factor off."""
    ask_again()
    with transaction():
        was_on = changes.turn_off(person.user_id, address=request.remote_addr or "")
    return redirect_to(_OWN, "Your second factor is off." if was_on else "It was already off.")


def _codes_page(codes: list[str], done: str = "") -> Response:
    """Show new recovery codes, or the message ``done`` if there are none as it is not the first
    factor."""
    if not codes:
        return redirect_to(_OWN, done)
    return show_once(_OWN, page("second_factor/recovery_codes.html", codes=codes, done=done))


def _registration_purpose(person: SignedIn) -> Purpose:
    return Purpose("register", person.user_id, person.session_id)


def _own_page(person: SignedIn) -> Response:
    return page(
        "second_factor/own.html",
        since=authenticator_since(person.user_id),
        passkeys=list_passkeys(person.user_id),
        codes_left=recovery_codes_left(person.user_id),
        are_passkeys_possible=is_possible(),
    )


def _setup_page(person: SignedIn, draft: Draft, setup: AuthenticatorSetup) -> Response:
    return form_page(
        "second_factor/authenticator.html",
        draft,
        picture=totp.qr_code_url(setup.secret, person.email, instance().name),
        typed=totp.readable_key(setup.secret),
        setup=setup.sealed,
    )


def _passkey_page(person: SignedIn, draft: Draft) -> Response:
    options = registration_options(_registration_purpose(person), person.email, instance().name)
    return form_page(
        "second_factor/passkey.html", draft, options=options, longest=PASSKEY_NAME_LENGTH
    )

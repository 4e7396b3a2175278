"""Pages for signing in at the provider, and for consenting to what comes of it."""

from __future__ import annotations

import hmac
import logging
from typing import Any, Final

from flask import Response, abort, request
from marshmallow import fields
from sqlalchemy.exc import IntegrityError, NoResultFound

from app.auth.memberships import memberships_of
from app.auth.sessions import SignedIn
from app.db.transactions import transaction
from app.limits.counting import count_single_sign_on
from app.pages.second_factor.step_up import ask_again
from app.people.auditing import write_refused_sign_in
from app.people.passwords import check_password, count_sign_in_attempt
from app.people.service import find_contact, write_sign_in_entry
from app.people.sign_up import is_open
from app.people.single_sign_on import admission, attempts, service
from app.people.single_sign_on.admission import would_bypass_second_factor
from app.people.single_sign_on.interface import ProviderFailed, SignInRefused
from app.policy.people import TRIES
from app.policy.single_sign_on import ATTEMPT_LIFE, CONSENT_LIFE, RETRY_SECONDS
from app.security import tokens
from app.site.cookies import ATTEMPT, read_cookie, set_cookie
from app.site.form_fields import AccountSchema, FormSchema, NameSchema
from app.site.forms import Draft, count_post, form_page, sent_draft
from app.site.pages import PageBlueprint, instance, local_path, omit_form_action, page, redirect_to
from app.site.second_step import has_second_step
from app.site.signed_in import current_person, known_browser, sign_in, signed_in, with_person

_CONSENT: Final = "/login/single-sign-on"
_STATUSES: Final = {"stale": 400, "other_browser": 404, "failed": 503, "linked_elsewhere": 409}

_log = logging.getLogger(__name__)
bp = PageBlueprint("single_sign_on", __name__)


class NewPersonSchema(NameSchema, AccountSchema):
    """A person and their first account."""


class LinkSchema(FormSchema):
    password = fields.String(required=True)


@bp.get("/login/single-sign-on", with_person)
def begin() -> Response:
    """Send the browser to the provider."""
    target = local_path(request.args.get("next"))
    if current_person() is not None:
        return redirect_to(target)
    return _go_to_provider(target, None)


@bp.get("/profile/sign-ins/link", signed_in)
def begin_linking(person: SignedIn) -> Response:
    """Send the browser to the provider, to link an identity there to the signed-in person."""
    return _go_to_provider("/profile", person.user_id)


@bp.get("/login/single-sign-on/callback", with_person)
def callback() -> Response:
    """Continue where the provider sends the browser back to."""
    token = read_cookie(ATTEMPT)
    if not attempts.is_return(token, request.args.get("state", "")):
        return _refused_page("stale")
    with transaction():
        attempt = attempts.claim_return(token)
    if attempt is None:
        return _refused_page("stale")
    if error := request.args.get("error"):
        _log.warning("the provider of single sign-on reports %r", error[:100])
        return _refuse_and_audit("denied" if error == "access_denied" else "failed")
    try:
        return _resolve_attempt(token, attempt)
    except ProviderFailed as failure:
        _log.warning("single sign-on failed: %s", failure)
        return _refuse_and_audit("failed")
    except SignInRefused as refusal:
        if refusal.fault:
            _log.warning("single sign-on refused somebody: %s", refusal.fault)
        return _refuse_and_audit(refusal.reason, refusal.email, refusal.user_id, refusal.fault)


@bp.route("/login/single-sign-on/new", with_person, methods=["GET", "POST"])
def new() -> Response:
    """Sign up with an identity, with a new account or by an invitation."""
    token = read_cookie(ATTEMPT)
    attempt = attempts.find_waiting(token)
    if attempt is None or attempt.user_id is not None:
        return _refused_page("stale")
    invitations = admission.invitations_of(attempt.email)
    if not invitations and not is_open():
        return _refused_page("no_sign_up", attempt.email)
    draft = sent_draft(NameSchema() if invitations else NewPersonSchema())
    if draft.values:
        return _sign_up(token, attempt, **draft.values)
    if request.method == "GET":
        draft.texts["name"] = attempt.name
    omit_form_action(attempt.target)
    return form_page("single_sign_on/new.html", draft, attempt=attempt, invitations=invitations)


@bp.route("/login/single-sign-on/link", with_person, methods=["GET", "POST"])
def link() -> Response:
    """Link the identity to the person who has its address, or who asked for it."""
    token = read_cookie(ATTEMPT)
    attempt = attempts.find_waiting(token)
    owner = _owner_to_link(attempt)
    omit_form_action(attempt.target)
    if owner.has_second_factor:
        ask_again()
    uses_password = owner.has_password and instance().password_sign_in
    is_answer = uses_password and "password" in request.form
    draft = sent_draft(LinkSchema()) if is_answer else Draft()
    if draft.values and _is_password_of(owner, draft):
        return _link_identity(token, attempt, owner)
    values = {"attempt": attempt, "owner": owner, "uses_password": uses_password}
    return form_page("single_sign_on/link.html", draft, **values)


@bp.post("/login/single-sign-on/mail", with_person)
def mail_link() -> Response:
    """Email the link that proves that the address is theirs."""
    token = read_cookie(ATTEMPT)
    owner = _owner_to_link(attempts.find_waiting(token))
    count_post()
    with transaction():
        service.mail_link(token, owner)
    return page("sign_in/mailed.html", email=owner.email, kind="link", life=CONSENT_LIFE)


@bp.route("/login/single-sign-on/link/<token>", with_person, methods=["GET", "POST"])
def mailed_link(token: str) -> Response:
    """Consent with the emailed link, in the browser that requested it.

    Only a POST consents, as some programs open links in emails.
    """
    own = read_cookie(ATTEMPT)
    attempt = attempts.find_waiting(own)
    link_hash = (attempt and attempt.link_hash) or ""
    is_link = tokens.is_well_formed(token, tokens.LINK)
    if not (is_link and hmac.compare_digest(tokens.hash_token(token), link_hash)):
        return _refused_page("other_browser")
    owner = _owner_to_link(attempt)
    omit_form_action(attempt.target)
    if request.method == "POST":
        count_post()
        if owner.has_second_factor:
            ask_again()
        return _link_identity(own, attempt, owner)
    return page("single_sign_on/mailed_link.html", attempt=attempt, owner=owner)


@bp.post("/profile/sign-ins/<identity_id>/unlink", signed_in)
def unlink(person: SignedIn, identity_id: str) -> Response:
    """Unlink an identity; all other sessions end."""
    has_password = find_contact(person.user_id).has_password
    try:
        with transaction():
            was_linked = service.unlink_identity(person, identity_id, has_password=has_password)
    except LookupError:
        message = "This is your only way to sign in. Set a password first."
        return redirect_to("/profile", message)
    if not was_linked:
        return redirect_to("/profile", "That sign-in was already unlinked.")
    return redirect_to("/profile", "Unlinked. You are signed out everywhere else.")


@bp.errorhandler(NoResultFound)
def begin_again(_: NoResultFound) -> Response:
    """The person of an attempt has just been deleted."""
    return _refused_page("stale")


def _owner_to_link(attempt: Any) -> Any:
    """Return the person whom an attempt is to be linked to. Ends the request if there is none, or
    the link would go around their second factor."""
    if attempt is None or attempt.user_id is None:
        abort(_refused_page("stale"))
    owner = find_contact(attempt.user_id)
    if would_bypass_second_factor(owner):
        abort(_refused_page("second_factor", owner.email))
    return owner


def _is_password_of(owner: Any, draft: Draft) -> bool:
    """True if the form has the password of a person. Otherwise, add the reason to it."""
    with draft.refusals(), transaction():
        attempt = count_sign_in_attempt(owner.email, known_browser())
    if draft.has_problem:
        return False
    if check_password(attempt, draft.values["password"]) and attempt.user_id == owner.id:
        return True
    with transaction():
        write_refused_sign_in(owner.id, owner.email)
    draft.errors["password"] = ["Wrong password."]
    return False


def _go_to_provider(target: str, user_id: str | None) -> Response:
    count_single_sign_on()
    token = tokens.new_token(tokens.SIGN_IN)
    try:
        address = service.identity_provider().authorization_url(attempts.secrets_of(token))
    except ProviderFailed as failure:
        _log.warning("single sign-on cannot begin: %s", failure)
        return _refused_page("failed")
    with transaction():
        attempts.begin_attempt(token, target, user_id)
    response = redirect_to(address)
    set_cookie(response, ATTEMPT, token, int((ATTEMPT_LIFE + CONSENT_LIFE).total_seconds()))
    return response


def _resolve_attempt(token: str, attempt: Any) -> Response:
    """Sign in, or ask for consent. Raises ProviderFailed or SignInRefused."""
    identity = service.identity_provider().identify(
        request.args.get("code", ""), request.args.get("iss"), attempts.secrets_of(token)
    )
    with transaction():
        outcome = service.resolve_identity(token, attempt, identity)
        if outcome.user_id is None:
            return redirect_to(f"{_CONSENT}/{'link' if outcome.is_linking else 'new'}")
        message = "This sign-in is already linked to your profile." if outcome.was_linked else ""
        return _finish_sign_in(redirect_to(attempt.target, message), outcome.user_id)


def _sign_up(
    token: str, attempt: Any, name: str, account_name: str = "", account_slug: str = ""
) -> Response:
    """Sign up with a new account, or without one for somebody who is invited."""
    account = (account_name, account_slug or None) if account_name else None
    for _ in range(TRIES):
        try:
            with transaction():
                signed_up = service.sign_up(token, attempt, name, account)
                if signed_up is None:
                    break
                target = _first_page(attempt.target, is_invited=account is None)
                return _finish_sign_in(redirect_to(target, "Welcome."), *signed_up)
        except IntegrityError:  # the slug has just been taken, or the address, or the identity
            continue
    return _refused_page("stale")


def _first_page(target: str, *, is_invited: bool) -> str:
    if target != "/":
        return target
    return "/invitations" if is_invited else "/welcome"


def _link_identity(token: str, attempt: Any, owner: Any) -> Response:
    """Link the identity, and sign in."""
    try:
        with transaction():
            if not service.link_identity(token, attempt, owner):
                return _refused_page("stale")
            message = f"From now on you can sign in with {instance().single_sign_on}."
            return _finish_sign_in(redirect_to(attempt.target, message), attempt.user_id)
    except IntegrityError:
        return _refused_page("linked_elsewhere")


def _finish_sign_in(response: Response, user_id: str, account_id: str | None = None) -> Response:
    """Sign in, in the current transaction."""
    write_sign_in_entry(user_id)
    first = next((row.id for row in memberships_of(user_id)), None)
    has_confirmed = not has_second_step(user_id)
    sign_in(response, user_id, account_id or first, confirmed=has_confirmed)
    set_cookie(response, ATTEMPT, "", 0)
    return response


def _refuse_and_audit(
    reason: str, email: str = "", user_id: str | None = None, fault: str = ""
) -> Response:
    """Refuse somebody who comes back from the provider, with an entry in the audit log."""
    with transaction():
        write_refused_sign_in(user_id, email or "somebody", reason)
    return _refused_page(reason, email, fault)


def _refused_page(reason: str, email: str = "", fault: str = "") -> Response:
    status = _STATUSES.get(reason, 403)
    response = page("single_sign_on/refused.html", status, reason=reason, email=email, fault=fault)
    if status == 503:
        response.headers["Retry-After"] = str(RETRY_SECONDS)
    return response

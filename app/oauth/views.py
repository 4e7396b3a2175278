"""Pages: an application asks for access, and which applications have it."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from flask import Response, request

from app.auth.memberships import memberships_of
from app.auth.sessions import SignedIn, record_session_use
from app.db.extensions import db
from app.oauth import service
from app.oauth.consents import end_consent, list_consents
from app.oauth.redirect_uris import is_on_this_device, shown_host
from app.oauth.service import AuthorizationRequest, CannotRedirect, RedirectWithError
from app.policy.permissions import SCOPES
from app.site.pages import PageBlueprint, allow_form_action, page, redirect_to
from app.site.signed_in import current_person, signed_in, with_person
from app.values import clock

bp = PageBlueprint("oauth_pages", __name__)


@bp.route(service.AUTHORIZE, methods=["GET", "POST"])
@with_person
def authorize() -> Response:
    """Ask whether an application may act for who is signed in, and send them back to it."""
    try:
        asked = service.read_request(request.query_string)
    except CannotRedirect as refusal:
        return page("oauth/error.html", refusal.status, message=refusal.message)
    except RedirectWithError as back:
        return _lead(back.url)
    person = current_person()
    if person is None:
        if asked.is_silent:
            return _lead(service.deny(asked, "login_required"))
        return redirect_to(f"/login?next={quote(_own_address(), safe='')}")
    record_session_use(person)
    accounts = memberships_of(person.user_id)
    if request.method == "POST":
        return _decide(asked, person, accounts)
    return _ask(asked, person, accounts)


@bp.get("/applications")
@signed_in
def applications(person: SignedIn) -> Response:
    """Show which applications have access to what, for who is signed in."""
    consents = list_consents(person.user_id)
    return page("oauth/applications.html", consents=consents, words=SCOPES)


@bp.post("/applications/end")
@signed_in
def end_application(person: SignedIn) -> Response:
    """End the access of an application."""
    given = request.form
    ended = end_consent(
        person.user_id, given.get("account_id", ""), given.get("application_id", "")
    )
    db.session.commit()
    told = "It has no access any more." if ended else "It had no access."
    return redirect_to("/applications", told)


def _ask(asked: AuthorizationRequest, person: SignedIn, accounts: list[Any]) -> Response:
    """The page of consent; or the way back at once, where nothing is left to ask."""
    account_id = _remembered(asked, person, accounts)
    if account_id is not None and not asked.asks_anew:
        return _grant(asked, person, account_id)
    if asked.is_silent:
        return _lead(service.deny(asked, "consent_required"))
    return _consent_page(asked, person, accounts)


def _decide(asked: AuthorizationRequest, person: SignedIn, accounts: list[Any]) -> Response:
    """What the form of consent says. All else of the request stands in its address."""
    decision, account_id = request.form.get("decision"), request.form.get("account_id", "")
    if decision == "deny":
        return _lead(service.deny(asked))
    if decision == "allow" and account_id in {row.id for row in accounts}:
        return _grant(asked, person, account_id)
    return _consent_page(asked, person, accounts, 422)


def _remembered(asked: AuthorizationRequest, person: SignedIn, accounts: list[Any]) -> str | None:
    """The account in which the person has allowed all of this before, if it can be but that one.

    A program on a person's device that has no secret may be another than it says; then they are
    asked each time (RFC 8252, section 8.6).
    """
    if asked.client.is_public and is_on_this_device(asked.redirect_uri):
        return None
    allowed = [row.id for row in accounts if service.consented(asked, person.user_id, row.id)]
    if len(allowed) != 1 or (len(accounts) > 1 and allowed[0] != person.account_id):
        return None
    return allowed[0]  # type: ignore[no-any-return]


def _grant(asked: AuthorizationRequest, person: SignedIn, account_id: str) -> Response:
    url = service.grant(asked, person.user_id, account_id)
    db.session.commit()
    return _lead(url)


def _consent_page(
    asked: AuthorizationRequest, person: SignedIn, accounts: list[Any], status: int = 200
) -> Response:
    if not accounts:
        return page("oauth/no_account.html", 403, client=asked.client)
    allow_form_action(asked.redirect_uri)
    chosen = {row.id for row in accounts} & {person.account_id} or {accounts[0].id}
    return page(
        "oauth/consent.html",
        status,
        client=asked.client,
        is_unclear=status != 200,
        accounts=accounts,
        chosen=chosen.pop(),
        scopes={name: SCOPES[name] for name in asked.scopes},
        host=shown_host(asked.redirect_uri),
        on_this_device=is_on_this_device(asked.redirect_uri),
        ends_at=clock.now() + asked.life,
        action=_own_address(),
    )


def _own_address() -> str:
    """The address of the request at hand, as it came."""
    return f"{service.AUTHORIZE}?{request.query_string.decode()}"


def _lead(url: str) -> Response:
    """Send the person back to the application. After a form, by a GET (RFC 9700, section 4.12)."""
    response = Response(status=303 if request.method == "POST" else 302)
    response.headers["Location"] = url
    response.headers["Cache-Control"] = "no-store"
    return response

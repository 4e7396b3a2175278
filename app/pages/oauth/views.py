"""Asking a person whether an application may act for them, and redirecting back to it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any
from urllib.parse import quote

from flask import Response, request

from app.auth.memberships import memberships_of
from app.auth.sessions import SignedIn, save_session_use
from app.db.transactions import transaction
from app.http.urls import AUTHORIZE
from app.limits.counting import count_authorization_request
from app.oauth import redirect_uris, requests, service
from app.oauth.requests import AuthorizationRequest, CannotRedirect, RedirectWithError
from app.pages.second_factor.step_up import ask_again
from app.policy.permissions import INCLUDES, PERMISSIONS, ROLES, SCOPES, expand_permissions
from app.site.pages import PageBlueprint, omit_form_action, page, redirect_to
from app.site.signed_in import current_person, with_person
from app.values import clock

bp = PageBlueprint("consent", __name__)


@bp.route(AUTHORIZE, with_person, methods=["GET", "POST"])
def authorize() -> Response:
    """Ask the signed-in person whether an application may act for them, and redirect back to it."""
    person = current_person()
    count_authorization_request("" if person is None else person.user_id)
    try:
        auth_request = requests.read_request(request.query_string)
    except CannotRedirect as error:
        return page("oauth/error.html", error.status, message=error.message)
    except RedirectWithError as error:
        return _report_error(error, person)
    if person is None:
        if auth_request.is_silent:
            return _report_error(service.refusal_of_request(auth_request, "login_required"), person)
        return redirect_to(f"/login?next={quote(request.full_path, safe='')}")
    save_session_use(person)
    accounts = memberships_of(person.user_id)
    if request.method == "POST":
        return _handle_decision(auth_request, person, accounts)
    return _show_consent(auth_request, person, accounts)


def _show_consent(
    auth_request: AuthorizationRequest, person: SignedIn, accounts: list[Any]
) -> Response:
    """Return the consent page, or a redirect if no question is needed or allowed."""
    account_id = _account_with_consent(auth_request, person, accounts)
    if account_id is not None and not auth_request.requires_prompt:
        return _grant_access(auth_request, person, account_id, asked=False)
    if auth_request.is_silent:
        return _report_error(service.refusal_of_request(auth_request, "consent_required"), person)
    return _consent_page(auth_request, person, accounts)


def _handle_decision(
    auth_request: AuthorizationRequest, person: SignedIn, accounts: list[Any]
) -> Response:
    """Handle the consent form. The authorization request itself is in the query string.

    As tokens open the account, consent needs the second factor.
    """
    decision, account_id = request.form.get("decision"), request.form.get("account_id", "")
    if decision == "deny":
        return _redirect_to_client(service.refusal_of_request(auth_request, "access_denied").url)
    if decision == "allow" and account_id in {row.id for row in accounts}:
        omit_form_action(request.path)
        ask_again()
        return _grant_access(auth_request, person, account_id, asked=True)
    return _consent_page(auth_request, person, accounts, 422)


def _account_with_consent(
    auth_request: AuthorizationRequest, person: SignedIn, accounts: list[Any]
) -> str | None:
    """Return the account in which the person has consented to all of this, if it is clear.

    Returns None for a public client on the person's device: another program could impersonate it,
    so the person is asked each time (RFC 8252, section 8.6).
    """
    if auth_request.client.is_public and redirect_uris.is_on_this_device(auth_request.redirect_uri):
        return None
    allowed = [
        row.id for row in accounts if service.has_consented(auth_request, person.user_id, row.id)
    ]
    if len(allowed) != 1 or (len(accounts) > 1 and allowed[0] != person.account_id):
        return None
    return allowed[0]  # type: ignore[no-any-return]


def _grant_access(
    auth_request: AuthorizationRequest, person: SignedIn, account_id: str, *, asked: bool
) -> Response:
    with transaction():
        url = service.grant_request(auth_request, person.user_id, account_id, is_confirmed=asked)
    return _redirect_to_client(url)


def _consent_page(
    auth_request: AuthorizationRequest, person: SignedIn, accounts: list[Any], status: int = 200
) -> Response:
    if not accounts:
        return page("oauth/no_account.html", 403, client=auth_request.client)
    omit_form_action(request.path)
    chosen = {row.id for row in accounts} & {person.account_id} or {accounts[0].id}
    return page(
        "oauth/consent.html",
        status,
        client=auth_request.client,
        is_unclear=status != 200,
        accounts=accounts,
        chosen=chosen.pop(),
        scopes=auth_request.scopes,
        **_by_role(auth_request.scopes, {row.role for row in accounts}),
        host=redirect_uris.display_host(auth_request.redirect_uri),
        on_this_device=redirect_uris.is_on_this_device(auth_request.redirect_uri),
        ends_at=clock.now() + auth_request.life,
        action=request.full_path,
    )


def _report_error(error: RedirectWithError, person: SignedIn | None) -> Response:
    """Redirect back with the error, or show it with a link back to somebody who has not yet
    consented to the application."""
    if person is not None:
        accounts = (row.id for row in memberships_of(person.user_id))
        if service.is_known(error, person.user_id, accounts):
            return _redirect_to_client(error.url)
    return page(
        "oauth/refused.html",
        400,
        client=error.client,
        message=error.description,
        back=error.url,
        host=redirect_uris.display_host(error.redirect_uri),
        on_this_device=redirect_uris.is_on_this_device(error.redirect_uri),
    )


def _by_role(scopes: Sequence[str], roles: Iterable[str]) -> dict[str, dict[str, str]]:
    """Return what an application with these scopes can do with any of a person's roles, and what
    needs a higher role: both {scope: description}."""
    granted = expand_permissions(scopes) & frozenset[str]().union(*(ROLES[role] for role in roles))
    granted |= set(scopes) - PERMISSIONS.keys()
    requested = granted.intersection(scopes)
    included = frozenset[str]().union(*(INCLUDES.get(name, ()) for name in requested))
    return {
        "can": {name: SCOPES[name] for name in SCOPES if name in requested | (granted - included)},
        "cannot": {name: SCOPES[name] for name in scopes if name not in granted},
    }


def _redirect_to_client(url: str) -> Response:
    """Redirect to the application. After a POST with 303 (RFC 9700, section 4.12)."""
    response = Response(status=303 if request.method == "POST" else 302)
    response.headers["Location"] = url
    response.headers["Cache-Control"] = "no-store"
    return response

"""The OAuth server as the page of consent, and other rooms, use it."""

from __future__ import annotations

from typing import Final

from app.oauth.applications import hold_application
from app.oauth.authorizations import create_authorization
from app.oauth.consents import is_remembered, remember
from app.oauth.requests import (
    UNKNOWN,
    AuthorizationRequest,
    CannotRedirect,
    RedirectWithError,
    client_redirect,
    issuer,
    read_request,
)

__all__ = [
    "AUTHORIZE",
    "AuthorizationRequest",
    "CannotRedirect",
    "RedirectWithError",
    "consented",
    "deny",
    "grant",
    "issuer",
    "read_request",
    "redirect_target",
]

AUTHORIZE: Final = "/oauth/authorize"


def consented(request: AuthorizationRequest, user_id: str, account_id: str) -> bool:
    """Whether a person has allowed all of this before, in this account."""
    return is_remembered(account_id, user_id, request.client.id, request.scopes)


def grant(request: AuthorizationRequest, user_id: str, account_id: str) -> str:
    """Allow it, and remember that. Returns where the person is sent, with a code.

    Raises:
        Forbidden: the person does not belong to the account.
        CannotRedirect: the application was deleted meanwhile.
    """
    if not hold_application(request.client.account_id, request.client.id):
        raise CannotRedirect(UNKNOWN)
    remember(account_id, user_id, request.client.id, request.scopes)
    code = create_authorization(
        account_id=account_id,
        user_id=user_id,
        application_id=request.client.id,
        scopes=request.scopes,
        redirect_uri=request.redirect_uri,
        code_challenge=request.code_challenge,
    )
    return client_redirect(request.redirect_uri, {"code": code}, request.state)


def deny(request: AuthorizationRequest, error: str = "access_denied") -> str:
    """Where the person is sent without a code.

    Args:
        error: ``access_denied``, or what a silent request needs: ``login_required`` or
            ``consent_required`` (OpenID Connect Core, section 3.1.2.6).
    """
    return client_redirect(request.redirect_uri, {"error": error}, request.state)


def redirect_target(address: str) -> str | None:
    """Where an address of ours sends people on to, if it is that of a good authorization request.

    Who signs in on the way to it may be sent on at once, and a browser holds that against the page
    with the form of signing in (``app.site.pages.allow_form_action``).
    """
    path, _, query = address.partition("?")
    if path != AUTHORIZE:
        return None
    try:
        return read_request(query.encode()).redirect_uri
    except (CannotRedirect, RedirectWithError, UnicodeEncodeError):
        return None

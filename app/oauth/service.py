"""Granting and denying authorization requests, for the consent page."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from app.oauth.authorizations import create_authorization
from app.oauth.consents import has_consent, lock_application, save_consent
from app.oauth.redirect_uris import is_registered
from app.oauth.requests import (
    AuthorizationRequest,
    CannotRedirect,
    RedirectWithError,
    client_redirect,
)
from app.policy.oauth_errors import Description

_DESCRIPTIONS: Final = {
    "access_denied": Description.DENIED,
    "login_required": Description.LOGIN_REQUIRED,
    "consent_required": Description.CONSENT_REQUIRED,
}


def has_consented(request: AuthorizationRequest, user_id: str, account_id: str) -> bool:
    """True if a person has granted all these scopes before, in this account and to this
    redirect URI."""
    client_id, uri = request.client.id, request.redirect_uri
    return has_consent(account_id, user_id, client_id, request.scopes, uri)


def grant_request(
    request: AuthorizationRequest, user_id: str, account_id: str, *, is_confirmed: bool
) -> str:
    """Grant the request and save the consent. Returns the redirect URL, with a code.

    Args:
        is_confirmed: the person has just allowed it, not by an earlier consent.

    Raises:
        Forbidden: the person does not belong to the account.
        CannotRedirect: the application has just been deleted, or may no longer ask for all scopes.
    """
    application = lock_application(request.client.account_id, request.client.id)
    if application is None:
        raise CannotRedirect("This application is no longer registered.")
    if not set(request.scopes) <= set(application.scopes):
        raise CannotRedirect("This application may not ask for all of this anymore.")
    client = request.client
    uris = [uri for uri in application.redirect_uris if is_registered(request.redirect_uri, [uri])]
    save_consent(
        *(account_id, user_id, client.id, request.scopes),
        name=client.name,
        confirmed_uris=uris if is_confirmed else (),
    )
    code = create_authorization(
        account_id=account_id,
        user_id=user_id,
        application_id=request.client.id,
        scopes=request.scopes,
        redirect_uri=request.redirect_uri,
        code_challenge=request.code_challenge,
    )
    return client_redirect(request.redirect_uri, {"code": code}, request.state)


def refusal_of_request(request: AuthorizationRequest, error: str) -> RedirectWithError:
    """Return the error that the application gets instead of a code.

    Args:
        error: ``access_denied``, or for a silent request ``login_required`` or
            ``consent_required`` (OpenID Connect Core, section 3.1.2.6).
    """
    fields = {"error": error, "error_description": _DESCRIPTIONS[error]}
    return RedirectWithError(request.client, request.redirect_uri, fields, request.state)


def is_known(error: RedirectWithError, user_id: str, account_ids: Iterable[str]) -> bool:
    """True if a person has granted the application anything, in one of these accounts and
    to this redirect URI.

    Nobody else is redirected with an error: anybody can register an application, and would have
    links on this service's name that lead to any address (RFC 9700, section 4.11.2).
    """
    return any(
        has_consent(account_id, user_id, error.client.id, (), error.redirect_uri)
        for account_id in account_ids
    )

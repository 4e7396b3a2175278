"""/oauth/token, /oauth/revoke, /oauth/introspect and the server metadata.

Responses and errors have the format of OAuth (RFC 6749, section 5), not that of the API.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from authlib.oauth2 import OAuth2Error
from authlib.oauth2.rfc6749 import InvalidRequestError
from flask import Blueprint, Response, request
from gunicorn.http.errors import ParseException  # type: ignore[import-untyped]

from app.api.parsing import whole_body
from app.db.extensions import db
from app.http.errors import ApiError, BadRequest, PayloadTooLarge
from app.limits.counting import count_rejected_request
from app.oauth.messages import OAuthRequest, OAuthResponse, error_response, status_fields
from app.oauth.metadata import server_metadata
from app.oauth.parameters import read_unique
from app.oauth.requests import issuer_identifier
from app.oauth.server import server
from app.policy.oauth import FORM_BYTES
from app.policy.oauth_errors import Description
from app.values.strict_json import dumps

bp = Blueprint("oauth", __name__)

_FORM: Final = "application/x-www-form-urlencoded"
_METADATA: Final = "/.well-known/oauth-authorization-server"
_PATHS: Final = ("/oauth/token", "/oauth/revoke", "/oauth/introspect", _METADATA)


@bp.post("/oauth/token")
def token() -> Response:
    """Exchange a code or a refresh token for tokens."""
    return _run_endpoint(server.create_token_response)


@bp.post("/oauth/revoke")
def revoke() -> Response:
    """Revoke a token of the calling application."""
    return _run_endpoint(partial(server.create_endpoint_response, "revocation"))


@bp.post("/oauth/introspect")
def introspect() -> Response:
    """Read the state and the scope of a token of the calling application."""
    return _run_endpoint(partial(server.create_endpoint_response, "introspection"))


@bp.get(_METADATA)
def metadata() -> Response:
    """The metadata of the OAuth server."""
    response = Response(
        dumps(server_metadata(issuer_identifier())), content_type="application/json"
    )
    response.headers["Cache-Control"] = "public, max-age=3600"
    return response


def _run_endpoint(endpoint: Callable[[OAuthRequest], OAuthResponse]) -> Response:
    """Run an endpoint and commit, even after an error: reuse of a token revokes its family."""
    oauth_request: OAuthRequest | None = None
    try:
        oauth_request = _read_request()
        response = endpoint(oauth_request)
    except OAuth2Error as error:
        response = error_response(error)
    db.session.commit()
    if response.status >= 400 and not (oauth_request and oauth_request.is_authenticated):
        count_rejected_request()
    return _render_response(response)


def _read_request() -> OAuthRequest:
    """Parse the current request's form. Raises InvalidRequestError."""
    body = _read_body()
    if request.mimetype != _FORM:
        raise InvalidRequestError(Description.FORM)
    if request.args:
        raise InvalidRequestError(Description.QUERY)
    return OAuthRequest("POST", read_unique(body), request.headers.get("Authorization"))


def _read_body() -> bytes:
    """Read the current request's body. Raises PayloadTooLarge, or BadRequest if it is incomplete.

    A chunked body has no Content-Length, and werkzeug would silently truncate it.
    """
    request.max_content_length = FORM_BYTES
    try:
        if "HTTP_TRANSFER_ENCODING" in request.environ:
            body: bytes = request.environ["wsgi.input"].read(FORM_BYTES + 1)
        else:
            body = whole_body(request)
    except (OSError, ParseException):  # raised by gunicorn
        raise BadRequest from None
    if len(body) > FORM_BYTES:
        raise PayloadTooLarge
    return body


def _render_response(response: OAuthResponse) -> Response:
    rendered = Response(dumps(response.body), response.status, content_type="application/json")
    rendered.headers.update({"Cache-Control": "no-store", "Pragma": "no-cache", **response.headers})
    return rendered


def oauth_error(error: ApiError, _: str) -> Response | None:
    """Any other error in the format of OAuth; None where the path is not of the OAuth server."""
    if request.path.rstrip("/") not in _PATHS:
        return None
    return _render_response(
        OAuthResponse(error.status, status_fields(error.status, error.message), {})
    )

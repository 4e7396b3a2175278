"""/oauth/token, /oauth/revoke, /oauth/introspect, and where programs find out about them.

What they answer, errors too, has the form of OAuth (RFC 6749, section 5), not that of the API.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from authlib.oauth2 import OAuth2Error
from authlib.oauth2.rfc6749 import InvalidRequestError
from flask import Blueprint, Response, request
from gunicorn.http.errors import ParseException  # type: ignore[import-untyped]
from sqlalchemy.exc import SQLAlchemyError
from werkzeug.exceptions import HTTPException, MethodNotAllowed

from app.api.error_handlers import as_api_error
from app.api.parsing import whole_body
from app.db.extensions import db
from app.http.errors import ApiError, BadRequest, InternalError, PayloadTooLarge
from app.limits import limiter
from app.oauth.messages import Answer, OAuthRequest, refusal
from app.oauth.metadata import server_metadata
from app.oauth.parameters import read_once
from app.oauth.server import server
from app.oauth.service import issuer
from app.policy.oauth import FORM_BYTES
from app.values.strict_json import dumps

log = logging.getLogger(__name__)

bp = Blueprint("oauth", __name__)

_FORM: Final = "application/x-www-form-urlencoded"
_METADATA: Final = "/.well-known/oauth-authorization-server"
_OWN_PATHS: Final = ("/oauth/token", "/oauth/revoke", "/oauth/introspect", _METADATA)
_CODES: Final = {
    429: "temporarily_unavailable",
    500: "server_error",
    503: "temporarily_unavailable",
}


@bp.post("/oauth/token")
def token() -> Response:
    """Give tokens for a code, or for a refresh token."""
    return _answered(server.create_token_response)


@bp.post("/oauth/revoke")
def revoke() -> Response:
    """End a token of the application that asks."""
    return _answered(partial(server.create_endpoint_response, "revocation"))


@bp.post("/oauth/introspect")
def introspect() -> Response:
    """Say whether a token of the application that asks is good, and for what."""
    return _answered(partial(server.create_endpoint_response, "introspection"))


@bp.get(_METADATA)
def metadata() -> Response:
    """The addresses and abilities of the OAuth server."""
    response = Response(dumps(server_metadata(issuer())), content_type="application/json")
    response.headers["Cache-Control"] = "public, max-age=3600"
    return response


def _answered(endpoint: Callable[[OAuthRequest], Answer]) -> Response:
    """The answer of an endpoint, once what it changed is kept; a refusal too changes something
    where it tells of a theft."""
    asked: OAuthRequest | None = None
    try:
        asked = _read()
        answer = endpoint(asked)
    except OAuth2Error as error:
        answer = refusal(error)
    db.session.commit()
    if answer.status >= 400 and (asked is None or not asked.has_proof):
        limiter.count_refusal()
    return _response(answer)


def _read() -> OAuthRequest:
    """The form of this request. Raises InvalidRequestError."""
    body = _body()
    if request.mimetype != _FORM:
        raise InvalidRequestError(f"Send the parameters as {_FORM}.")
    if request.args:
        raise InvalidRequestError("Send the parameters in the body, not in the address.")
    return OAuthRequest("POST", read_once(body), request.headers.get("Authorization"))


def _body() -> bytes:
    """The body of this request. Raises PayloadTooLarge, or BadRequest for one that is not whole.

    In chunks it has no announced length, and werkzeug would cut it short without a word.
    """
    request.max_content_length = FORM_BYTES
    try:
        if "HTTP_TRANSFER_ENCODING" in request.environ:
            body: bytes = request.environ["wsgi.input"].read(FORM_BYTES + 1)
        else:
            body = whole_body(request)
    except (OSError, ParseException):  # of the web server
        raise BadRequest("The body is malformed, or ends too early.") from None
    if len(body) > FORM_BYTES:
        raise PayloadTooLarge
    return body


def _response(answer: Answer) -> Response:
    response = Response(dumps(answer.body), answer.status, content_type="application/json")
    response.headers.update({"Cache-Control": "no-store", "Pragma": "no-cache", **answer.headers})
    return response


@bp.before_app_request
def _refuse_method() -> Response | None:
    refused = request.routing_exception
    if isinstance(refused, MethodNotAllowed) and request.path.rstrip("/") in _OWN_PATHS:
        headers = {"Allow": ", ".join(sorted(refused.valid_methods or ()))}
        return _refused(405, "The Allow header names the methods that this address takes.", headers)
    return None


@bp.errorhandler(Exception)
def _render(error: Exception) -> Response:
    """Whatever else goes wrong, in OAuth's form."""
    db.session.rollback()
    if isinstance(error, HTTPException) and (error.code or 500) < 500:
        return _refused(error.code or 400, error.description or "")
    found = as_api_error(error) if isinstance(error, SQLAlchemyError) else error
    if not isinstance(found, ApiError):
        log.error("unhandled error", exc_info=error)
        found = InternalError()
    return _refused(found.status, found.message, found.headers)


def _refused(status: int, message: str, headers: Mapping[str, str] | None = None) -> Response:
    told = {"error": _CODES.get(status, "invalid_request"), "error_description": message}
    return _response(Answer(status, told, dict(headers or {})))

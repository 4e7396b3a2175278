"""Checks before each request to /v1, /api and /ogc: the body's size and type, the credential, the
rate limit."""

from __future__ import annotations

import io
from typing import Any, Final

from flask import Flask, current_app, g, request
from gunicorn.http.errors import ParseException  # type: ignore[import-untyped]
from werkzeug.exceptions import NotFound as RouteNotFound

from app.api.media_types import JSON
from app.api.merge_patch import MERGE_PATCH
from app.api.openapi.geojson import GEOJSON
from app.api.openapi.operations import contract_of
from app.auth.guard import identify_caller
from app.auth.map_clients import sent_credential
from app.http.errors import ApiError, BadRequest, Detail, PayloadTooLarge, UnsupportedMediaType
from app.http.middleware import REQUEST_ID
from app.http.urls import is_ogc
from app.limits import limiter
from app.policy.files import FORM_BYTES
from app.processes.web_server.request_buffer import BODY_TO_COME, BodyAwaited
from app.settings.current import current_settings

_JSON_ROUTES: Final = ("/v1/", "/api/")
_FEATURE_TYPES: Final = (GEOJSON, JSON, MERGE_PATCH)  # of bodies below /ogc
_NO_FEATURE: Final = (
    "Send the body as JSON, with 'Content-Type: application/geo+json' or 'application/json', and "
    "a PATCH also with 'application/merge-patch+json'."
)


def init_app(app: Flask) -> None:
    """Check each request in this order, before its route."""
    app.before_request(_check_body_and_credential)
    limiter.init_app(app)
    app.before_request(_raise_request_problem)


def request_id() -> str:
    """The id of this request, from ``app.http.middleware``."""
    value: str = request.environ[REQUEST_ID]
    return value


def _check_body_and_credential() -> None:
    """Check the body and the credential, without rejecting the request: rejected ones are counted
    too, and their responses show the limit.

    Raises:
        BodyAwaited: nothing is wrong so far, and the body has not arrived.
    """
    _check_request()
    if BODY_TO_COME in request.environ and not _is_refused():
        raise BodyAwaited


def _is_refused() -> bool:
    """True if the response is known without the body."""
    if "refused_body" in g or request.routing_exception is not None:
        return True
    view = current_app.view_functions.get(request.endpoint or "")
    return hasattr(view, "permission") and "refusal" in g


def _check_request() -> None:
    environ = request.environ
    if environ["PATH_INFO"].startswith("//"):  # which werkzeug takes for one slash
        request.routing_exception, request.url_rule = RouteNotFound(), None
    if environ["SERVER_PROTOCOL"] == "HTTP/1.1" and "HTTP_HOST" not in environ:
        g.refused_body = _malformed("Host", "Send the header Host, which HTTP/1.1 requires.")
        return
    path = request.path
    if not (path.startswith(_JSON_ROUTES) or is_ogc(path)):
        return
    try:
        _bound_body(environ)
    except ApiError as refusal:
        g.refused_body = refusal
    if path.startswith("/v1/"):
        identify_caller(request.headers.get("Authorization"), _needs_credential)
    elif is_ogc(path):
        identify_caller(sent_credential(), _needs_credential)


def _needs_credential() -> bool:
    """Return whether the route of this request names a permission, or there is none."""
    view = current_app.view_functions.get(request.endpoint or "")
    return view is None or hasattr(view, "permission")


def _raise_request_problem() -> None:
    """Raise what is wrong with the body or, for a known path and method, that there were too many
    requests. Flask then raises that a path or method is not known."""
    if "refused_body" in g:
        raise g.refused_body
    if request.routing_exception is None:
        limiter.refuse_rejected()


def _bound_body(environ: dict[str, Any]) -> None:
    """Reject a body that is too large or not JSON, before anything else is looked at.

    A chunked body has no announced length, and werkzeug would cut it short without a word; so it
    is read here, one byte past the limit. The web server has already collected it, so that this
    waits for no client.
    """
    coding = environ.get("HTTP_TRANSFER_ENCODING", "").lower()
    if not coding and not environ.get("CONTENT_LENGTH"):
        return
    if coding not in ("", "chunked"):  # gunicorn lets "gzip, chunked" through, still compressed
        raise UnsupportedMediaType(
            "Send the body uncompressed. The only Transfer-Encoding allowed is chunked."
        )
    has_file = _takes_file()
    limit = request.max_content_length = _most_bytes(has_file)
    if coding and BODY_TO_COME not in environ:
        try:
            body = environ["wsgi.input"].read(limit + 1)
        except OSError:
            message = "The connection ended before the whole body arrived. Send the request again."
            raise _malformed("body", message) from None
        except ParseException:  # raised by gunicorn
            raise _malformed("body", "The chunked body is malformed or incomplete.") from None
        environ["wsgi.input"] = io.BytesIO(body)
        environ["CONTENT_LENGTH"] = str(len(body))
        environ.pop("HTTP_TRANSFER_ENCODING")
        request.__dict__.pop("content_length", None)
    length = int(environ.get("CONTENT_LENGTH") or 1)  # of chunks to come, at least 1
    if length > limit:
        raise PayloadTooLarge(f"The body is larger than {limit:,} bytes.")
    if length and request.routing_exception is None:
        _require_media_type(has_file)


def _malformed(part: str, message: str) -> BadRequest:
    return BadRequest(message, details=[Detail(part, message, "invalid")])


def _most_bytes(has_file: bool) -> int:
    """The maximum size of the body of this request in bytes."""
    settings = current_settings()
    if has_file:
        return int(settings.max_import_bytes) + FORM_BYTES
    return int(settings.max_body_bytes)


def _takes_file() -> bool:
    """True if the operation of this request takes a file, as a multipart form."""
    contract = contract_of(current_app.view_functions.get(request.endpoint or ""))
    return contract is not None and contract.takes_file


def _may_lack_type() -> bool:
    """True for a body without a type from a program that has a credential in a header.

    Never from a browser, which sends ``Origin``: another site's page can make it send such a body
    with its cookies, and with a password for ``/ogc`` that somebody has entered.
    """
    headers = request.headers
    has_credential = "Authorization" in headers or "X-Api-Key" in headers
    is_typed = bool(headers.get("Content-Type")) or request.path.startswith("/api/")
    return has_credential and not is_typed and "Origin" not in headers


def _require_media_type(has_file: bool) -> None:
    charset = request.mimetype_params.get("charset", "utf-8").lower()
    is_features = is_ogc(request.path)
    is_merge = request.method == "PATCH" and request.path.startswith("/v1/")
    accepted = _FEATURE_TYPES if is_features else (JSON, MERGE_PATCH) if is_merge else (JSON,)
    if has_file:
        if request.mimetype != "multipart/form-data":
            raise UnsupportedMediaType("Send a form (multipart/form-data) with the file in `file`.")
    elif not _may_lack_type() and (
        request.mimetype not in accepted or charset not in ("utf-8", "utf8")
    ):
        raise UnsupportedMediaType(_NO_FEATURE if is_features else None)
    if request.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise UnsupportedMediaType("Send the body uncompressed, without a Content-Encoding.")

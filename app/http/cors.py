"""CORS (Fetch standard): web pages of the origins in ``CORS_ORIGINS`` may call the API and get
tokens.

A page sends its token itself, so requests carry no cookies, and
``Access-Control-Allow-Credentials`` is never sent.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from flask import Flask, Response, request
from werkzeug.exceptions import MethodNotAllowed

_PATHS: Final = (
    "/v1/", "/api/", "/ogc", "/oauth/token", "/oauth/revoke",
    "/.well-known/oauth-authorization-server",
)  # fmt: skip
_METHODS: Final = ("DELETE", "GET", "HEAD", "PATCH", "POST", "PUT")
_ACCEPTED: Final = (
    "Authorization, Content-Crs, Content-Type, Idempotency-Key, If-Match, If-None-Match, "
    "X-Api-Key, X-Request-Id"
)
_EXPOSED: Final = (
    "X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After, ETag, Link, "
    "Location, X-Request-Id, Idempotency-Replayed, Content-Crs, Content-Disposition, "
    "Deprecation, Sunset, WWW-Authenticate"
)
_REMEMBERED: Final = "7200"  # seconds that browsers cache the answer; the maximum of Chrome


def init_app(app: Flask, origins: frozenset[str]) -> None:
    """Let pages of these origins call the API, or of any for ``*``.

    Call it before other functions for requests: a preflight request has no credential, and is
    neither counted nor limited.
    """
    if not origins:
        return

    def allowed() -> str | None:
        """The value of the header for the origin that may read the response, or None."""
        origin = request.headers.get("Origin")
        if origin is None or not request.path.startswith(_PATHS):
            return None
        return "*" if "*" in origins else origin if origin in origins else None

    @app.before_request
    def answer_preflight() -> Response | None:
        is_preflight = (
            request.method == "OPTIONS" and "Access-Control-Request-Method" in request.headers
        )
        return _preflight_response(_path_methods()) if is_preflight and allowed() else None

    @app.after_request
    def open_answer(response: Response) -> Response:
        if request.path.startswith(_PATHS):
            response.vary.add("Origin")  # also without the header, for caches
        if (origin := allowed()) is not None:
            response.headers["Access-Control-Allow-Origin"] = origin
            response.headers["Access-Control-Expose-Headers"] = _EXPOSED
        return response


def _path_methods() -> Iterable[str]:
    """The methods of the path; all for an unknown one, so that the page sees the 404."""
    refusal = request.routing_exception
    valid = refusal.valid_methods if isinstance(refusal, MethodNotAllowed) else None
    return valid or _METHODS


def _preflight_response(methods: Iterable[str]) -> Response:
    response = Response(status=204)
    del response.headers["Content-Type"]
    response.headers["Access-Control-Allow-Methods"] = ", ".join(sorted(methods))
    response.headers["Access-Control-Allow-Headers"] = _ACCEPTED
    response.headers["Access-Control-Max-Age"] = _REMEMBERED
    return response

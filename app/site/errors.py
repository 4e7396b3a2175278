"""What a browser shows of a refusal: the page in place of the envelope."""

from __future__ import annotations

from typing import Final

from flask import Response, g, request

from app.http.errors import ApiError
from app.site.pages import page

# What only programs ask for.
_PROGRAMS: Final = (
    "/v1/", "/api/", "/.well-known/", "/oauth/token", "/oauth/revoke", "/oauth/introspect",
    "/healthz", "/readyz", "/metrics",
)  # fmt: skip
_TITLES: Final = {
    400: "That cannot be understood",
    403: "That is not allowed",
    404: "There is nothing here",
    405: "That cannot be done here",
    409: "That does not go together",
    413: "That is too much at once",
    429: "Too often",
    503: "Not at the moment",
}
_FAILED: Final = "Something went wrong"
# What people read in place of what programs are told.
_MESSAGES: Final = {
    404: "The address may be mistyped, or what was here is gone.",
    429: "This was sent often in a short while, from here or from your network.",
    500: "The fault is ours. It is noted down.",
    503: "The service cannot reach what it needs. It tries again by itself.",
}


def error_page(error: ApiError, request_id: str) -> Response | None:
    """The page of a refusal, or None where JSON is wanted."""
    if request.path.startswith(_PROGRAMS) or not _wants_page():
        return None
    g.setdefault("person", None)  # nobody is looked up: the database may be what failed
    return page(
        "error.html",
        error.status,
        title=_TITLES.get(error.status, _FAILED),
        message=_message(error),
        details=error.details,
        request_id=request_id,
        wait=error.headers.get("Retry-After") if error.status in (429, 503) else None,
    )


def _message(error: ApiError) -> str:
    """What is told: of what all such refusals have in common, in other words than programs get."""
    common = error.status == 429 or error.message == error.default_message
    return _MESSAGES.get(error.status, error.message) if common else error.message


def _wants_page() -> bool:
    accepted = request.accept_mimetypes
    return accepted.best_match(["application/json", "text/html"]) == "text/html"

"""One bad input, and short forms for the usual ones."""

from __future__ import annotations

from typing import Any, NamedTuple

JSON = {"Content-Type": "application/json"}

# Every status of a refusal has one code (docs/api-conventions.md, "Errors").
CODES = {
    400: "VALIDATION_ERROR",
    401: "UNAUTHORIZED",
    404: "NOT_FOUND",
    405: "METHOD_NOT_ALLOWED",
    412: "PRECONDITION_FAILED",
    413: "PAYLOAD_TOO_LARGE",
    415: "UNSUPPORTED_MEDIA_TYPE",
    422: "VALIDATION_ERROR",
}

PROJECTS = "/v1/projects"
PROJECT = "/v1/projects/{project}"
ASSETS = "/v1/projects/{project}/assets"
ASSET = "/v1/projects/{project}/assets/{asset}"
VALIDATE = "/v1/geometry/validate"


class Bad(NamedTuple):
    """What is sent: ``body`` as bytes goes out as it is, anything else as JSON.

    ``fields`` are those that ``details`` names, in any order; None where it names none. In ``path``
    stand ``{project}`` and ``{asset}`` for real ids.
    """

    what: str
    method: str
    path: str
    status: int
    fields: str | None
    body: Any = None
    headers: dict[str, str] = {}  # noqa: RUF012 - of a tuple, which is not changed


def create(what: str, fields: str | None, body: Any, status: int = 422) -> Bad:
    """A project that is refused."""
    return Bad(what, "POST", PROJECTS, status, fields, body)


def create_asset(what: str, fields: str | None, body: Any, status: int = 422) -> Bad:
    """An asset that is refused."""
    return Bad(what, "POST", ASSETS, status, fields, body)


def raw(what: str, text: str | bytes, fields: str | None = "body", status: int = 400) -> Bad:
    """The text of a body that is refused."""
    data = text if isinstance(text, bytes) else text.encode()
    return Bad(what, "POST", PROJECTS, status, fields, data, JSON)


def query(what: str, fields: str, text: str, path: str = PROJECTS) -> Bad:
    """A query string that is refused."""
    return Bad(what, "GET", f"{path}?{text}", 400, fields)

"""The components of the OpenAPI description: headers, parameters, errors, credentials."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import marshmallow as ma
from flask_smorest import Api

from app.api.openapi.geojson import COMPONENTS
from app.api.openapi.schemas import ErrorSchema, InvalidCredentialSchema
from app.http import errors
from app.http.errors import ApiError
from app.policy.permissions import SCOPES
from app.policy.request_limits import IDEMPOTENCY_HOURS, IDEMPOTENCY_KEY_LENGTH

_STRING: Final = {"type": "string"}
_ENTITY_TAG: Final = '(W/)?"[!#-~]*"'
_ENTITY_TAGS: Final = {
    "type": "string",
    "pattern": f"^(\\*|{_ENTITY_TAG}(\\s*,\\s*{_ENTITY_TAG})*)$",
    "examples": ['"0f5c8a1be3d94c27a6f0b1d2e3c4a596"'],
}

# The errors of operations, by status.
REFUSALS: Final[dict[int, type[ApiError]]] = {
    kind.status: kind
    for kind in (
        errors.BadRequest,
        errors.Unauthorized,
        errors.Forbidden,
        errors.NotFound,
        errors.Conflict,
        errors.PreconditionFailed,
        errors.PayloadTooLarge,
        errors.UnsupportedMediaType,
        errors.ValidationFailed,
        errors.RateLimited,
        errors.InternalError,
        errors.ServiceUnavailable,
    )
}

HEADERS: Final[dict[str, dict[str, Any]]] = {
    "X-Request-Id": {
        "description": "Id of the request, as in the service's log.",
        "schema": _STRING,
    },
    "ETag": {
        "description": "Strong entity tag of `data`, for `If-Match` and `If-None-Match`; of a map "
        "a weak one, for `If-None-Match`.",
        "schema": _STRING,
    },
    "Location": {"description": "URL of the created resource.", "schema": _STRING},
    "Link": {
        "description": "URLs of the first, previous, next and last page (RFC 8288), or of a page "
        "about deprecations.",
        "schema": _STRING,
    },
    "Idempotency-Replayed": {
        "description": "`true` if this is the stored response to an earlier request.",
        "schema": _STRING,
    },
    "WWW-Authenticate": {
        "description": "How to authenticate (RFC 6750); of a 403, the scope that an OAuth token "
        "lacks.",
        "schema": _STRING,
    },
    "Retry-After": {
        "description": "Seconds to wait before the next request; with success, until a worker that "
        "is still busy may be done.",
        "schema": {"type": "integer", "minimum": 1},
    },
    "Cache-Control": {"description": "How the response may be cached.", "schema": _STRING},
    "Deprecation": {
        "description": "When the part of the API that this request uses was deprecated (RFC 9745).",
        "schema": _STRING,
    },
    "Sunset": {
        "description": "The day before which no release removes it (RFC 8594), once decided.",
        "schema": _STRING,
    },
    "Content-Disposition": {"description": "The name of the file.", "schema": _STRING},
    "X-RateLimit-Limit": {
        "description": "Requests that are allowed in the window: that of the minute or of the day, "
        "whichever runs out first.",
        "schema": {"type": "integer", "minimum": 1},
    },
    "X-RateLimit-Remaining": {
        "description": "Requests left in the window.",
        "schema": {"type": "integer", "minimum": 0},
    },
    "X-RateLimit-Reset": {
        "description": "When the window ends, in seconds since 1970.",
        "schema": {"type": "integer", "minimum": 0},
    },
}
# On every response, unless Valkey is down or the plan has no limit of requests.
EVERYWHERE: Final = (
    "X-Request-Id", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset",
)  # fmt: skip

PARAMETERS: Final[dict[str, dict[str, Any]]] = {
    "If-None-Match": {
        "description": (
            "Respond with 304, without a body, if the resource still has one of these entity tags."
        ),
        "schema": _ENTITY_TAGS,
    },
    "If-Match": {
        "description": (
            "Change the resource only if it still has one of these entity "
            "tags; otherwise respond with 412."
        ),
        "schema": _ENTITY_TAGS,
    },
    "Idempotency-Key": {
        "description": "Makes it safe to repeat this request: a repeat with the same key and the "
        "same values, in any JSON spelling, gets the first response again, for "
        f"{IDEMPOTENCY_HOURS} hours. 1 to {IDEMPOTENCY_KEY_LENGTH} "
        "printable ASCII characters.",
        "schema": {
            "type": "string",
            "minLength": 1,
            "maxLength": IDEMPOTENCY_KEY_LENGTH,
            "pattern": "^[ -~]+$",
        },
    },
    "X-Request-Id": {
        "description": "Your own id for the request: 8 to 64 characters of `A-Z a-z 0-9 _ -`, but "
        "no token or secret of Canopy.",
    },
}

SECURITY: Final[dict[str, dict[str, Any]]] = {
    "api_key": {
        "type": "http",
        "scheme": "bearer",
        "description": "An API key (`canopy_key_…`).",
    },
    "service_token": {
        "type": "http",
        "scheme": "bearer",
        "description": "A service token (`canopy_svc_…`), for automated work; "
        "can be restricted to IP addresses.",
    },
}
OAUTH: Final = "oauth"  # the third scheme, which contains addresses of the instance
INVALID_CREDENTIAL: Final = "InvalidCredential"  # the 401 of verifying a credential


class CanopyApi(Api):  # type: ignore[misc]
    """flask-smorest's description, with this service's errors and without its error handlers."""

    ERROR_SCHEMA = ErrorSchema
    DEFAULT_ERROR_RESPONSE_NAME = None

    def __init__(self) -> None:
        super().__init__()
        self.undescribed: list[Callable[[], None]] = []  # each describes the routes of a blueprint

    def _register_error_handlers(self) -> None:
        """Do nothing: ``app.api.error_handlers`` renders all errors, of /v1 and elsewhere."""

    def _register_responses(self) -> None:
        for name, scheme in SECURITY.items():
            self.spec.components.security_scheme(name, scheme)
        issuer = self._app.config["SETTINGS"].public_url
        self.spec.components.security_scheme(OAUTH, _oauth_scheme(issuer))
        for name, header in HEADERS.items():
            self.spec.components.header(name, header)
        for name, parameter in PARAMETERS.items():
            entry = {"required": False, "schema": _STRING} | parameter
            self.spec.components.parameter(name, "header", {"name": name} | entry)
        for name, component in COMPONENTS.items():
            self.spec.components.schema(name, component)
        for kind in REFUSALS.values():
            self.spec.components.response(kind.__name__, _refusal_response(kind, ErrorSchema))
        invalid = _refusal_response(errors.Unauthorized, InvalidCredentialSchema, valid=False)
        self.spec.components.response(INVALID_CREDENTIAL, invalid)

    def _register_etag_headers(self) -> None:
        """Do nothing: the headers of this service are registered above."""

    def _register_pagination_header(self) -> None:
        """Do nothing: responses describe pages in ``meta`` and ``Link``."""


def _oauth_scheme(issuer: str) -> dict[str, Any]:
    """The security scheme of applications that act for people."""
    return {
        "type": "oauth2",
        "description": "An OAuth 2.0 access token (`canopy_oat_…`), for applications that act "
        f"for a person. `{issuer}/.well-known/oauth-authorization-server` has the metadata.",
        "flows": {
            "authorizationCode": {
                "authorizationUrl": f"{issuer}/oauth/authorize",
                "tokenUrl": f"{issuer}/oauth/token",
                "refreshUrl": f"{issuer}/oauth/token",
                "scopes": SCOPES,
            }
        },
    }


def header_refs(*names: str) -> dict[str, Any]:
    """References to headers, by their names."""
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}


def _refusal_response(
    kind: type[ApiError], schema: type[ma.Schema], **extra: Any
) -> dict[str, Any]:
    names = [*EVERYWHERE]
    names += ["WWW-Authenticate"] if kind.status in (401, 403) else []
    names += ["Retry-After"] if kind.status in (429, 503) else []
    names += ["Idempotency-Replayed"] if kind.status in (400, 404, 409, 412, 422) else []
    example = extra | {
        "error": {"code": kind.code, "message": kind.default_message, "details": []},
        "meta": {"request_id": "req_01k9zq3mgse2j7tbyw5c4r8nhd"},
    }
    return {
        "description": kind.default_message,
        "headers": header_refs(*names),
        "content": {"application/json": {"schema": schema, "example": example}},
    }

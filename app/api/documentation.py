"""What the OpenAPI description says of an operation: derived from the contract that runs it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import marshmallow as ma
from flask_smorest import Api

from app.api.geojson import COMPONENTS
from app.api.idempotency import REPEATABLE
from app.api.schemas import ErrorSchema, example_of, is_enveloped
from app.auth.guard import ANY_CREDENTIAL, PROFILE
from app.http import errors
from app.http.errors import ApiError
from app.policy.bounds import IDEMPOTENCY_HOURS, IDEMPOTENCY_KEY_LENGTH
from app.policy.permissions import PERMISSIONS, SCOPES

_STRING: Final = {"type": "string"}

# Every refusal that an operation can answer, by the name of its class.
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
        "description": "Names this request in logs and in questions.",
        "schema": _STRING,
    },
    "ETag": {"description": "Strong entity tag of `data`.", "schema": _STRING},
    "Location": {"description": "Address of what was created.", "schema": _STRING},
    "Link": {"description": "RFC 8288: first, prev, next and last page.", "schema": _STRING},
    "Idempotency-Replayed": {
        "description": "`true` when this is the kept answer to an earlier request.",
        "schema": _STRING,
    },
    "WWW-Authenticate": {"description": "How to authenticate (RFC 6750).", "schema": _STRING},
    "Retry-After": {"description": "Seconds to wait.", "schema": {"type": "integer", "minimum": 1}},
    "Cache-Control": {"description": "How the answer may be stored.", "schema": _STRING},
    "X-RateLimit-Limit": {
        "description": "Requests that the window takes: of the plan's minute and day, the one that "
        "runs out first.",
        "schema": {"type": "integer", "minimum": 1},
    },
    "X-RateLimit-Remaining": {
        "description": "How many of them are left.",
        "schema": {"type": "integer", "minimum": 0},
    },
    "X-RateLimit-Reset": {
        "description": "When the window ends, in seconds since 1970 (UTC).",
        "schema": {"type": "integer", "minimum": 0},
    },
}
# On every answer, unless Valkey is down or the plan has no limit of requests.
_EVERYWHERE: Final = (
    "X-Request-Id", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset",
)  # fmt: skip

PARAMETERS: Final[dict[str, dict[str, Any]]] = {
    "If-None-Match": {"description": "Answer 304 when the entity tag is still one of these."},
    "If-Match": {"description": "Change only when the entity tag is still one of these, else 412."},
    "Idempotency-Key": {
        "description": f"1 to {IDEMPOTENCY_KEY_LENGTH} printable characters. A repeat with the "
        f"same key and the same request gets the first answer; kept {IDEMPOTENCY_HOURS} hours.",
        "schema": {
            "type": "string",
            "minLength": 1,
            "maxLength": IDEMPOTENCY_KEY_LENGTH,
            "pattern": "^[ -~]+$",
        },
    },
    "X-Request-Id": {
        "description": "Kept as the request's id when it is 8 to 64 of `A-Z a-z 0-9 _ -`.",
    },
}

SECURITY: Final[dict[str, dict[str, Any]]] = {
    "api_key": {
        "type": "http",
        "scheme": "bearer",
        "description": "An API key (`canopy_key_…`), for servers.",
    },
    "service_token": {
        "type": "http",
        "scheme": "bearer",
        "description": "A service token (`canopy_svc_…`), for automated work; "
        "may be bound to addresses.",
    },
}
OAUTH: Final = "oauth"  # the third of them, which has the addresses of the instance in it


class CanopyApi(Api):  # type: ignore[misc]
    """flask-smorest's description, with this service's refusals and without its error handlers."""

    ERROR_SCHEMA = ErrorSchema
    DEFAULT_ERROR_RESPONSE_NAME = None

    def _register_error_handlers(self) -> None:
        """``app.api.error_handlers`` renders all errors, of /v1 and elsewhere."""

    def _register_responses(self) -> None:
        for name, scheme in SECURITY.items():
            self.spec.components.security_scheme(name, scheme)
        issuer = self._app.config["SETTINGS"].public_url
        self.spec.components.security_scheme(OAUTH, oauth_scheme(issuer))
        for name, header in HEADERS.items():
            self.spec.components.header(name, header)
        for name, parameter in PARAMETERS.items():
            entry = {"required": False, "schema": _STRING} | parameter
            self.spec.components.parameter(name, "header", {"name": name} | entry)
        for name, component in COMPONENTS.items():
            self.spec.components.schema(name, component)
        for kind in REFUSALS.values():
            self.spec.components.response(kind.__name__, _refusal(kind))

    def _register_etag_headers(self) -> None:
        """Ours are registered above."""

    def _register_pagination_header(self) -> None:
        """Pages are told of in ``meta`` and ``Link``."""


def describe(
    blueprint: Any,
    run: Callable[..., Any],
    *,
    method: str,
    needs: str,
    gives: tuple[int, type[ma.Schema] | None],
    takes: type[ma.Schema] | None,
    names_resource: bool,
    conflicts: bool,
    conditional: bool,
) -> None:
    """Document ``run``: statuses, headers, parameters, security, permission.

    flask-smorest's decorators also wrap a view, to serialise what it returns. Ours return finished
    responses, so only what the decorators note down is taken.
    """
    status, schema = gives
    repeatable = method in REPEATABLE
    tagged = method == "GET" and is_enveloped(schema)
    refused = {400, 401, 413, 415, 429, 500, 503}
    refused |= {403} if needs != ANY_CREDENTIAL else set()
    refused |= {404} if names_resource else set()
    refused |= {409} if conflicts or repeatable else set()
    refused |= {412} if conditional else set()
    refused |= {422} if method != "GET" else set()
    responses: dict[str, Any] = {str(code): REFUSALS[code].__name__ for code in sorted(refused)}
    if tagged:
        responses["304"] = {
            "description": "Not modified",
            "headers": _header_refs(*_EVERYWHERE, "ETag", "Cache-Control", "Link"),
        }
    parameters = ["X-Request-Id"]
    parameters += ["If-None-Match"] if tagged else []
    parameters += ["If-Match"] if conditional else []
    parameters += ["Idempotency-Key"] if repeatable else []
    documented = blueprint.doc(
        operationId=run.__name__,
        responses=responses,
        security=_security(needs),
        **{
            "x-permission": needs,
            "x-parameters": parameters,
            "x-body-also": getattr(takes, "also", None),
        },
    )(run)
    named = _header_refs(*_success_headers(method, status, schema))
    example = None if schema is None else example_of(schema)
    answer = blueprint.response(status, schema, headers=named, example=example)
    noted = answer(documented)._apidoc
    noted.get("arguments", {}).pop("responses", None)  # a wrong query is 400 here, not 422
    run._apidoc = noted  # type: ignore[attr-defined]


def _security(needs: str) -> list[dict[str, list[str]]]:
    """The credentials that an operation takes, an OAuth token with the scope that it must have."""
    choices: list[dict[str, list[str]]] = [{name: []} for name in SECURITY]
    if needs in SCOPES:
        return [*choices, {OAUTH: [needs]}]
    return [*choices, {OAUTH: []}] if needs == ANY_CREDENTIAL else choices


def oauth_scheme(issuer: str) -> dict[str, Any]:
    """How applications that act for people get their tokens."""
    return {
        "type": "oauth2",
        "description": "An OAuth 2.0 access token (`canopy_oat_…`), for applications that act "
        f"for a person. `{issuer}/.well-known/oauth-authorization-server` tells programs more.",
        "flows": {
            "authorizationCode": {
                "authorizationUrl": f"{issuer}/oauth/authorize",
                "tokenUrl": f"{issuer}/oauth/token",
                "refreshUrl": f"{issuer}/oauth/token",
                "scopes": SCOPES,
            }
        },
    }


def permission_sentence(needs: str) -> str:
    """What the description of an operation says of its permission."""
    if needs == ANY_CREDENTIAL:
        return "Needs any valid credential."
    if needs == PROFILE:
        return "Needs any valid credential; an OAuth token needs the scope `profile`."
    return f"Needs the permission `{needs}` ({PERMISSIONS[needs].lower()})."


def _success_headers(method: str, status: int, schema: type[ma.Schema] | None) -> list[str]:
    names = [*_EVERYWHERE]
    names += ["Idempotency-Replayed"] if method in REPEATABLE else []
    names += ["ETag", "Cache-Control"] if is_enveloped(schema) else []
    names += ["Location"] if status == 201 else []
    names += ["Link"] if getattr(schema, "paged", False) else []
    return names


def _header_refs(*names: str) -> dict[str, Any]:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}


def _refusal(kind: type[ApiError]) -> dict[str, Any]:
    names = [*_EVERYWHERE]
    names += ["WWW-Authenticate"] if kind.status == 401 else []
    names += ["Retry-After"] if kind.status in (429, 503) else []
    names += ["Idempotency-Replayed"] if kind.status in (400, 404, 409, 412, 422) else []
    example = {
        "error": {"code": kind.code, "message": kind.default_message, "details": []},
        "meta": {"request_id": "req_01k9zq3mgse2j7tbyw5c4r8nhd"},
    }
    return {
        "description": kind.default_message,
        "headers": _header_refs(*names),
        "content": {"application/json": {"schema": ErrorSchema, "example": example}},
    }

"""The errors of requests.

::

    ApiError                     status  code
    ├── BadRequest                  400  VALIDATION_ERROR     cannot be parsed; a query parameter
    ├── Unauthorized                401  UNAUTHORIZED         no valid credential
    ├── Forbidden                   403  FORBIDDEN            lacks a permission; a limit is reached
    ├── NotFound                    404  NOT_FOUND            absent, or of another account
    ├── MethodNotAllowed            405  METHOD_NOT_ALLOWED
    ├── Conflict                    409  CONFLICT             a state or a name stands against it
    ├── PreconditionFailed          412  PRECONDITION_FAILED  If-Match does not hold
    ├── PayloadTooLarge             413  PAYLOAD_TOO_LARGE
    ├── UnsupportedMediaType        415  UNSUPPORTED_MEDIA_TYPE
    ├── ValidationFailed            422  VALIDATION_ERROR     fields are wrong
    │   └── InvalidField            422  VALIDATION_ERROR     one field is wrong
    ├── RateLimited                 429  RATE_LIMITED
    ├── InternalError               500  INTERNAL_ERROR
    └── ServiceUnavailable          503  SERVICE_UNAVAILABLE  cannot be done now

Raised anywhere below the routes; ``app.api.error_handlers`` renders them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar, Final

from app.policy.causes import CONFLICTS, FORBIDDEN

BEARER: Final = 'Bearer realm="canopy"'  # the challenge to send a token (RFC 6750, section 3)


@dataclass(frozen=True, slots=True)
class Detail:
    """One problem of one field; ``field`` is a dotted path such as ``geometry.coordinates``.

    ``code`` is the cause, mostly one of ``app.policy.causes``, and ``id`` is that of the other
    resource in a conflict.
    """

    field: str
    message: str
    code: str
    id: str | None = None


class ApiError(Exception):
    """An error response, with its status, code and message."""

    status: ClassVar[int] = 500
    code: ClassVar[str] = "INTERNAL_ERROR"
    default_message: ClassVar[str] = "Something went wrong on our side. The error has been logged."

    def __init__(
        self,
        message: str | None = None,
        *,
        details: Iterable[Detail] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self.message = message or self.default_message
        self.details = list(details)
        self.headers = dict(headers or {})
        super().__init__(self.message)


class BadRequest(ApiError):
    status = 400
    code = "VALIDATION_ERROR"
    default_message = "The request is malformed."


class Unauthorized(ApiError):
    """A 401, which says how to authenticate (RFC 9110, section 11.6.1; RFC 6750, section 3)."""

    status = 401
    code = "UNAUTHORIZED"
    default_message = (
        "Authentication is required: send 'Authorization: Bearer <token>' with an API key, "
        "an OAuth access token or a service token."
    )

    def __init__(
        self, message: str | None = None, *, challenge: str = "", scheme: str = BEARER
    ) -> None:
        value = f'{scheme}, error="{challenge}"' if challenge else scheme
        super().__init__(message, headers={"WWW-Authenticate": value})


class Forbidden(ApiError):
    """A 403, whose one detail has the cause.

    Args:
        cause: one of ``FORBIDDEN``.
        reason: the message of the detail, if it says more than that of the error.
    """

    status = 403
    code = "FORBIDDEN"
    default_message = "This credential does not allow this."

    def __init__(
        self,
        cause: str,
        message: str,
        reason: str | None = None,
        *,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        assert cause in FORBIDDEN, cause
        details = [Detail("", reason or message, cause)]
        super().__init__(message, details=details, headers=headers)


class NotFound(ApiError):
    status = 404
    code = "NOT_FOUND"
    default_message = "This URL does not exist."


class MethodNotAllowed(ApiError):
    status = 405
    code = "METHOD_NOT_ALLOWED"
    default_message = (
        "This URL does not support this method. The Allow header lists those that it supports."
    )


class Conflict(ApiError):
    """A 409, whose one detail has the cause.

    Args:
        cause: one of ``CONFLICTS``.
        field: the conflicting field or header.
        id: the id of the other resource, if the caller may see it.
    """

    status = 409
    code = "CONFLICT"
    default_message = "This conflicts with the current state of the resource."

    def __init__(self, cause: str, field: str, message: str, *, id: str | None = None) -> None:
        assert cause in CONFLICTS, cause
        super().__init__(message, details=[Detail(field, message, cause, id)])


class PreconditionFailed(ApiError):
    status = 412
    code = "PRECONDITION_FAILED"
    default_message = (
        "The resource has changed since you read it. Read it again, then repeat your change."
    )


class PayloadTooLarge(ApiError):
    status = 413
    code = "PAYLOAD_TOO_LARGE"
    default_message = "The body is too large."


class UnsupportedMediaType(ApiError):
    status = 415
    code = "UNSUPPORTED_MEDIA_TYPE"
    default_message = "Send the body as JSON, with 'Content-Type: application/json'."


class ValidationFailed(ApiError):
    status = 422
    code = "VALIDATION_ERROR"
    default_message = "Some fields are invalid. See details."


class InvalidField(ValidationFailed):
    """A 422 with one detail, of the field that is wrong."""

    def __init__(self, field: str, message: str, code: str) -> None:
        super().__init__(details=[Detail(field, message, code)])


class RateLimited(ApiError):
    status = 429
    code = "RATE_LIMITED"
    default_message = "Too many requests. Retry-After says how long to wait."


class InternalError(ApiError):
    pass


class ServiceUnavailable(ApiError):
    status = 503
    code = "SERVICE_UNAVAILABLE"
    default_message = "The service is temporarily unavailable. Try again shortly."

    def __init__(self, message: str | None = None, *, retry_after: int = 2) -> None:
        super().__init__(message, headers={"Retry-After": str(retry_after)})

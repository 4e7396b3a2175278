"""/v1/auth/verify and /v1/me."""

from __future__ import annotations

from flask import Response

from app.account.credentials import service
from app.account.credentials.schemas import CallerSchema, VerificationSchema
from app.api import envelope
from app.api.blueprint import ApiBlueprint
from app.api.error_handlers import render_error
from app.api.openapi.components import INVALID_CREDENTIAL
from app.api.schemas import single_of
from app.auth.guard import ANY_CREDENTIAL
from app.auth.principal import Principal
from app.http.errors import Unauthorized
from app.values.clock import format_optional_time

bp = ApiBlueprint("auth", "/v1", "Your credential.")


me_bp = ApiBlueprint("me", "/v1", "The caller.")


@me_bp.operation(
    "GET /me", needs=ANY_CREDENTIAL, of_some_projects=True, gives=(200, single_of(CallerSchema))
)
def read_caller(principal: Principal) -> Response:
    """Read the caller's account and person."""
    return envelope.record_response(service.read_caller(principal))


@bp.operation(
    "GET /auth/verify",
    needs=ANY_CREDENTIAL,
    of_some_projects=True,
    gives=(200, VerificationSchema),
    refusals={401: INVALID_CREDENTIAL},
)
def verify_credential(principal: Principal) -> Response:
    """Verify the credential.

    If it is not valid, the response is 401 with `valid: false`.
    """
    return envelope.bare_response(
        {
            "valid": True,
            "type": principal.kind,
            "permissions": sorted(principal.permissions),
            "account_id": principal.account_id,
            "expires_at": format_optional_time(principal.expires_at),
        }
    )


def _render_invalid(error: Unauthorized) -> Response:
    return render_error(error, valid=False)


bp.register_error_handler(Unauthorized, _render_invalid)

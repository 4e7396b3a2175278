"""/v1/account and /v1/auth/verify."""

from __future__ import annotations

from typing import Any

from flask import Response, request

from app.account import service
from app.account.schemas import (
    AccountSchema,
    AccountUpdateSchema,
    UsageSchema,
    VerificationSchema,
)
from app.api import envelope
from app.api.blueprint import ANY_CREDENTIAL, ApiBlueprint
from app.api.failures import render
from app.api.schemas import single_of
from app.auth.principal import Principal
from app.core.clock import shown_time
from app.core.errors import Unauthorized
from app.core.etags import IfMatch
from app.usage.service import statistics

bp = ApiBlueprint("account", __name__, url_prefix="/v1/account", description="The account.")
auth_bp = ApiBlueprint("auth", __name__, url_prefix="/v1/auth", description="Credentials.")


@bp.operation("GET", "", needs=ANY_CREDENTIAL, gives=(200, single_of(AccountSchema)))
def read_account(principal: Principal) -> Response:
    """Read the account."""
    return envelope.single(service.read_account(principal.account_id))


@bp.operation(
    "PUT",
    "",
    needs="admin",
    takes=AccountUpdateSchema,
    gives=(200, single_of(AccountSchema)),
    conditional=True,
)
def update_account(principal: Principal, values: dict[str, Any]) -> Response:
    """Change the account's name."""
    if_match = IfMatch(request.headers.get("If-Match"))
    return envelope.single(service.rename_account(principal, values, if_match))


@bp.operation("GET", "/usage", needs="billing:read", gives=(200, single_of(UsageSchema)))
def read_usage(principal: Principal) -> Response:
    """Read what the account uses."""
    return envelope.single(statistics(principal.account_id, principal.plan))


@auth_bp.operation("GET", "/verify", needs=ANY_CREDENTIAL, gives=(200, VerificationSchema))
def verify_credential(principal: Principal) -> Response:
    """Verify the credential."""
    return envelope.bare(
        {
            "valid": True,
            "type": principal.kind,
            "permissions": list(principal.granted),
            "account_id": principal.account_id,
            "expires_at": shown_time(principal.expires_at),
        }
    )


def _not_valid(refusal: Unauthorized) -> Response:
    return render(refusal, valid=False)


auth_bp.register_error_handler(Unauthorized, _not_valid)

"""/v1/account/export."""

from __future__ import annotations

from typing import Any

from flask import Response

from app.api.blueprint import ApiBlueprint
from app.auth.principal import Principal
from app.exports.account_export.responses import archive_response
from app.policy.files import BINARY
from app.values.schemas import QuerySchema

bp = ApiBlueprint("account-export", "/v1/account", "Everything in your account as one archive.")


class AccountExportQuerySchema(QuerySchema):
    """No parameters. Any is rejected before the export is logged."""


@bp.operation(
    "GET /export",
    needs="admin",
    query=AccountExportQuerySchema,
    gives=(200, None),
    files={BINARY: "PK"},
)
def export_account(principal: Principal, _: dict[str, Any]) -> Response:
    """Export the account.

    The response is a zip of files for other programs: projects and assets as GeoJSON, everything
    else as JSON. Its `README.txt` describes each file. The export is in the audit log. An
    incomplete archive cannot be opened. While another export runs, the response is 503.
    """
    return archive_response(principal.account_id)

"""The route to which changes made with SQL are reported."""

from __future__ import annotations

from flask import Blueprint, Response

from app.api import web_routes
from app.database_webhook.schemas import RowChangeSchema
from app.database_webhook.service import RowChange, apply_change
from app.db.transactions import transaction
from app.settings.current import current_settings

bp = Blueprint("row_changes", __name__, url_prefix="/api/db")


@bp.post("/webhook")
def receive_row_change() -> Response:
    """Receive a report of a row changed with SQL, signed with DB_WEBHOOK_SECRET."""
    web_routes.verify_signature(current_settings().db_webhook_secret, "DB_WEBHOOK_SECRET")
    change = RowChange(**web_routes.read_body(RowChangeSchema))
    with transaction():
        is_applied = apply_change(change)
    result = "applied" if is_applied else "ignored"
    return web_routes.json_response({"received": True, "result": result})

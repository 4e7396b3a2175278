"""The route by which the database, or a script beside it, reports a row that changed."""

from __future__ import annotations

from flask import Blueprint, Response, current_app

from app.api import web_routes
from app.database_webhook import service
from app.database_webhook.change import Change
from app.database_webhook.schemas import RowChangeSchema
from app.db.transactions import transaction

bp = Blueprint("row_changes", __name__, url_prefix="/api/db")


@bp.post("/webhook")
def receive_row_change() -> Response:
    """Receive a report of a row changed with SQL, signed with DB_WEBHOOK_SECRET."""
    web_routes.verify_signature(
        current_app.config["SETTINGS"].db_webhook_secret, "DB_WEBHOOK_SECRET"
    )
    change = Change(**web_routes.read_body(RowChangeSchema))
    with transaction():
        result = service.apply_change(change)
    return web_routes.json_response({"received": True, "result": result})

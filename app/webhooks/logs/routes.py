"""/v1/webhooks/{webhook_id}/logs."""

from __future__ import annotations

from typing import Any

from flask import Response

from app.api import envelope
from app.api.blueprint import ApiBlueprint
from app.api.schemas import page_of, single_of
from app.auth.principal import Principal
from app.webhooks.logs import listing, service
from app.webhooks.logs.filters import LogQuery
from app.webhooks.logs.schemas import LogDetailSchema, LogQuerySchema, LogSchema, RedeliverySchema
from app.webhooks.service import check_webhook

bp = ApiBlueprint(
    "webhook-logs", "/v1/webhooks/<webhook_id>/logs", "The delivery attempts of a webhook."
)
_ONE = "/<log_id>"


@bp.operation(
    "GET",
    needs="admin",
    precheck=check_webhook,
    query=LogQuerySchema,
    gives=(200, page_of(LogSchema)),
)
def list_webhook_logs(principal: Principal, values: dict[str, Any], webhook_id: str) -> Response:
    """List the delivery attempts of a webhook."""
    query = LogQuery(**values)
    records, total = listing.list_delivery_logs(principal.account_id, webhook_id, query)
    return envelope.page_response(records, total=total, number=query.page, size=query.per_page)


@bp.operation(f"GET {_ONE}", needs="admin", gives=(200, single_of(LogDetailSchema)))
def read_webhook_log(principal: Principal, webhook_id: str, log_id: str) -> Response:
    """Read a delivery attempt."""
    return envelope.record_response(service.read_log(principal.account_id, webhook_id, log_id))


@bp.operation(
    f"POST {_ONE}/redeliver",
    needs="admin",
    precheck=service.check_log,
    gives=(200, single_of(RedeliverySchema)),
    conflicts=True,
)
def redeliver(principal: Principal, webhook_id: str, log_id: str) -> Response:
    """Redeliver an event.

    Sends the event of this attempt once more, at once. There are no retries.
    """
    return envelope.record_response(service.redeliver(principal, webhook_id, log_id))

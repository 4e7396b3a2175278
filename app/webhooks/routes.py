"""/v1/webhooks."""

from __future__ import annotations

from typing import Any

from flask import Response

from app.api import envelope
from app.api.blueprint import ApiBlueprint
from app.api.schemas import single_of, whole_of
from app.auth.principal import Principal
from app.http.etags import entity_tag
from app.policy.events import TEST_EVENT
from app.values.strict_json import dumps
from app.webhooks import service
from app.webhooks.schemas import (
    QueuedTestSchema,
    RotationInputSchema,
    RotationSchema,
    WebhookCreateSchema,
    WebhookSchema,
    WebhookUpdateSchema,
    WebhookWithSecretSchema,
)
from app.webhooks.service import WithSecret

bp = ApiBlueprint("webhooks", "/v1/webhooks", "URLs that receive events.")
_ONE = "/<webhook_id>"
_RESPONSE = (200, single_of(WebhookSchema))


@bp.operation("GET", needs="admin", gives=(200, whole_of(WebhookSchema)))
def list_webhooks(principal: Principal) -> Response:
    """List the webhooks of the account."""
    return envelope.complete_list(service.list_webhooks(principal.account_id))


@bp.operation(f"GET {_ONE}", needs="admin", gives=_RESPONSE)
def read_webhook(principal: Principal, webhook_id: str) -> Response:
    """Read a webhook."""
    return envelope.record_response(service.read_webhook(principal.account_id, webhook_id))


@bp.operation(
    "POST",
    needs="admin",
    takes=WebhookCreateSchema,
    gives=(201, single_of(WebhookWithSecretSchema)),
)
def create_webhook(principal: Principal, values: dict[str, Any]) -> Response:
    """Create a webhook.

    The response shows the `secret` that deliveries are signed with. Store it: no other
    response shows it again.
    """
    created = service.create_webhook(principal, **values)
    return _with_secret(created, status=201, location=f"/v1/webhooks/{created.record['id']}")


@bp.operation(
    f"PUT {_ONE}",
    needs="admin",
    precheck=service.check_webhook,
    takes=WebhookUpdateSchema,
    gives=_RESPONSE,
)
def update_webhook(principal: Principal, values: dict[str, Any], webhook_id: str) -> Response:
    """Update, enable or disable a webhook."""
    return envelope.record_response(service.update_webhook(principal, webhook_id, values))


@bp.operation(f"DELETE {_ONE}", needs="admin", precheck=service.check_webhook, gives=(204, None))
def delete_webhook(principal: Principal, webhook_id: str) -> Response:
    """Delete a webhook."""
    service.delete_webhook(principal, webhook_id)
    return envelope.empty_response()


@bp.operation(
    f"POST {_ONE}/test",
    needs="admin",
    precheck=service.check_webhook,
    gives=(200, single_of(QueuedTestSchema)),
)
def send_test(principal: Principal, webhook_id: str) -> Response:
    """Send a test event to a webhook.

    The event has the type `webhook.test`. It is sent to disabled webhooks too.
    """
    event_id = service.send_test(principal, webhook_id)
    queued = {"event_id": event_id, "event_type": TEST_EVENT, "status": "queued"}
    return envelope.record_response(queued)


@bp.operation(
    f"POST {_ONE}/rotate-secret",
    needs="admin",
    precheck=service.check_webhook,
    takes=RotationInputSchema,
    gives=(200, single_of(RotationSchema)),
)
def rotate_webhook_secret(
    principal: Principal, values: dict[str, Any], webhook_id: str
) -> Response:
    """Rotate the secret of a webhook.

    The response shows the new `secret`. For `overlap_hours`, deliveries are signed with
    both secrets, so that receivers can change over.
    """
    return _with_secret(service.rotate_secret(principal, webhook_id, **values))


def _with_secret(webhook: WithSecret, **options: Any) -> Response:
    """Make a response with a secret. It must not be cached, and its entity tag depends on the
    record only, so that it does not help to guess the secret."""
    response = envelope.record_response(webhook.record | {"secret": webhook.secret}, **options)
    response.headers["ETag"] = entity_tag([dumps(webhook.record)])
    response.headers["Cache-Control"] = "no-store"
    return response

"""/v1/webhooks/{webhook_id}/replay and …/replays/{replay_id}."""

from __future__ import annotations

from typing import Any

from flask import Response

from app.api import envelope
from app.api.blueprint import ApiBlueprint
from app.api.schemas import single_of
from app.auth.principal import Principal
from app.webhooks.replays import service
from app.webhooks.replays.schemas import ReplayInputSchema, ReplayProgressSchema, ReplaySchema
from app.webhooks.replays.service import EventSelection
from app.webhooks.service import check_webhook

bp = ApiBlueprint(
    "webhook-replays", "/v1/webhooks/<webhook_id>", "Past events, sent to a webhook again."
)


@bp.operation(
    "POST /replay",
    needs="admin",
    precheck=check_webhook,
    takes=ReplayInputSchema,
    gives=(200, single_of(ReplaySchema)),
    conflicts=True,
)
def replay_events(principal: Principal, values: dict[str, Any], webhook_id: str) -> Response:
    """Replay past events to a webhook.

    Sends the events from `since` to `until` again, with the ids that they had.
    `only_failed` selects those that the webhook never received.
    """
    return envelope.record_response(
        service.start_replay(principal, webhook_id, EventSelection(**values))
    )


@bp.operation(
    "GET /replays/<replay_id>", needs="admin", gives=(200, single_of(ReplayProgressSchema))
)
def read_replay(principal: Principal, webhook_id: str, replay_id: str) -> Response:
    """Read how far a replay is.

    The last one to a webhook can be read, until the next one begins or the webhook is disabled.
    """
    return envelope.record_response(
        service.read_replay(principal.account_id, webhook_id, replay_id)
    )

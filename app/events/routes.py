"""/v1/events and /v1/event-types."""

from __future__ import annotations

from typing import Any

from flask import Response

from app.api import envelope
from app.api.blueprint import ApiBlueprint
from app.api.schemas import page_of, single_of, whole_of
from app.auth.guard import ANY_CREDENTIAL
from app.auth.principal import Principal
from app.events import catalogue, listing
from app.events.listing import EventQuery
from app.events.schemas import EventQuerySchema, EventSchema, EventTypeSchema

bp = ApiBlueprint("events", "/v1", "What happened in the account, as webhooks receive it.")


@bp.operation(
    "GET /events", needs="admin", query=EventQuerySchema, gives=(200, page_of(EventSchema))
)
def list_events(principal: Principal, values: dict[str, Any]) -> Response:
    """List events.

    The newest come first.
    """
    query = EventQuery(**values)
    records, total = listing.list_events(principal.account_id, query)
    return envelope.page_response(records, total=total, number=query.page, size=query.per_page)


@bp.operation("GET /events/<event_id>", needs="admin", gives=(200, single_of(EventSchema)))
def read_event(principal: Principal, event_id: str) -> Response:
    """Read an event."""
    return envelope.record_response(listing.read_event(principal.account_id, event_id))


@bp.operation(
    "GET /event-types",
    needs=ANY_CREDENTIAL,
    of_some_projects=True,
    gives=(200, whole_of(EventTypeSchema)),
)
def list_event_types(_: Principal) -> Response:
    """List event types.

    Each has a JSON Schema of the whole event, and an example.
    """
    return envelope.complete_list(catalogue.event_types())

"""What the API shows of an account is in its archive, or it is said why it is not."""

from __future__ import annotations

from typing import Final

from app.policy.account_export import FILES
from tests.api.operations import operations

# The file that has what an operation gives.
PLACES: Final = {
    "GET /v1/account": "account.json",
    "GET /v1/account/members": "members.json",
    "GET /v1/account/members/<member_id>": "members.json",
    "GET /v1/account/usage": "account.json",
    "GET /v1/account/usage/requests": "usage.json",
    "GET /v1/assets": "assets.geojson",
    "GET /v1/audit-log": "audit-log.ndjson",
    "GET /v1/audit-log/<entry_id>": "audit-log.ndjson",
    "GET /v1/audit-log/checkpoints": "audit-log.ndjson",
    "GET /v1/audit-log/keys": "audit-log.ndjson",
    "GET /v1/events": "events.ndjson",
    "GET /v1/events/<event_id>": "events.ndjson",
    "GET /v1/exports/assets": "assets.geojson",
    "GET /v1/eudr": "projects.geojson",
    "GET /v1/exports/projects": "projects.geojson",
    "GET /v1/imports": "imports.json",
    "GET /v1/imports/<import_id>": "imports.json",
    "GET /v1/imports/<import_id>/features": "import-features.ndjson",
    "GET /v1/projects": "projects.geojson",
    "GET /v1/projects/<project_id>": "projects.geojson",
    "GET /v1/projects/<project_id>/assets": "assets.geojson",
    "GET /v1/projects/<project_id>/assets/<asset_id>": "assets.geojson",
    "GET /v1/projects/<project_id>/boundaries": "boundary-history.ndjson",
    "GET /v1/projects/<project_id>/boundaries/<boundary_id>": "boundary-history.ndjson",
    "GET /v1/webhooks": "webhooks.json",
    "GET /v1/webhooks/<webhook_id>": "webhooks.json",
    "GET /v1/webhooks/<webhook_id>/logs": "webhook-attempts.ndjson",
    "GET /v1/webhooks/<webhook_id>/logs/<log_id>": "webhook-attempts.ndjson",
    "GET /v1/webhooks/<webhook_id>/replays/<replay_id>": "webhooks.json",
}
REASONS: Final = {
    "GET /v1/account/export": "the archive",
    "GET /v1/auth/verify": "says what the credential of the request may do",
    "GET /v1/event-types": "of the service, not of an account",
    "GET /v1/me": "says whose the credential of the request is",
    "GET /v1/projects/<project_id>/overlaps": "follows from the boundaries",
    "GET /v1/projects/map": "likewise",
}


def test_each_operation_has_its_place_or_its_reason() -> None:
    assert not PLACES.keys() & REASONS.keys()
    reading = {each.name for each in operations() if each.method == "GET"}
    assert PLACES.keys() | REASONS.keys() == reading
    assert set(PLACES.values()) <= FILES.keys()

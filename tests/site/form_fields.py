"""The forms of pages, and a value for each of their fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from app.policy.fields import PROJECT
from app.site.protection import FormLimits
from app.values.strict_json import dumps
from tests.api.operations import bare_app
from tests.make import square

TOKENS: Final = ("/oauth/token", "/oauth/revoke", "/oauth/introspect")
_RECORD: Final = {
    "metadata_name": "note",
    "metadata_value": "by the road",
    "metadata_was": "",
    "name": "Beech stand",
    "status": "active",
    "version": "",
}
_TYPED: Final = {field.name: "" for field in PROJECT if field.writable == "always"}
_PROJECT: Final = _TYPED | _RECORD | {"geometry": dumps(square()).decode()}
_ASSET: Final = _RECORD | {
    "latitude": "0.5",
    "longitude": "0.5",
    "project": "",
    "project_id": "",
    "then": "another",
    "type": "monitoring_station",
}
_CREDENTIAL: Final = {
    "is_search": "",
    "mark": "x",
    "name": "Nightly",
    "permissions": "projects:read",
    "project_ids": "proj_01arz3ndektsv4rrffq69g5fav",
    "scope": "some",
    "search": "",
}
_APPLICATION: Final = {
    "end_access": "profile",
    "name": "Map of Woods",
    "redirect_uris": "https://client.example/back",
    "scopes": "projects:read",
}
_WEBHOOK: Final = {
    "description": "",
    "enabled": "true",
    "events": "project.created",
    "url": "https://hooks.example.org/canopy",
    "which": "chosen",
}
_SELECTION: Final = {"back": "/projects", "ids": "proj_01arz3ndektsv4rrffq69g5fav"}
_FACTOR: Final = {
    "second_factor_code": "123456",
    "second_factor_passkey": "{}",
    "second_factor_recovery_code": "0123-4567-89ab-cdef",
}
# A value of each field of a form. Without the others a form may be refused for these.
FIELDS_OF: Final[Mapping[str, Mapping[str, str]]] = {
    "/api-keys/new": _CREDENTIAL | {"expires_on": "2027-01-31", "life": "date"},
    "/applications/<app_id>": _APPLICATION,
    "/applications/<app_id>/secret": {"mark": "x", "overlap_hours": "24"},
    "/applications/new": _APPLICATION | {"kind": "secret", "mark": "x"},
    "/assets/<project_id>/<asset_id>/edit": _ASSET,
    "/assets/<project_id>/<asset_id>/status": {"status": "active"},
    "/assets/export": _SELECTION | {"format": "csv"},
    "/assets/new": _ASSET,
    "/audit-log/export": {
        "action": "project.updated",
        "actor_id": "user_01arz3ndektsv4rrffq69g5fav",
        "format": "csv",
        "since": "2026-01-31T02:15",
        "target_id": "proj_01arz3ndektsv4rrffq69g5fav",
        "until": "2027-01-31T02:15",
    },
    "/eudr": {"ids": "proj_01arz3ndektsv4rrffq69g5fav"},
    "/eudr/fill": {
        "before": "0",
        "code": "producer_missing",
        "field": "",
        "ids": "proj_01arz3ndektsv4rrffq69g5fav",
        "measure": "",
        "message": "",
        "named": "",
        "only": "proj_01arz3ndektsv4rrffq69g5fav",
        "set": "",
        "skipped": "",
        "value": "Ama Mensah",
        "which": "all",
    },
    "/imports/<import_id>/apply": {"looked_at": ""},
    "/imports/<import_id>/change": {
        "close_lines": "true",
        "column_external_id": "0",
        "column_name": "0",
        "crs": "other",
        "epsg": "32632",
        "layer": "0",
        "match": "external_id",
        "metadata": "chosen",
        "metadata_column": "0",
        "read_layer": "",
    },
    "/imports/<import_id>/leave-out": {"kept": "1", "listed": "1,2"},
    "/imports/new": {"kind": "projects", "project_id": "", "search": ""},
    "/login/second-factor": _FACTOR,
    "/members/<member_id>/remove": {"was_joined_at": "", "was_role": "viewer"},
    "/members/<member_id>/role": {"role": "viewer", "was_joined_at": "", "was_role": "viewer"},
    "/operator/accounts/<account_id>/plan": {"plan": "pro", "was_plan": "free"},
    "/operator/log/export": {
        "action": "instance.backed_up",
        "actor_id": "user_01arz3ndektsv4rrffq69g5fav",
        "format": "csv",
        "since": "2026-01-31T02:15",
        "target_id": "acct_01arz3ndektsv4rrffq69g5fav",
        "until": "2027-01-31T02:15",
    },
    "/operator/map": {"name": "osm", "place": "last"},
    "/operator/message": {
        "kind": "information",
        "text": "Canopy is upgraded tonight.",
        "until": "2027-01-31T02:15",
    },
    "/operator/sign-up": {"closed": "yes"},
    "/profile/second-factor/authenticator/confirm": {"code": "123456", "mark": "x", "setup": "x"},
    "/profile/second-factor/off": _FACTOR | {"confirm_password": "not the right one"},
    "/profile/second-factor/passkeys": {"mark": "x", "name": "Phone", "response": "{}"},
    "/profile/deletion": _FACTOR | {"confirm_password": "not it", "confirmation": "not it"},
    "/profile/times": {"locale": "sv-SE", "area_unit": "acres", "time_zone": "Europe/Berlin"},
    "/projects/<project_id>/edit": _PROJECT,
    "/projects/archive": _SELECTION,
    "/projects/check": {"geometry": _PROJECT["geometry"], "project_id": ""},
    "/projects/export": _SELECTION | {"format": "csv"},
    "/projects/new": _PROJECT,
    "/projects/restore": _SELECTION,
    "/service-tokens/new": _CREDENTIAL | {"ip_allowlist": "203.0.113.7"},
    "/settings": {"name": "Hazel Woods", "was_name": "Hazel Wood"},
    "/settings/deletion": _FACTOR | {"confirm_password": "not it", "confirmation": "not it"},
    "/settings/second-factor": {"grace_days": "7", "required": "yes"},
    "/webhooks/<webhook_id>/edit": _WEBHOOK,
    "/webhooks/<webhook_id>/replay": {
        "event_types": "project.created",
        "only_failed": "true",
        "since": "2026-01-02T03:04",
        "until": "",
        "which": "chosen",
    },
    "/webhooks/<webhook_id>/rotate": {"mark": "x", "overlap_hours": "24"},
    "/webhooks/new": _WEBHOOK | {"mark": "x", "secret": ""},
}
# Likewise of all other forms.
FIELDS: Final = {
    "account_id": "acct_01arz3ndektsv4rrffq69g5fav",
    "account_name": "Hazel Woods",
    "account_slug": "",
    "application_id": "app_01arz3ndektsv4rrffq69g5fav",
    "decision": "perhaps",
    "email": "nobody@example.org",
    "mark": "x",
    "name": "Jo Hazel",
    "new_password": "lichen over young firs",
    "password": "not the right one",
    "role": "viewer",
}


def page_rules() -> dict[str, FormLimits]:
    """The addresses to which forms of pages lead, and what may be large there."""
    app = bare_app()
    found = dict[str, FormLimits]()
    for rule in sorted(app.url_map.iter_rules(), key=str):
        is_page = not rule.rule.startswith(("/v1/", "/api/", *TOKENS))
        if "POST" in (rule.methods or ()) and is_page:
            view = app.view_functions[rule.endpoint]
            found[rule.rule] = getattr(view, "form_limits", FormLimits())
    return found

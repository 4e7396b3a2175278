"""The content of each file of an archive, by its name in ``app.policy.account_export.FILES``.

The files have everything that the API shows of an account. The tests compare both, and list what
is left out, with the reason.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict
from functools import partial
from typing import Any, Final

from app.account.billing.service import read_billing
from app.account.credentials.service import list_credentials
from app.account.lookup import read_account
from app.account.members.service import list_members
from app.audit.log.files import write_file
from app.audit.log.filters import EntryQuery
from app.events.listing import scan_events
from app.exports.account_export.json_files import (
    AccountReader,
    FileContent,
    from_list,
    from_scan,
    json_array,
    json_object,
    ndjson_file,
)
from app.exports.service import Export, write_export
from app.http.errors import NotFound
from app.imports.listing import scan_features, scan_imports
from app.limits.plan_file import plan_of
from app.oauth.applications.service import list_applications
from app.oauth.consents import consents_of_account
from app.people.second_factor.requirement import requirement_of
from app.projects.boundary_history.listing import scan_boundaries
from app.usage.requests import known_days, read_requests, requests_record
from app.usage.statistics import usage_statistics
from app.values.clock import format_optional_time
from app.webhooks.logs.listing import scan_logs
from app.webhooks.replays.service import last_replay
from app.webhooks.service import list_webhooks


def _account_record(account_id: str) -> dict[str, Any]:
    account, requirement = read_account(account_id), requirement_of(account_id)
    return {
        "account": account,
        "limits": asdict(plan_of(account["plan"])),
        "usage": usage_statistics(account_id, account["plan"]),
        "second_factor": {
            "required_since": format_optional_time(requirement.since),
            "grace_days": requirement.grace_days,
        },
    }


def _usage_record(account_id: str) -> dict[str, Any]:
    requests = read_requests(account_id, known_days(account_id), sys.maxsize)
    return {"requests": requests_record(requests)}


def _webhook_records(account_id: str) -> list[dict[str, Any]]:
    webhooks = list_webhooks(account_id)
    return [
        webhook | {"last_replay": _last_replay(account_id, webhook["id"])} for webhook in webhooks
    ]


def _last_replay(account_id: str, webhook_id: str) -> dict[str, Any] | None:
    try:
        return last_replay(account_id, webhook_id)
    except NotFound:  # the webhook was just deleted
        return None


def _export_file(kind: str) -> FileContent:
    """The file of an export, which can be imported again."""

    def write(reader: AccountReader) -> Iterator[bytes]:
        export = Export(kind, "geojson", reader.account_id)
        with closing(write_export(export, reader.app, reader.count).pieces) as pieces:
            yield from pieces

    return write


def _audit_log(reader: AccountReader) -> Iterator[bytes]:
    with closing(write_file(reader.app, reader.account_id, "ndjson", EntryQuery())) as pieces:
        for piece in pieces:
            reader.count(piece.count(b"\n"))
            yield piece


CONTENTS: Final[dict[str, FileContent]] = {
    "account.json": json_object(_account_record),
    "members.json": json_array(from_list(list_members)),
    "projects.geojson": _export_file("projects"),
    "assets.geojson": _export_file("assets"),
    "boundary-history.ndjson": ndjson_file(from_scan(scan_boundaries)),
    "imports.json": json_array(from_scan(scan_imports)),
    "import-features.ndjson": ndjson_file(from_scan(scan_features)),
    "api-keys.json": json_array(from_list(partial(list_credentials, kind="api_key"))),
    "service-tokens.json": json_array(from_list(partial(list_credentials, kind="service_token"))),
    "applications.json": json_array(from_list(list_applications)),
    "application-access.json": json_array(from_list(consents_of_account)),
    "webhooks.json": json_array(from_list(_webhook_records)),
    "webhook-attempts.ndjson": ndjson_file(from_scan(scan_logs)),
    "events.ndjson": ndjson_file(from_scan(scan_events)),
    "usage.json": json_object(_usage_record),
    "billing.json": json_object(read_billing),
    "audit-log.ndjson": _audit_log,
}

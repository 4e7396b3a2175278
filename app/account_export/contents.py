"""What is in the files of an archive, by their names in ``app.policy.account_export.FILES``.

Everything that the API shows of the account is in one of them; the tests compare both, and list
what is left out of each table, with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict
from functools import partial
from typing import Any, Final

from app.account.service import read_account
from app.account_export.reading import Content, Reading, Records, array, document, lines
from app.applications.service import list_applications
from app.audit_log.service import EntryQuery
from app.audit_log.service import export as export_audit_log
from app.billing.service import read_billing
from app.credentials.service import list_credentials
from app.events.service import scan_events
from app.exports.service import Export, write_export
from app.history.service import scan_boundaries
from app.http.errors import NotFound
from app.imports.service import scan_features, scan_imports
from app.limits.plan_file import plan_of
from app.listing.batches import Readable
from app.members.service import list_members
from app.oauth.service import consents_of_account
from app.second_factor.requirement import requirement_of
from app.usage.service import (
    deprecation_record,
    known_days,
    read_deprecations,
    read_requests,
    requests_record,
    statistics,
)
from app.values.clock import format_optional_time
from app.webhooks.logs.service import scan_logs
from app.webhooks.replays.service import last_replay
from app.webhooks.service import list_webhooks


def _listed(read: Callable[[str], Sequence[Any]]) -> Callable[[Reading], Records]:
    return lambda reading: reading.listed(read)


def _scanned(begin: Callable[[str], Readable[Any]]) -> Callable[[Reading], Records]:
    return lambda reading: reading.scanned(begin)


def _account(account_id: str) -> dict[str, Any]:
    account, requirement = read_account(account_id), requirement_of(account_id)
    return {
        "account": account,
        "limits": asdict(plan_of(account["plan"])),
        "usage": statistics(account_id, account["plan"]),
        "second_factor": {
            "required_since": format_optional_time(requirement.since),
            "grace_days": requirement.grace_days,
        },
    }


def _usage(account_id: str) -> dict[str, Any]:
    requests = read_requests(account_id, known_days(account_id))
    deprecations = map(deprecation_record, read_deprecations(account_id))
    return {"requests": requests_record(requests), "deprecations": list(deprecations)}


def _webhooks(account_id: str) -> list[dict[str, Any]]:
    webhooks = list_webhooks(account_id)
    return [each | {"last_replay": _last_replay(account_id, each["id"])} for each in webhooks]


def _last_replay(account_id: str, webhook_id: str) -> dict[str, Any] | None:
    try:
        return last_replay(account_id, webhook_id)
    except NotFound:  # the webhook was deleted meanwhile
        return None


def _layer(kind: str) -> Content:
    """The same file as that of an export, which can be imported again."""

    def write(reading: Reading) -> Iterator[bytes]:
        export = Export(kind, "geojson", reading.account_id)
        with closing(write_export(export, reading.app, reading.count).pieces) as pieces:
            yield from pieces

    return write


def _audit_log(reading: Reading) -> Iterator[bytes]:
    found = export_audit_log(reading.app, reading.account_id, "ndjson", EntryQuery())
    with closing(found) as pieces:
        for piece in pieces:
            reading.count(piece.count(b"\n"))
            yield piece


CONTENTS: Final[dict[str, Content]] = {
    "account.json": document(_account),
    "members.json": array(_listed(list_members)),
    "projects.geojson": _layer("projects"),
    "assets.geojson": _layer("assets"),
    "boundary-history.ndjson": lines(_scanned(scan_boundaries)),
    "imports.json": array(_scanned(scan_imports)),
    "import-features.ndjson": lines(_scanned(scan_features)),
    "api-keys.json": array(_listed(partial(list_credentials, kind="api_key"))),
    "service-tokens.json": array(_listed(partial(list_credentials, kind="service_token"))),
    "applications.json": array(_listed(list_applications)),
    "application-access.json": array(_listed(consents_of_account)),
    "webhooks.json": array(_listed(_webhooks)),
    "webhook-attempts.ndjson": lines(_scanned(scan_logs)),
    "events.ndjson": lines(_scanned(scan_events)),
    "usage.json": document(_usage),
    "billing.json": document(read_billing),
    "audit-log.ndjson": _audit_log,
}

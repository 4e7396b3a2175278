"""/v1/audit-log."""

from __future__ import annotations

from typing import Any, Final

from flask import Response

from app.api import envelope
from app.api.blueprint import ApiBlueprint
from app.api.query_schemas import PageQuerySchema
from app.api.schemas import page_of, single_of, whole_of
from app.audit.log import checkpoints, keys, listing, service
from app.audit.log.filters import EntryQuery
from app.audit.log.responses import file_response
from app.audit.log.schemas import (
    AuditCheckpointSchema,
    AuditEntrySchema,
    AuditKeySchema,
    AuditLogQuerySchema,
)
from app.auth.principal import Principal

bp = ApiBlueprint("audit-log", "/v1/audit-log", "Who did what in the account.")

# The beginning of each file, for the description of the API.
_FILES: Final = {
    "application/x-ndjson": '{"audit_log":{"format":"canopy-audit-1",',
    "text/csv; charset=utf-8": "id,at,action,",
}


@bp.operation(
    "GET",
    needs="admin",
    query=AuditLogQuerySchema,
    gives=(200, page_of(AuditEntrySchema)),
    files=_FILES,
)
def list_audit_log(principal: Principal, values: dict[str, Any]) -> Response:
    """List the entries of the audit log.

    The newest come first. With `format`, the response is a file, and the log records the export. If
    the transfer breaks off, the file is incomplete. If another export is running, the response is
    503.
    """
    format_name = values.pop("format", None)
    query = EntryQuery(**values)
    if format_name is not None:
        return file_response(principal.account_id, format_name, query)
    records, total = listing.list_entries(principal.account_id, query)
    return envelope.page_response(records, total=total, number=query.page, size=query.per_page)


@bp.operation(
    "GET /checkpoints",
    needs="admin",
    query=PageQuerySchema,
    gives=(200, page_of(AuditCheckpointSchema)),
)
def list_audit_checkpoints(principal: Principal, values: dict[str, Any]) -> Response:
    """List the checkpoints of the audit log.

    The newest come first. Whoever keeps them elsewhere can prove later that the log was not changed
    or cut off.
    """
    records, total = checkpoints.list_checkpoints(principal.account_id, **values)
    return envelope.page_response(
        records, total=total, number=values["page"], size=values["per_page"]
    )


@bp.operation("GET /keys", needs="admin", gives=(200, whole_of(AuditKeySchema)))
def list_audit_keys(_: Principal) -> Response:
    """List the public keys that sign checkpoints."""
    return envelope.complete_list(keys.list_keys())


@bp.operation("GET /<entry_id>", needs="admin", gives=(200, single_of(AuditEntrySchema)))
def read_audit_entry(principal: Principal, entry_id: str) -> Response:
    """Read an entry of the audit log."""
    return envelope.record_response(service.read_entry(principal.account_id, entry_id))

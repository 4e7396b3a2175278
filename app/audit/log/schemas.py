"""The queries and responses of the routes of the audit log."""

from __future__ import annotations

from typing import Any, ClassVar, Final

from marshmallow import fields, validate

from app.api.openapi.schemas import OutputSchema
from app.api.query_schemas import PageQuerySchema
from app.audit.log.files import FORMATS
from app.policy.audit import ACTIONS, ACTORS
from app.policy.request_limits import ID_LENGTH
from app.values.schemas import Choice, Text, Timestamp

_OUTCOMES: Final = ("done", "refused")
_LABEL: Final = {"description": "Its name at that time."}
_CHANGES: Final = {
    "description": "The old and new values by field, as `{from, to}`. A value of more than 1 KB of "
    "JSON is replaced by `{beginning, bytes, sha256}`. Null if no field changed."
}
_HASH: Final = {"pattern": "^[0-9a-f]{64}$"}
_FIRST: Final = {
    "description": "Number of the first entry; entries are counted from 1.",
    "minimum": 1,
}
_SIGNATURE: Final = {"description": "Ed25519, in base64."}
_VIA: Final[dict[str, Any]] = {
    "credential": "canopy_key_…4f2A",
    "application": None,
    "request_id": "req_01k9zq3mgt0y6f4c8vd2xw7sbn",
    "ip": "203.0.113.7",
    "user_agent": "curl/8.5.0",
    "import_id": None,
}


def _described(text: str) -> dict[str, Any]:
    return {"allow_none": True, "metadata": {"description": text}}


class AuditActorSchema(OutputSchema):
    """The actor."""

    type = Choice("AuditActorType", ACTORS)
    id = fields.String(allow_none=True)
    label = fields.String(metadata=_LABEL)


class AuditApplicationSchema(OutputSchema):
    """The application that acted for a person."""

    id = fields.String()
    label = fields.String(metadata=_LABEL)


class AuditViaSchema(OutputSchema):
    """The way in which it was done. Members that do not apply are null."""

    credential = fields.String(**_described("The beginning and the end of the key or token."))
    application = fields.Nested(AuditApplicationSchema, allow_none=True)
    request_id = fields.String(allow_none=True)
    ip = fields.String(allow_none=True)
    user_agent = fields.String(**_described("For a command, its name."))
    import_id = fields.String(**_described("The import to which it belongs."))


class AuditTargetSchema(OutputSchema):
    """The target of the action."""

    type = fields.String()
    id = fields.String(allow_none=True)
    label = fields.String(metadata=_LABEL)


class AuditEntrySchema(OutputSchema):
    """An action, exactly as it was written and sealed."""

    example: ClassVar[dict[str, Any]] = {
        "account_id": "acct_01k9zq1x5wkcz0e7h3vrm8t2aj",
        "action": "project.updated",
        "actor": {"id": "key_01k9zq1z4b7d2f5h8k1m3p6r9t", "label": "Sync", "type": "api_key"},
        "at": "2026-01-03T10:20:30.456Z",
        "changes": {"name": {"from": "Hood", "to": "Mount Hood"}},
        "id": "aud_01k9zq3n8d1v6c0r4t7y2w5xke",
        "outcome": "done",
        "target": {"id": "proj_01k9zq3mgse2j7tbyw5c4r8nhd", "label": "Hood", "type": "project"},
        "via": _VIA,
    }

    id = fields.String()
    account_id = fields.String()
    at = fields.DateTime()
    action = Choice("AuditAction", tuple(ACTIONS))
    actor = fields.Nested(AuditActorSchema)
    via = fields.Nested(AuditViaSchema)
    target = fields.Nested(AuditTargetSchema)
    changes = fields.Dict(allow_none=True, metadata=_CHANGES)
    outcome = Choice("AuditOutcome", _OUTCOMES)


class AuditLogQuerySchema(PageQuerySchema):
    """Filters of the entries, newest first. Both ends of the time are included."""

    action = Choice(
        "AuditAction", tuple(ACTIONS), metadata={"description": "Only entries of this action."}
    )
    actor_id = Text(
        longest=ID_LENGTH,
        metadata={"description": "Only actions of this person, key, token or application."},
    )
    target_id = Text(
        longest=ID_LENGTH,
        metadata={"description": "Only actions on this target, such as the id of a project."},
    )
    format = fields.String(
        validate=validate.OneOf(tuple(FORMATS)),
        metadata={
            "description": "Instead of a page, a file with all entries that match the filters, the "
            "oldest first. `ndjson` without filters can be verified."
        },
    )
    since = Timestamp(metadata={"description": "Only entries of this time or later."})
    until = Timestamp(metadata={"description": "Only entries of this time or earlier."})


class AuditCheckpointSchema(OutputSchema):
    """A signed checkpoint, which seals a batch of entries."""

    example: ClassVar[dict[str, Any]] = {
        "account_id": "acct_01k9zq1x5wkcz0e7h3vrm8t2aj",
        "number": 1,
        "first": 1,
        "last": 500,
        "entries": 500,
        "sealed_at": "2026-01-03T10:25:00.000Z",
        "previous_hash": "0" * 64,
        "hash": "3d1a6bd0c76f24b1d3b0f6cb5a4bb0a76d21ec6d5e55d0c24bb0a6f4d7b1f2aa",
        "key_id": "sk_01k9zq0b7d2f5h8k1m3p6r9t4x",
        "signature": "bm90IGEgc2lnbmF0dXJlLCBidXQgYXMgbG9uZyBhcyBvbmUgaXMsIGluIGFuIGV4YW1wbGUsIG9r"
        "LmFuZCBlbmQ=",
    }

    account_id = fields.String()
    number = fields.Integer(metadata={"minimum": 1})
    first = fields.Integer(metadata=_FIRST)
    last = fields.Integer(metadata={"minimum": 1})
    entries = fields.Integer(metadata={"minimum": 1})
    sealed_at = fields.DateTime()
    previous_hash = fields.String(metadata=_HASH)
    hash = fields.String(metadata=_HASH)
    key_id = fields.String()
    signature = fields.String(metadata=_SIGNATURE)


class AuditKeySchema(OutputSchema):
    """A public key with which checkpoints can be verified."""

    example: ClassVar[dict[str, Any]] = {
        "id": "sk_01k9zq0b7d2f5h8k1m3p6r9t4x",
        "algorithm": "Ed25519",
        "public_key": "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=",
        "created_at": "2026-01-03T10:25:00.000Z",
    }

    id = fields.String()
    algorithm = fields.String(validate=validate.Equal("Ed25519"))
    public_key = fields.String(metadata={"description": "32 bytes in base64."})
    created_at = fields.DateTime()

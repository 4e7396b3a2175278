"""The queries and responses of the routes of the audit log."""

from __future__ import annotations

from typing import Any, ClassVar, Final

from marshmallow import fields, validate

from app.api.openapi.schemas import OutputSchema
from app.api.query_schemas import PageQuerySchema
from app.audit.log.files import FORMATS
from app.events.catalogue import example_of
from app.policy.audit import ACTIONS, ACTORS
from app.policy.request_limits import ID_LENGTH
from app.values.schemas import Choice, Text, Timestamp

_ENTRY: Final = example_of("audit.entry")["data"]
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

    example: ClassVar = {name: value for name, value in _ENTRY.items() if name != "number"}

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

    example: ClassVar = example_of("audit.checkpoint")["data"]

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

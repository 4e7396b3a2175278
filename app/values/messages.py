"""This service's error messages for marshmallow's fields and validators."""

from __future__ import annotations

from typing import Any, Final

import marshmallow as ma
from marshmallow import fields, validate

_OF_FIELDS: Final[dict[type[fields.Field[Any]], dict[str, str]]] = {
    fields.Field: {
        "required": "Required.",
        "null": "Must not be null.",
        "validator_failed": "Invalid.",
    },
    fields.String: {"invalid": "Must be a string.", "invalid_utf8": "Must be UTF-8 text."},
    fields.Integer: {"invalid": "Must be an integer.", "too_large": "Is too large."},
    fields.Float: {"invalid": "Must be a number.", "too_large": "Is too large."},
    fields.Boolean: {"invalid": "Must be true or false."},
    fields.List: {"invalid": "Must be an array."},
    fields.Dict: {"invalid": "Must be a JSON object."},
    fields.Nested: {"type": "Must be a JSON object."},
}


def set_messages() -> None:
    """Replace the library's messages for all schemas that are defined afterwards."""
    for kind, messages in _OF_FIELDS.items():
        kind.default_error_messages = {**kind.default_error_messages, **messages}
    ma.Schema.error_messages = {"type": "Must be a JSON object.", "unknown": "Unknown field."}
    validate.Length.message_min = "Must have at least {min:,} characters."
    validate.Length.message_max = "Must have at most {max:,} characters."
    validate.Length.message_all = "Must have {min:,} to {max:,} characters."
    # The validator formats these twice.
    validate.Range.message_min = "Must be at least {{min:,}}."
    validate.Range.message_max = "Must be at most {{max:,}}."
    validate.Range.message_all = "Must be from {{min:,}} to {{max:,}}."
    validate.OneOf.default_message = "Must be one of: {choices}."

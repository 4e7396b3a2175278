"""This service's error messages for marshmallow's fields and validators, with their codes."""

from __future__ import annotations

from typing import Any, Final

import marshmallow as ma
from marshmallow import fields, validate
from marshmallow.exceptions import SCHEMA


class CodedMessage(str):
    """The message of an error, with its code (``INVALID`` in ``app.policy.causes``).

    Args:
        below: the code for values below the lower bound of a validator.
    """

    __slots__ = ("below", "code")
    code: str
    below: str

    def __new__(cls, text: str, code: str = "invalid", below: str = "") -> CodedMessage:
        message = super().__new__(cls, text)
        message.code, message.below = code, below
        return message

    def format(self, *args: Any, **values: Any) -> CodedMessage:
        """Format the text, as fields and validators do, and keep the code. Whole bounds have no
        decimals."""
        for name in values.keys() & {"min", "max"}:
            bound = values[name]
            values[name] = int(bound) if isinstance(bound, float) and bound.is_integer() else bound
        code, low, value = self.code, values.get("min"), values.get("input")
        if self.below and low is not None and value is not None:
            size = value if isinstance(value, int | float) else len(value)
            code = self.below if size < low else code
        return CodedMessage(super().format(*args, **values), code, self.below)


def invalid(message: str, code: str, field: str = SCHEMA) -> ma.ValidationError:
    """The error of a value, or of a field of a schema, with its code."""
    return ma.ValidationError(CodedMessage(message, code), field)


NO_OBJECT: Final = CodedMessage("Must be a JSON object.", "wrong_type")
_TOO_LARGE: Final[dict[str, str]] = {"too_large": CodedMessage("Is too large.", "too_large")}
_OF_FIELDS: Final[dict[type[fields.Field[Any]], dict[str, str]]] = {
    fields.Field: {
        "required": CodedMessage("Required.", "required"),
        "null": CodedMessage("Must not be null.", "null"),
        "validator_failed": "Invalid.",
    },
    fields.String: {
        "invalid": CodedMessage("Must be a string.", "wrong_type"),
        "invalid_utf8": "Must be UTF-8 text.",
    },
    fields.Integer: {"invalid": CodedMessage("Must be an integer.", "wrong_type")} | _TOO_LARGE,
    fields.Float: {"invalid": CodedMessage("Must be a number.", "wrong_type")} | _TOO_LARGE,
    fields.Boolean: {"invalid": CodedMessage("Must be true or false.", "wrong_type")},
    fields.List: {"invalid": CodedMessage("Must be an array.", "wrong_type")},
    fields.Dict: {"invalid": NO_OBJECT},
    fields.Nested: {"type": NO_OBJECT},
    fields.Date: {"invalid": CodedMessage("Must be a day of the calendar.", "wrong_format")},
}


def set_messages() -> None:
    """Replace the library's messages for all schemas that are defined afterwards."""
    for kind, messages in _OF_FIELDS.items():
        kind.default_error_messages = {**kind.default_error_messages, **messages}
    ma.Schema.error_messages = {
        "type": NO_OBJECT,
        "unknown": CodedMessage("Unknown field.", "unknown"),
    }
    length, number = ("too_long", "too_short"), ("too_large", "too_small")
    validate.Length.message_min = CodedMessage("Must have at least {min:,} characters.", *length)
    validate.Length.message_max = CodedMessage("Must have at most {max:,} characters.", *length)
    validate.Length.message_all = CodedMessage("Must have {min:,} to {max:,} characters.", *length)
    # The validator formats these twice.
    validate.Range.message_min = CodedMessage("Must be at least {{min:,}}.", *number)
    validate.Range.message_max = CodedMessage("Must be at most {{max:,}}.", *number)
    validate.Range.message_all = CodedMessage("Must be from {{min:,}} to {{max:,}}.", *number)
    validate.OneOf.default_message = CodedMessage("Must be one of: {choices}.", "not_one_of")

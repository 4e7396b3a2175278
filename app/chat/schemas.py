"""The bodies of requests to the chat."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from marshmallow import fields, validate, validates_schema

from app.policy import chat
from app.values.messages import invalid
from app.values.schemas import BoundedList, InputSchema, Text


class TurnSchema(InputSchema):
    """An earlier message: the caller's, or a reply of the chat."""

    role = fields.String(required=True, validate=validate.OneOf(("user", "assistant")))
    content = Text(shortest=1, longest=chat.REPLY_LENGTH, required=True)

    @validates_schema
    def _bound_question(self, data: Mapping[str, Any], **_: Any) -> None:
        if data["role"] == "user" and len(data["content"]) > chat.MESSAGE_LENGTH:
            message = f"Longer than maximum length {chat.MESSAGE_LENGTH}."
            raise invalid(message, "too_long", "content")


class QuestionSchema(InputSchema):
    """A question, with the conversation before it."""

    message = Text(shortest=1, longest=chat.MESSAGE_LENGTH, required=True)
    history = BoundedList(fields.Nested(TurnSchema), longest=chat.HISTORY_LENGTH, load_default=list)

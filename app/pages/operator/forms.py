"""The forms of operators."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import marshmallow as ma
from marshmallow import fields, validate

from app.limits.plan_file import plans
from app.policy.instance import MESSAGE_KINDS, MESSAGE_LENGTH
from app.site.fields import FormSchema
from app.site.moments import in_utc
from app.values import clock
from app.values.schemas import Text, Timestamp


class FutureTime(Timestamp):
    """A time to come, as a field of a browser has it in UTC."""

    def _deserialize(self, value: Any, attr: Any, data: Any, **options: Any) -> datetime:
        found = super()._deserialize(in_utc(value.strip()), attr, data, **options)
        if found <= clock.now():
            raise ma.ValidationError("Must be in the future.")
        return found


def _check_plan(name: str) -> None:
    if name not in plans():
        raise ma.ValidationError("Choose one of the plans.")


class MessageSchema(FormSchema):
    text = Text(longest=MESSAGE_LENGTH, required=True)
    kind = fields.String(
        required=True, validate=validate.OneOf(MESSAGE_KINDS, error="Choose one of the kinds.")
    )
    until = FutureTime(load_default=None)


class PlanSchema(FormSchema):
    plan = fields.String(required=True, validate=_check_plan)
    was_plan = fields.String(load_default="")  # that the page showed

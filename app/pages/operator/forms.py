"""The forms of operators."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import marshmallow as ma
from marshmallow import fields, validate

from app.limits.plan_file import plans
from app.policy.instance import MESSAGE_KINDS, MESSAGE_LENGTH
from app.site.form_fields import FormSchema
from app.site.formats import field_timestamp
from app.values import clock
from app.values.schemas import Text, Timestamp


class FutureTime(Timestamp):
    """A time in the future, as the field of a browser sends it."""

    def _deserialize(self, value: Any, attr: Any, data: Any, **options: Any) -> datetime:
        moment = super()._deserialize(field_timestamp(value.strip()), attr, data, **options)
        if moment <= clock.now():
            raise ma.ValidationError("Must be in the future.")
        return moment


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
    was_plan = fields.String(load_default="")  # the plan that the page showed

"""The forms of operators."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from wtforms import StringField, TextAreaField, ValidationError
from wtforms.validators import InputRequired

from app.limits.plan_file import plans
from app.policy.instance import MESSAGE_KINDS, MESSAGE_LENGTH
from app.site.forms import PageForm
from app.site.moments import in_utc
from app.values import clock
from app.values.text import unstorable
from app.values.timestamps import TimestampInvalid, read_timestamp


def _plain(value: str | None) -> str | None:
    """As it is counted and stored: browsers send two characters for the end of a line."""
    return value.replace("\r\n", "\n").strip() if value else value


class MessageForm(PageForm):
    text = TextAreaField(
        "Text",
        [InputRequired("Required.")],
        filters=[_plain],
        description=f"Up to {MESSAGE_LENGTH} characters of plain text.",
        render_kw={"rows": 3, "maxlength": MESSAGE_LENGTH},
    )
    kind = StringField("Kind", default=next(iter(MESSAGE_KINDS)))
    until = StringField(
        "Until (UTC)",
        filters=[_plain],
        description="Leave blank to show it until you remove it.",
        render_kw={"type": "datetime-local"},
    )
    ends_at: datetime | None = None  # once it is validated

    def validate_text(self, field: Any) -> None:
        if not field.data:
            raise ValidationError("Required.")
        if len(field.data) > MESSAGE_LENGTH:
            raise ValidationError(f"Must have at most {MESSAGE_LENGTH} characters.")
        if problem := unstorable(field.data):
            raise ValidationError(problem)

    def validate_kind(self, field: Any) -> None:
        if field.data not in MESSAGE_KINDS:
            raise ValidationError("Choose one of the kinds.")

    def validate_until(self, field: Any) -> None:
        if not field.data:
            return
        try:
            self.ends_at = read_timestamp(in_utc(field.data))
        except TimestampInvalid as error:
            raise ValidationError(str(error)) from None
        if self.ends_at <= clock.now():
            raise ValidationError("Must be in the future.")


class PlanForm(PageForm):
    plan = StringField("Plan")
    was_plan = StringField()  # that the page showed

    def validate_plan(self, field: Any) -> None:
        if field.data not in plans():
            raise ValidationError("Choose one of the plans.")

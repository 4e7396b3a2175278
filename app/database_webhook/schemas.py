"""The body of a database webhook, in the form that Supabase has made common."""

from __future__ import annotations

from typing import Any

import marshmallow as ma
from marshmallow import fields, validate

from app.database_webhook.change import TYPES
from app.values.fields import PartialSchema


class RowChangeSchema(PartialSchema):
    """A change of a row. Other members are ignored."""

    type = fields.String(required=True, validate=validate.OneOf(TYPES))
    table = fields.String(required=True)
    record = fields.Dict(allow_none=True, load_default=None)
    old_record = fields.Dict(allow_none=True, load_default=None)

    @ma.post_load
    def _without_null(self, data: dict[str, Any], **_: Any) -> dict[str, Any]:
        """A record that is null has no columns."""
        return {name: {} if value is None else value for name, value in data.items()}

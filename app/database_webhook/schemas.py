"""The body of a report, in the format of Supabase's database webhooks."""

from __future__ import annotations

from typing import Any

import marshmallow as ma
from marshmallow import fields, validate

from app.values.schemas import PartialSchema


class RowChangeSchema(PartialSchema):
    """A changed row. Other fields are ignored."""

    type = fields.String(required=True, validate=validate.OneOf(("INSERT", "UPDATE", "DELETE")))
    table = fields.String(required=True)
    record = fields.Dict(allow_none=True, load_default=None)
    old_record = fields.Dict(allow_none=True, load_default=None)

    @ma.post_load
    def _without_null(self, data: dict[str, Any], **_: Any) -> dict[str, Any]:
        """Read a record that is null as one without columns."""
        return {name: {} if value is None else value for name, value in data.items()}

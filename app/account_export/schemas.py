"""The query of the archive of an account."""

from __future__ import annotations

from app.values.fields import QuerySchema


class AccountExportQuerySchema(QuerySchema):
    """Nothing: a parameter is refused before the export is entered into the audit log."""

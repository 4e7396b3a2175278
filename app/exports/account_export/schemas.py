"""The query of the archive of an account."""

from __future__ import annotations

from app.values.fields import QuerySchema


class AccountExportQuerySchema(QuerySchema):
    """No parameters: one is rejected before the export is recorded in the audit log."""

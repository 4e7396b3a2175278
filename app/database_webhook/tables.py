"""The tables whose rows can be reported: projects and assets."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import marshmallow as ma
from sqlalchemy import bindparam

from app.api.parsing import details_of
from app.assets import derived as of_assets
from app.assets.record import row_record as asset_record
from app.assets.schemas import AssetSchema, AssetUpdateSchema
from app.auth.tenant import columns_of
from app.db.queries import CompiledQuery
from app.geometry import Boundary, Point
from app.http.errors import ValidationFailed
from app.models import Asset, Project
from app.policy.fields import ASSET, PROJECT, Field
from app.projects import derived as of_projects
from app.projects.record import row_record as project_record
from app.projects.schemas import ProjectSchema, ProjectUpdateSchema
from app.values.records import columns_of_fields, mapped_row, object_row
from app.values.strict_json import JsonInvalid, dumps, loads, loads_own
from app.values.timestamps import read_timestamp

Columns = dict[str, Any]  # by attributes of the model
Record = dict[str, Any]  # the fields in events


class ReportedTable:
    """A table of resources; ``name`` is a resource's in ids and in types of events."""

    def __init__(
        self,
        name: str,
        model: type[Project] | type[Asset],
        fields: Sequence[Field],
        *,
        schema: type[ma.Schema],
        update_schema: type[ma.Schema],
        row_record: Callable[..., dict[str, Any]],
        derive: Callable[..., Columns],
    ) -> None:
        """
        Args:
            derive: returns all stored columns for the fields that clients write.
        """
        self.name, self.model = name, model
        self._fields, self._schema, self._update_schema = fields, schema, update_schema
        self._row_record, self._derive = row_record, derive
        self._written = [field for field in fields if field.writable != "never"]
        written = columns_of(model, *columns_of_fields(model, self._written))
        self._committed = CompiledQuery(written.where(model.id == bindparam("row_id")))

    def read_committed(self, account_id: str, row_id: str) -> Columns | None:
        """Return ``written_columns`` of a row, without a lock; None if the row is gone."""
        row = self._committed.first(account_id=account_id, row_id=row_id)
        return None if row is None else self.written_columns(row)

    def written_columns(self, row: Any) -> Columns:
        """Return the columns of a row that clients write through the API."""
        return {field.stored_as: getattr(row, field.stored_as) for field in self._written}

    def stored_columns(self, written: Mapping[str, Any]) -> Columns:
        """Return these columns as the API stores them, and the columns derived from them.

        Raises:
            ValidationFailed: the API would reject a value.
        """
        values = {
            field.name: _parsed_column_value(field, written[field.stored_as])
            for field in self._written
        }
        try:
            valid = self._update_schema().load(values)
        except ma.ValidationError as error:
            message = "The row holds values that the API would reject. See details."
            raise ValidationFailed(message, details=details_of(error)) from None
        return self._derive(**valid)

    def event_record(self, row: Any) -> Record:
        """Return the record of a row, as in events."""
        return self._record(object_row(row, self._fields))

    def reported_record(self, reported: Mapping[str, Any]) -> Record | None:
        """Return the record of a row that was reported by the names of its columns; None if columns
        are missing, or have values that no row can have."""
        attributes, table = [field.stored_as for field in self._fields], self.model.__table__.c
        row = {attribute: reported.get(table[attribute].name) for attribute in attributes}
        try:
            for name in ("created_at", "updated_at"):
                row[name] = read_timestamp(row[name])
            record = self._record(mapped_row(row, self._fields))
        except (TypeError, ValueError):
            return None
        absent = [field.name for field in self._fields if not field.in_events]
        return None if self._schema(partial=absent).validate(record) else record

    def _record(self, row: tuple[Any, ...]) -> Record:
        record = self._row_record(*row)
        public = {field.name: record[field.name] for field in self._fields if field.in_events}
        decoded: Record = loads_own(dumps(public))
        return decoded


def _parsed_column_value(field: Field, value: Any) -> Any:
    """Return a column's value as a client would send it. Text that is not JSON is unchanged: the
    field will reject it."""
    if not field.kind.is_json or value is None:
        return value
    try:
        return loads(value.encode())
    except JsonInvalid:
        return value


def _project_columns(*, geometry: Boundary | None, **written: Any) -> Columns:
    stored = written | of_projects.geometry_columns(geometry)
    size = of_projects.stored_bytes(stored["geometry"], stored["metadata_json"])
    texts = (stored[name] for name in ("name", "description", "external_id"))
    return stored | of_projects.search_columns(*texts) | {"stored_bytes": size}


def _asset_columns(*, location: Point | None, **written: Any) -> Columns:
    search = of_assets.search_columns(written["name"], written["external_id"])
    return written | of_assets.location_columns(location) | search


TABLES: Final = {
    "projects": ReportedTable(
        "project",
        Project,
        PROJECT,
        schema=ProjectSchema,
        update_schema=ProjectUpdateSchema,
        row_record=project_record,
        derive=_project_columns,
    ),
    "assets": ReportedTable(
        "asset",
        Asset,
        ASSET,
        schema=AssetSchema,
        update_schema=AssetUpdateSchema,
        row_record=asset_record,
        derive=_asset_columns,
    ),
}

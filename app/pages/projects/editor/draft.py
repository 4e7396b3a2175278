"""What the form of a project holds: as it was sent, and what is saved of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import marshmallow as ma
from werkzeug.datastructures import MultiDict

from app.pages.edit_conflicts import version_of
from app.pages.metadata import Row, listed_metadata, metadata_rows, read_metadata, sent_metadata
from app.pages.problems import errors_by_field
from app.pages.projects.editor.boundary_text import check_boundary
from app.projects.schemas import ProjectCreateSchema, ProjectUpdateSchema
from app.values.strict_json import dumps

_TEXTS: Final = ("name", "external_id", "description")


@dataclass
class Draft:
    """A form. ``errors`` has messages by field; ``problems`` are those of the boundary."""

    name: str = ""
    external_id: str = ""
    description: str = ""
    status: str = "active"
    geometry: str = ""
    metadata: list[Row] = field(default_factory=list)
    version: str = ""  # the entity tag of the project as it was when the form was loaded
    errors: dict[str, list[str]] = field(default_factory=dict)
    problems: list[dict[str, Any]] = field(default_factory=list)

    @property
    def metadata_rows(self) -> list[Row]:
        """The rows of the form: what there is, and an empty one."""
        return [*self.metadata, Row()]


def draft_of(record: Mapping[str, Any]) -> Draft:
    """The form of a project as it is."""
    geometry = record["geometry"]
    return Draft(
        name=record["name"],
        external_id=record["external_id"] or "",
        description=record["description"] or "",
        status=record["status"],
        geometry="" if geometry is None else dumps(geometry).decode(),
        metadata=metadata_rows(record["metadata"]),
        version=version_of(record),
    )


def sent_draft(form: MultiDict[str, str]) -> Draft:
    """The form as it was sent, without errors yet."""
    return Draft(
        name=_text(form, "name"),
        external_id=_text(form, "external_id"),
        description=_text(form, "description"),
        status=form.get("status", "active"),
        geometry=form.get("geometry", ""),
        metadata=sent_metadata(form),
        version=form.get("version", ""),
    )


def read_draft(draft: Draft, before: Mapping[str, Any] | None) -> dict[str, Any]:
    """The values to create or update a project with. What is wrong stands in the draft's errors.

    Args:
        before: the record of the project as it is; None: a new one.
    """
    sent: dict[str, Any] = {name: getattr(draft, name) or None for name in _TEXTS}
    sent["name"] = draft.name
    metadata, problems = read_metadata(draft.metadata)
    sent["metadata"] = metadata
    draft.errors |= {"metadata": problems} if problems else {}
    schema = ProjectCreateSchema() if before is None else ProjectUpdateSchema()
    if before is not None and before["status"] != "archived":
        sent["status"] = draft.status
    values: dict[str, Any] = {}
    try:
        values = schema.load(sent)
    except ma.ValidationError as error:
        draft.errors |= errors_by_field(error)
    checked = check_boundary(draft.geometry)
    draft.problems = checked.problems
    if draft.problems:
        draft.errors["geometry"] = [problem["message"] for problem in draft.problems]
    return values | {"geometry": checked.boundary}


def compared(draft: Draft) -> dict[str, str]:
    """The fields of a form as people compare them, by their labels; the map compares boundaries."""
    return {
        "Name": draft.name,
        "External ID": draft.external_id,
        "Description": draft.description,
        "Status": draft.status,
        "Metadata": listed_metadata(draft.metadata),
    }


def _text(form: MultiDict[str, str], name: str) -> str:
    return form.get(name, "").replace("\r\n", "\n").strip()

"""What the form of a project holds: as it was sent, and what is saved of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import marshmallow as ma
from werkzeug.datastructures import MultiDict

from app.pages.edit_conflicts import version_of
from app.pages.metadata import Row, listed_metadata, metadata_rows, read_metadata, sent_metadata
from app.pages.problems import errors_by_field
from app.pages.projects.editor.boundary_text import check_boundary
from app.pages.record_fields import PROJECT_FIELDS, read_texts, sent_texts, texts_of
from app.projects.schemas import ProjectCreateSchema, ProjectUpdateSchema
from app.values.strict_json import dumps


@dataclass
class Draft:
    """A form. ``errors`` has messages by field; ``problems`` are those of the boundary."""

    name: str = ""
    texts: dict[str, str] = field(default_factory=dict)  # of PROJECT_FIELDS
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
    """Return the form of a project as it is saved."""
    geometry = record["geometry"]
    return Draft(
        name=record["name"],
        texts=texts_of(PROJECT_FIELDS, record),
        status=record["status"],
        geometry="" if geometry is None else dumps(geometry).decode(),
        metadata=metadata_rows(record["metadata"]),
        version=version_of(record),
    )


def sent_draft(form: MultiDict[str, str]) -> Draft:
    """Return the form as it was sent, without errors yet."""
    return Draft(
        name=form.get("name", "").strip(),
        texts=sent_texts(PROJECT_FIELDS, form),
        status=form.get("status", "active"),
        geometry=form.get("geometry", ""),
        metadata=sent_metadata(form),
        version=form.get("version", ""),
    )


def read_draft(draft: Draft, before: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the values to create or update a project with. The draft's errors say what is wrong.

    Args:
        before: the record of the project as it is; None: a new one.
    """
    sent = read_texts(PROJECT_FIELDS, draft.texts, draft.errors) | {"name": draft.name}
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
    """Return the fields as people compare them, by their labels; the map compares boundaries."""
    return {
        "Name": draft.name,
        **{field.words: draft.texts[field.name] for field in PROJECT_FIELDS},
        "Status": draft.status,
        "Metadata": listed_metadata(draft.metadata),
    }

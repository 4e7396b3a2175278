"""Projects for OGC API Features: filtered by any property, in pages that follow one another.

A row has the properties of a feature, the JSON of its metadata, and that of its geometry.
"""

from __future__ import annotations

from typing import Final

from sqlalchemy import func

from app.db.column_types import byte_length
from app.formats.writers.features import PROJECTS
from app.lists.intersecting import Source
from app.models import Project
from app.projects.listing import TABLE
from app.usage.counters import counters, project_total
from app.values.records import columns

_COLUMNS = Project.__table__.c


def _totals(account_id: str) -> tuple[int, int]:
    counted = counters(account_id)
    return project_total(counted), int(counted.stored_bytes)


SOURCE: Final = Source(
    TABLE,
    (*columns(Project, PROJECTS.property_fields), Project.metadata_json, Project.geometry),
    _COLUMNS.stored_bytes + func.coalesce(byte_length(_COLUMNS.description), 0),
    Project.geometry,
    _totals,
)

"""Looking up the projects of an account that a feature may match.

They are read as committed: the matcher itself remembers what the open transaction writes.
"""

from __future__ import annotations

from functools import cache, partial
from typing import Any, Final, cast

from sqlalchemy import Table, and_, bindparam

from app.auth.tenant import columns_among, columns_of
from app.db.queries import CompiledQuery, reading_engine
from app.db.search_index import box_values, fenced_rows, indexed_candidates, overlaps_box
from app.geometry import SAME_WITHIN, Bounds
from app.imports.features.mapping import mapped_fields
from app.models import Project
from app.policy.fields import PROJECT
from app.policy.imports import SAME_BOX
from app.values.folding import fold_text
from app.values.records import columns_of_fields

# Planned each time: the first import of an account begins with empty tables, and fills them. Not
# so ``_by_box``, whose plan takes longer to make than to run.
_query: Final = partial(CompiledQuery, is_planned_anew=True)
_SIDES: Final = ("west", "south", "east", "north")
_TABLE: Final = cast("Table", Project.__table__)
_IMPORTED: Final = [
    each for each in PROJECT if each.name in {*mapped_fields("projects")} - {"name"}
]
# The columns that an import reads, geometry and metadata as JSON.
_PROJECT: Final = columns_of(
    Project,
    Project.id,
    Project.slug,
    Project.name,
    Project.area_m2,
    Project.geometry,
    Project.metadata_json,
    *columns_of_fields(Project, _IMPORTED),
)
_BY_ID = _query(_PROJECT.where(Project.id == bindparam("project_id")))
_HAS_SLUG = _query(columns_of(Project, Project.id).where(Project.slug == bindparam("slug")))
_BY_SLUG = _query(_PROJECT.where(Project.slug == bindparam("slug")))
_IDS_BY_NAME = _query(
    columns_of(Project, Project.id)
    .where(Project.name_key == bindparam("name_key"))
    .order_by(Project.id)
    .limit(2)
)
_HAS_BOX: Final = tuple(
    _TABLE.c[side].between(bindparam(f"least_{side}"), bindparam(f"most_{side}")) for side in _SIDES
)
# Without the boundary, which can have megabytes.
_NEAR_NAMES: Final = ("id", "slug", "name", "external_id")
_NEAR: Final = columns_of(Project, *(getattr(Project, name) for name in _NEAR_NAMES))
_BY_NAME_AND_BOX = _query(
    _NEAR.where(Project.name_key == bindparam("name_key"), *_HAS_BOX).limit(SAME_BOX)
)
_BY_EXTERNAL_ID = _query(_PROJECT.where(Project.external_id == bindparam("external_id")))


def with_id(account_id: str, project_id: str) -> Any:
    """The project with this id, or None."""
    return _BY_ID.first(account_id=account_id, project_id=project_id)


def has_slug(account_id: str, slug: str) -> bool:
    """True if a project has this slug."""
    return _HAS_SLUG.first(account_id=account_id, slug=slug) is not None


def with_slug(account_id: str, slug: str) -> Any:
    """The project with this slug, or None."""
    return _BY_SLUG.first(account_id=account_id, slug=slug)


def ids_named(account_id: str, name: str) -> list[str]:
    """The ids of the two oldest projects with this name, ignoring case."""
    return [row.id for row in _IDS_BY_NAME.all(account_id=account_id, name_key=fold_text(name))]


def with_external_id(account_id: str, external_id: str) -> Any:
    """The project with this external id, or None."""
    return _BY_EXTERNAL_ID.first(account_id=account_id, external_id=external_id)


def with_box(account_id: str, bounds: Bounds, name: str) -> list[Any]:
    """The projects whose boundary has this box within ``SAME_WITHIN``, without the boundaries.

    If SAME_BOX or more have it, only those of the name: a file of features with one box would take
    hours.
    """
    dialect = reading_engine().dialect.name
    west, south, east, north = bounds
    longitude, latitude = (west + east) / 2, (south + north) / 2
    # Boxes that agree but for rounding contain this one's middle.
    middle = Bounds(
        longitude - SAME_WITHIN,
        latitude - SAME_WITHIN,
        longitude + SAME_WITHIN,
        latitude + SAME_WITHIN,
    )
    values: dict[str, Any] = {"account_id": account_id, **box_values(middle, account_id, dialect)}
    for side, value in zip(_SIDES, bounds, strict=True):
        values |= {f"least_{side}": value - SAME_WITHIN, f"most_{side}": value + SAME_WITHIN}
    rows = _by_box(dialect).all(**values)
    if len(rows) == SAME_BOX:
        return _BY_NAME_AND_BOX.all(**values, name_key=fold_text(name))
    return rows


@cache
def _by_box(dialect: str) -> CompiledQuery:
    near = indexed_candidates(_TABLE, dialect, "box", "account_id", _SIDES)
    near_columns = [_TABLE.c[name] for name in ("account_id", *_NEAR_NAMES)]
    rows = fenced_rows(near_columns, and_(near, overlaps_box(_TABLE, _SIDES), *_HAS_BOX))
    return CompiledQuery(columns_among(rows, *_NEAR_NAMES).limit(SAME_BOX))

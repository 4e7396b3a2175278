"""The rows of simplified shapes, which maps draw in place of present boundaries."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, Final, NamedTuple, cast

from sqlalchemy import Table, bindparam, delete

from app.db.engines import insert_into
from app.db.extensions import db
from app.db.transactions import CompiledChange
from app.models import BoundaryShape, Project

_SHAPES: Final = cast("Table", BoundaryShape.__table__)
_KEYS: Final = ("project_row", "level")
_REPLACED: Final = ("account_id", "area_m2", "geometry")
_DROP: Final = CompiledChange(
    delete(_SHAPES).where(
        _SHAPES.c.account_id == bindparam("account"), _SHAPES.c.project_row == bindparam("row")
    )
)


class Shape(NamedTuple):
    """A row: the shape of a project's boundary for one level."""

    project_row: int
    level: int
    account_id: str
    area_m2: int
    geometry: str


def insert_shapes(shapes: Sequence[Shape]) -> None:
    """Insert shapes, also in place of a project's that SQL has moved from another account."""
    if shapes:
        _shapes_insert(db.engine.dialect.name).run_many(shape._asdict() for shape in shapes)


@cache
def _shapes_insert(dialect: str) -> CompiledChange:  # noqa: ARG001 - the key of the cache
    new: Any = insert_into(BoundaryShape)
    replaced = {name: new.excluded[name] for name in _REPLACED}
    statement = new.on_conflict_do_update(index_elements=_KEYS, set_=replaced)
    return CompiledChange(statement, Shape._fields)


def drop_shapes(project: Project) -> None:
    """Delete the shapes of the boundary that the project had."""
    _DROP.run({"account": project.account_id, "row": project.row})

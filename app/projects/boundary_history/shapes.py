"""The rows of the shapes that maps show in place of the present boundaries."""

from __future__ import annotations

from functools import cache
from typing import Any, Final, cast

from sqlalchemy import BigInteger, Integer, Table, Text, bindparam, delete, select, union_all
from sqlalchemy import cast as sql_cast

from app.db.engines import insert_into
from app.db.extensions import db
from app.geometry.shapes import map_shapes
from app.models import BoundaryShape, Project
from app.policy.bounds import MAP_SHORT_BYTES
from app.projects.boundary_history.entries import StoredBoundary

_SHAPES: Final = cast("Table", BoundaryShape.__table__)
_REPLACED: Final = ("account_id", "area_m2", "geometry")
_DROP: Final = delete(_SHAPES).where(
    _SHAPES.c.account_id == bindparam("account"), _SHAPES.c.project_row == bindparam("row")
)


def insert_now(key: tuple[str, str], boundary: StoredBoundary) -> bool:
    """Insert the shapes of a boundary, in the transaction that changes it. False: it is so long
    that a job does it.

    Args:
        key: the ids of the account and the project.
    """
    if len(boundary.text) > MAP_SHORT_BYTES:
        return False
    insert_shapes(key, boundary.area_m2, map_shapes(boundary.text))
    return True


def insert_shapes(key: tuple[str, str], area_m2: int, shapes: dict[int, str]) -> None:
    """Insert the shapes of a boundary, by level; in place of those that the project had in another
    account, from which it was moved with SQL."""
    if shapes:
        values: dict[str, Any] = {"account": key[0], "project": key[1], "area": area_m2}
        for number, (level, text) in enumerate(shapes.items()):
            values |= {f"level_{number}": level, f"text_{number}": text}
        db.session.connection().execute(_insert(len(shapes), db.engine.dialect.name), values)


@cache
def _insert(number: int, dialect: str) -> Any:  # noqa: ARG001 - the key of the cache
    """One statement for ``number`` shapes, which takes less time than one for each."""
    rows = [
        select(
            Project.row,
            sql_cast(bindparam(f"level_{each}"), Integer),
            Project.account_id,
            sql_cast(bindparam("area"), BigInteger),
            sql_cast(bindparam(f"text_{each}"), Text),
        ).where(Project.account_id == bindparam("account"), Project.id == bindparam("project"))
        for each in range(number)
    ]
    keys = ("project_row", "level")
    new = insert_into(BoundaryShape).from_select((*keys, *_REPLACED), union_all(*rows))
    replaced = {name: new.excluded[name] for name in _REPLACED}
    return new.on_conflict_do_update(index_elements=keys, set_=replaced)


def drop_shapes(project: Project) -> None:
    """Delete the shapes of the boundary that the project had."""
    values = {"account": project.account_id, "row": project.row}
    db.session.connection().execute(_DROP, values)

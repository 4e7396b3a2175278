"""The rows of the shapes that maps show in place of the present boundaries."""

from __future__ import annotations

from typing import Final, cast

from sqlalchemy import Table, bindparam, delete, select

from app.db.engines import insert_into
from app.db.extensions import db
from app.history.matching import Kept
from app.models import BoundaryShape, Project
from app.policy.bounds import MAP_SHORT_BYTES
from app.shapes import map_shapes

_SHAPES: Final = cast("Table", BoundaryShape.__table__)
_ROW: Final = select(Project.row).where(
    Project.account_id == bindparam("account"), Project.id == bindparam("project")
)
_VALUES: Final = {
    "project_row": _ROW.scalar_subquery(),
    "level": bindparam("zoom"),
    "account_id": bindparam("account"),
    "area_m2": bindparam("area"),
    "geometry": bindparam("text"),
}
_DROP: Final = delete(_SHAPES).where(
    _SHAPES.c.account_id == bindparam("account"), _SHAPES.c.project_row == bindparam("row")
)


def insert_now(key: tuple[str, str], boundary: Kept) -> bool:
    """Insert the shapes of a boundary, in the transaction that changes it. False: that would take
    so long that a job does it.

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
    account_id, project_id = key
    own = {"account": account_id, "project": project_id, "area": area_m2}
    rows = [own | {"zoom": level, "text": text} for level, text in shapes.items()]
    if rows:
        new = insert_into(BoundaryShape).values(_VALUES)
        replaced = {name: new.excluded[name] for name in ("account_id", "area_m2", "geometry")}
        keys = ("project_row", "level")
        statement = new.on_conflict_do_update(index_elements=keys, set_=replaced)
        db.session.connection().execute(statement, rows)


def drop_shapes(project: Project) -> None:
    """Delete the shapes of the boundary that the project had."""
    values = {"account": project.account_id, "row": project.row}
    db.session.connection().execute(_DROP, values)

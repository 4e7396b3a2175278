"""Projects of all accounts without a derived country: the countries were not installed, or the
request had no time for it."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import bindparam, update

from app.auth.tenant import select_of_all_accounts
from app.db.extensions import db
from app.db.queries import has_rows
from app.db.transactions import CompiledChange
from app.geometry import Bounds, stored_rings
from app.geometry.countries import country_of, country_of_box, has_world
from app.models import Project
from app.policy.countries import DATA_VERSION
from app.usage.counters import note_new_shapes
from app.values.batching import batched_by_time

_BATCH: Final = 200
_SECONDS: Final = 0.5  # for a batch: other changes wait for it

_IS_WAITING: Final = (Project.country_version.is_(None), Project.area_m2.is_not(None))
_WAITING: Final = select_of_all_accounts(Project.id).where(*_IS_WAITING)
_SIDES: Final = (Project.west, Project.south, Project.east, Project.north)
_NEXT: Final = (
    select_of_all_accounts(Project.row, Project.account_id, *_SIDES)
    .where(*_IS_WAITING)
    .order_by(Project.id)
    .limit(_BATCH)
    .with_for_update(skip_locked=True, key_share=True)
)
_GEOMETRY: Final = select_of_all_accounts(Project.geometry)
_SET: Final = CompiledChange(
    update(Project)
    .where(Project.account_id == bindparam("account"), Project.row == bindparam("number"))
    .values(country=bindparam("code"), country_version=bindparam("version"))
)


def is_due() -> bool:
    """True if there are such projects, and the countries are installed."""
    return has_world() and has_rows(_WAITING)


def derive_some() -> int:
    """Derive the countries of a batch in the current transaction, without locked projects. Returns
    the number of projects."""
    rows = db.session.execute(_NEXT).all()
    derived = next(batched_by_time(map(_derived_values, rows), _SECONDS), [])
    if derived:
        _SET.run_many(derived)
        note_new_shapes(row["account"] for row in derived)  # also renews the totals of lists
    return len(derived)


def _derived_values(row: Any) -> dict[str, Any]:
    """The parameters of ``_SET`` for a row of ``_NEXT``."""
    return {
        "account": row.account_id,
        "number": row.row,
        "code": _derive_country(row.row, tuple(row[2:])),
        "version": DATA_VERSION,
    }


def _derive_country(number: int, sides: tuple[Any, ...]) -> str | None:
    """The country of a project; None also if deriving it takes too long, or its columns are wrong
    because of SQL."""
    if None in sides:
        return None
    box = Bounds(*sides)
    country = country_of_box(box)
    if country is not False:
        return country
    text = db.session.scalar(_GEOMETRY.where(Project.row == number))
    try:
        return country_of(stored_rings(text), box) or None
    except (ValueError, LookupError, TypeError):
        return None

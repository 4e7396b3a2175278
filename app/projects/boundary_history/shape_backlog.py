"""Present boundaries of all accounts that are not simplified yet: large ones, and those from before
revision 0007, which began the history and the maps."""

from __future__ import annotations

from collections import deque
from random import shuffle
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection, bindparam, func, select, update

from app.auth.tenant import select_of_all_accounts
from app.db.extensions import db
from app.db.queries import connect
from app.geometry.shapes import map_shapes
from app.models import BoundaryEntry, Project
from app.projects.boundary_history import shapes
from app.projects.boundary_history.entries import checksum
from app.usage.counters import note_new_shapes
from app.values import clock
from app.values.batching import batched_by_bytes

_BATCH_ROWS: Final = 30  # each of them can have megabytes
_BATCH_BYTES: Final = 4 * 1024 * 1024

_IS_WAITING: Final = (
    BoundaryEntry.replaced_at.is_(None),
    BoundaryEntry.simplified_at.is_(None),
)
WAITING: Final = select_of_all_accounts(BoundaryEntry.id).where(*_IS_WAITING)
_NEXT: Final = (
    select(
        BoundaryEntry.account_id,
        BoundaryEntry.project_id,
        BoundaryEntry.id,
        Project.area_m2,
        Project.geometry,
    )
    .join(Project, Project.id == BoundaryEntry.project_id)
    .where(
        *_IS_WAITING,
        BoundaryEntry.account_id == bindparam("account_id"),
        BoundaryEntry.project_id > bindparam("after"),
    )
    .order_by(BoundaryEntry.project_id)
    .limit(_BATCH_ROWS)
)
_NEXT_ACCOUNT: Final = select(func.min(BoundaryEntry.account_id)).where(
    *_IS_WAITING, BoundaryEntry.account_id > bindparam("after")
)
_LOCK: Final = select(Project.id).order_by(Project.id)
_MARK: Final = update(BoundaryEntry).where(*_IS_WAITING).returning(BoundaryEntry.id)


class _Simplified(NamedTuple):
    """A boundary with its shapes; ``key``: the ids of the account and the project."""

    key: tuple[str, str]
    entry_id: str
    area_m2: int
    checksum: int | None
    shapes: dict[int, str]


class ShapeBacklog:
    """One pass through these boundaries, with a batch of each account in turn."""

    def __init__(self) -> None:
        # Accounts, each with the id of the last project that was read.
        self._turns: deque[tuple[str, str]] | None = None

    def read(self) -> list[_Simplified]:
        """Return the next batch, simplified; empty at the end."""
        with connect() as connection:
            if self._turns is None:
                self._turns = deque((account_id, "") for account_id in _accounts(connection))
            rows: list[Any] = []
            while self._turns and not rows:
                account_id, after = self._turns.popleft()
                found = connection.execute(_NEXT, {"account_id": account_id, "after": after})
                rows = next(
                    batched_by_bytes(found, lambda row: len(row.geometry or ""), _BATCH_BYTES), []
                )
        if rows:
            self._turns.append((account_id, rows[-1].project_id))
        return list(map(_simplified, rows))

    def write(self, batch: list[_Simplified]) -> int:
        """Insert the shapes of a batch in the current transaction, but for boundaries that are
        being changed or have been meanwhile. Returns the number of boundaries."""
        ids = [each.key[1] for each in batch]
        free = _LOCK.where(Project.id.in_(ids)).with_for_update(skip_locked=True, key_share=True)
        locked = set(db.session.scalars(free))
        written = [each for each in batch if each.key[1] in locked and _mark(each)]
        for each in written:
            shapes.insert_shapes(each.key, each.area_m2, each.shapes)
        note_new_shapes(each.key[0] for each in written)
        return len(written)


def _accounts(connection: Connection) -> list[str]:
    """The accounts with boundaries that wait. They are shuffled, as a run may not come to the
    last."""
    found: list[str] = []
    while following := connection.scalar(_NEXT_ACCOUNT, {"after": found[-1] if found else ""}):
        found.append(following)
    shuffle(found)
    return found


def _simplified(row: Any) -> _Simplified:
    """The shapes of a row of ``_NEXT``."""
    key, area_m2, text = (row.account_id, row.project_id), row.area_m2 or 0, row.geometry
    if text is None:
        return _Simplified(key, row.id, area_m2, None, {})
    return _Simplified(key, row.id, area_m2, checksum(text), map_shapes(text))


def _mark(simplified: _Simplified) -> bool:
    """Note that the shapes of a boundary are made, and the checksum that an entry of revision 0007
    lacks. False: it is no longer the present one."""
    account_id, project_id = simplified.key
    own = _MARK.where(
        BoundaryEntry.account_id == account_id,
        BoundaryEntry.project_id == project_id,
        BoundaryEntry.id == simplified.entry_id,
    )
    known = func.coalesce(BoundaryEntry.checksum, simplified.checksum)
    marked = db.session.execute(
        own.values(simplified_at=clock.now(), checksum=known),
        execution_options={"synchronize_session": False},
    )
    return marked.first() is not None

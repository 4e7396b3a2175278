"""The rows of entries: inserting one, closing the present one, comparing it with a boundary."""

from __future__ import annotations

import zlib
from datetime import datetime
from typing import Any, Final, Literal, NamedTuple, cast

from sqlalchemy import Table, bindparam, func, update

from app.auth.principal import Principal
from app.auth.tenant import columns_of
from app.db.column_types import byte_length
from app.db.extensions import db
from app.db.transactions import CompiledChange, insert_row
from app.geometry.shapes import AreaDifference
from app.models import BoundaryEntry, Project
from app.values.ids import new_id

Source = Literal["api", "import", "dashboard", "cli", "database", "ogc"]

# Keyed by the kind of the principal, unless the caller says otherwise.
_SOURCES: Final[dict[str, Source]] = {"session": "dashboard", "operator": "cli"}

_ENTRIES: Final = cast("Table", BoundaryEntry.__table__)
_OWN: Final = (
    _ENTRIES.c.account_id == bindparam("account"),
    _ENTRIES.c.project_id == bindparam("project"),
)
_IS_PRESENT: Final = _ENTRIES.c.replaced_at.is_(None)
_CLOSE: Final = CompiledChange(
    update(_ENTRIES)
    .where(*_OWN, _IS_PRESENT)
    .values(
        replaced_at=bindparam("moment"),
        geometry=bindparam("text"),
        stored_bytes=bindparam("size"),
    )
    .returning(_ENTRIES.c.id)
)
_REOPEN: Final = update(_ENTRIES).where(*_OWN, _IS_PRESENT).values(simplified_at=None)
_MEASURE: Final = (
    update(_ENTRIES)
    .where(*_OWN)
    .values(stored_bytes=func.coalesce(byte_length(_ENTRIES.c.geometry), 0))
)
_FIND: Final = columns_of(BoundaryEntry, BoundaryEntry.area_m2, BoundaryEntry.checksum).where(
    _ENTRIES.c.project_id == bindparam("project_id"), _IS_PRESENT
)


class StoredBoundary(NamedTuple):
    """The text and the area of a boundary."""

    text: str
    area_m2: int


class Author(NamedTuple):
    """The person who set a boundary, or created the key that did, if known; and the source."""

    user_id: str | None
    email: str | None
    source: Source


def author_of(principal: Principal, source: Source | None) -> Author:
    """The author of a principal's changes.

    Args:
        source: by default the usual one for the kind of credential.
    """
    source = source or _SOURCES.get(principal.kind, "api")
    return Author(principal.user_id, principal.user_email, source)


def boundary_checksum(text: str) -> int:
    """The CRC-32 of a boundary's text."""
    return zlib.crc32(text.encode())


def is_entry_of(entry: Any, boundary: StoredBoundary) -> bool:
    """True if an entry, a row with ``checksum``, has this boundary."""
    return bool(entry.checksum == boundary_checksum(boundary.text))


def insert_entry(
    key: tuple[str, str],
    moment: datetime,
    boundary: StoredBoundary,
    author: Author,
    change: AreaDifference,
) -> str:
    """Insert an entry without shapes, which a job makes. Returns its id.

    Args:
        key: the ids of the account and the project.
    """
    account_id, project_id = key
    row = {
        "id": new_id("boundary"),
        "project_id": project_id,
        "account_id": account_id,
        "created_at": moment,
        "created_by": author.user_id,
        "created_by_email": author.email,
        "source": author.source,
        "area_m2": boundary.area_m2,
        "added_m2": change.added_m2,
        "removed_m2": change.removed_m2,
        "checksum": boundary_checksum(boundary.text),
        "stored_bytes": 0,
    }
    insert_row(BoundaryEntry, row)
    return str(row["id"])


def close_present(project: Project, text: str | None) -> str | None:
    """End the present entry with the text of its boundary. Returns its id, or None without one."""
    size = 0 if text is None else len(text.encode())
    own = {"account": project.account_id, "project": project.id}
    values = {"moment": project.updated_at, "text": text, "size": size}
    closed = _CLOSE.first(own | values)
    return None if closed is None else str(closed.id)


def reopen_present(project: Project) -> None:
    """Mark the present boundary as one without shapes."""
    own = {"account": project.account_id, "project": project.id}
    db.session.connection().execute(_REOPEN, own)


def measure_former(project: Project) -> None:
    """Recompute the stored bytes of all former boundaries."""
    own = {"account": project.account_id, "project": project.id}
    db.session.connection().execute(_MEASURE, own)


def find_present(project: Project) -> Any:
    """The ``area_m2`` and ``checksum`` of the present entry, or None without one."""
    return db.session.execute(_FIND, _project_ids(project)).one_or_none()


def _project_ids(project: Project) -> dict[str, str]:
    return {"account_id": project.account_id, "project_id": project.id}

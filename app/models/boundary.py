"""The boundaries of projects, former ones included, and simplified shapes of present ones."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import BigInteger, CheckConstraint, ForeignKey, SmallInteger, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from app.db.column_types import Base, Key, Timestamp, foreign_key, partial_index
from app.models.project import RowNumber

_PRESENT = "replaced_at IS NULL"
_WAITING = "replaced_at IS NULL AND simplified_at IS NULL"
_STORING = "stored_bytes > 0"


class BoundaryEntry(Base):
    """A boundary of a project, from ``created_at`` until ``replaced_at``.

    The text of the present one is in the project's row: its entry gets ``geometry`` and
    ``stored_bytes`` when it is replaced. ``checksum`` is the CRC-32 of the text, which reveals a
    boundary that was changed with SQL. ``created_by`` is None for SQL. ``added_m2`` and
    ``removed_m2`` are None if the comparison was too expensive. ``simplified_at`` is None until a
    job has made the shapes.
    """

    __tablename__ = "boundaries"
    __table_args__ = (
        CheckConstraint(
            "source IN ('api', 'import', 'dashboard', 'cli', 'database', 'ogc')", name="source"
        ),
        partial_index(
            "ix_boundaries_present", "project_id", "account_id", unique=True, where=_PRESENT
        ),
        partial_index("ix_boundaries_waiting", "account_id", "project_id", where=_WAITING),
        partial_index("ix_boundaries_storing", "account_id", "stored_bytes", where=_STORING),
    )

    project_id: Mapped[str] = foreign_key("projects.id", primary_key=True)
    id: Mapped[str] = mapped_column(Key, primary_key=True)
    account_id: Mapped[str] = mapped_column(Key)
    created_at: Mapped[datetime] = mapped_column(Timestamp)
    replaced_at: Mapped[datetime | None] = mapped_column(Timestamp)
    simplified_at: Mapped[datetime | None] = mapped_column(Timestamp)
    created_by: Mapped[str | None] = mapped_column(Key)  # a person
    created_by_email: Mapped[str | None] = mapped_column(String(254))
    source: Mapped[str] = mapped_column(String(10))
    area_m2: Mapped[int] = mapped_column(BigInteger)
    added_m2: Mapped[int | None] = mapped_column(BigInteger)
    removed_m2: Mapped[int | None] = mapped_column(BigInteger)
    checksum: Mapped[int] = mapped_column(BigInteger)
    stored_bytes: Mapped[int] = mapped_column(BigInteger, default=0)
    geometry: Mapped[str | None] = mapped_column(Text)


class BoundaryShape(Base):
    """A project's present boundary, simplified for maps up to the zoom ``level``.

    ``area_m2`` is the area of the boundary: if the project has another area, the shape is outdated.
    ``geometry`` is a GeoJSON Polygon or MultiPolygon, perhaps not a valid one, or a Point."""

    __tablename__ = "boundary_shapes"

    project_row: Mapped[int] = mapped_column(
        RowNumber,
        ForeignKey("projects.row", ondelete="CASCADE"),
        primary_key=True,
        autoincrement=False,
    )
    level: Mapped[int] = mapped_column(SmallInteger, primary_key=True)
    account_id: Mapped[str] = mapped_column(Key)
    area_m2: Mapped[int] = mapped_column(BigInteger)
    geometry: Mapped[str] = mapped_column(Text)

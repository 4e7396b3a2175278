"""The features of imports, and what becomes of them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, BigInteger, Boolean, ForeignKey, Index, Integer, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from app.db.column_types import Base, Key, Timestamp, among
from app.policy.imports import VERDICTS


class ImportFeature(Base):
    """A feature of an import's layer, and what becomes of it.

    ``target_id`` is the project or asset that it becomes or changes. ``values`` and ``geometry``
    are written, ``before`` are the replaced columns; the geometry of a rejected feature is only for
    a map. ``outside``: an asset outside the boundary of its project; null without a boundary or a
    location. ``overlaps`` are the largest as in the API, null without any; ``overlap_m2`` is the
    sum of all with projects. ``left_out``: a person has excluded it. ``is_plot``: it becomes an
    asset, in an import of projects. ``metadata_changes`` are the keys of metadata that differ.
    ``state`` is null until the import is applied: then it is ``applied``, later ``undone`` or
    ``kept``. ``written_at`` is the ``updated_at`` of the written target, which reveals later
    changes.
    """

    __tablename__ = "import_features"
    __table_args__ = (
        among("verdict", VERDICTS),
        Index(None, "import_id", "verdict", "number"),
    )

    import_id: Mapped[str] = mapped_column(
        Key, ForeignKey("imports.id", ondelete="CASCADE"), primary_key=True
    )
    number: Mapped[int] = mapped_column(Integer, primary_key=True)
    account_id: Mapped[str] = mapped_column(Key)
    name: Mapped[str] = mapped_column(Text)
    verdict: Mapped[str] = mapped_column(String(10))
    target_id: Mapped[str | None] = mapped_column(Key)
    area_m2: Mapped[int | None] = mapped_column(BigInteger)
    previous_area_m2: Mapped[int | None] = mapped_column(BigInteger)
    left_out: Mapped[bool] = mapped_column(Boolean, default=False)
    is_plot: Mapped[bool] = mapped_column(Boolean, default=False)
    changes: Mapped[list[str]] = mapped_column(JSON)
    metadata_changes: Mapped[list[str]] = mapped_column(JSON, default=list)
    is_namesake: Mapped[bool] = mapped_column(Boolean, default=False)
    problems: Mapped[list[Any]] = mapped_column(JSON)
    outside: Mapped[bool | None] = mapped_column(Boolean)
    overlaps: Mapped[list[Any] | None] = mapped_column(JSON(none_as_null=True))
    overlap_m2: Mapped[int | None] = mapped_column(BigInteger)
    state: Mapped[str | None] = mapped_column(String(10))
    written_at: Mapped[datetime | None] = mapped_column(Timestamp)
    values: Mapped[dict[str, Any]] = mapped_column(JSON)
    before: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))
    geometry: Mapped[str | None] = mapped_column(Text)

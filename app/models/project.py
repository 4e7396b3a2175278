"""Projects: forest areas with a boundary."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import (
    BigInteger,
    Double,
    Index,
    Integer,
    SmallInteger,
    String,
    Text,
    UniqueConstraint,
)
from sqlalchemy.orm import Mapped, mapped_column

from app.db.column_types import (
    Base,
    Key,
    SortableText,
    Timestamp,
    foreign_key,
    one_of_words,
    partial_index,
    search_indexes,
    smallest_null,
)
from app.policy.request_limits import PROJECT_STATUSES

RowNumber = BigInteger().with_variant(Integer, "sqlite")


class Project(Base):
    """A forest area.

    ``row`` is the number of the row, which the search and box indexes point to; clients never see
    it. ``geometry`` and ``metadata`` are the JSON text as it goes out, and ``stored_bytes`` is its
    length in UTF-8. ``geometry`` comes last: SQLite reads a row from its start, and need not read a
    large boundary for the columns before it. ``name_key`` is case-folded, ``search_text``
    normalized for search (``app.values.folding``), and the box is unwrapped (``app.geometry``). The
    indexes follow the orders of lists. ``deleted_at`` is set while the rows of a deleted project
    are deleted in batches (``app.projects.deletion``): the tenant filter excludes it and its
    assets. ``country_version`` is the version of the data that ``country`` was derived from; null
    until a job derives it.
    """

    __tablename__ = "projects"
    __table_args__ = (
        UniqueConstraint("account_id", "slug"),
        one_of_words("status", PROJECT_STATUSES),
        Index(None, "account_id", "created_at", "id"),
        Index(None, "account_id", "name_key", "id"),
        Index(  # also for maps, which find the largest in a box by it alone
            "ix_projects_account_id_area_m2_id",
            *("account_id", smallest_null("area_m2"), "id", "status"),
            *("west", "south", "east", "north"),
        ),
        Index(None, "account_id", "updated_at", "id"),
        partial_index(
            "ix_projects_account_id_external_id",
            *("account_id", "external_id"),
            where="external_id IS NOT NULL",
            unique=True,
        ),
        Index(None, "account_id", "status", "created_at", "id"),
        Index(None, "account_id", "status", "name_key", "id"),
        Index(
            "ix_projects_account_id_status_area_m2_id",
            *("account_id", "status", smallest_null("area_m2"), "id"),
        ),
        Index(None, "account_id", "status", "updated_at", "id"),
        partial_index(  # for the job that derives countries
            "ix_projects_without_country",
            "id",
            where="country_version IS NULL AND area_m2 IS NOT NULL",
        ),
        partial_index("ix_projects_deleted", "account_id", "id", where="deleted_at IS NOT NULL"),
        *search_indexes("projects", "account_id", "west", "south", "east", "north"),
    )

    row: Mapped[int] = mapped_column(RowNumber, primary_key=True)
    id: Mapped[str] = mapped_column(Key, unique=True)
    account_id: Mapped[str] = foreign_key("accounts.id")
    status: Mapped[str] = mapped_column(String(10))
    created_at: Mapped[datetime] = mapped_column(Timestamp)
    updated_at: Mapped[datetime] = mapped_column(Timestamp)
    area_m2: Mapped[int | None] = mapped_column(BigInteger)
    west: Mapped[float | None] = mapped_column(Double)
    south: Mapped[float | None] = mapped_column(Double)
    east: Mapped[float | None] = mapped_column(Double)
    north: Mapped[float | None] = mapped_column(Double)
    # The default is for rows inserted with SQL.
    stored_bytes: Mapped[int] = mapped_column(BigInteger, default=0, server_default="0")
    slug: Mapped[str] = mapped_column(String(63))
    external_id: Mapped[str | None] = mapped_column(String(200))
    name: Mapped[str] = mapped_column(String(200))
    name_key: Mapped[str] = mapped_column(SortableText)
    search_text: Mapped[str] = mapped_column(SortableText, deferred=True)
    description: Mapped[str | None] = mapped_column(Text)
    country: Mapped[str | None] = mapped_column(String(2))
    country_version: Mapped[int | None] = mapped_column(SmallInteger)
    metadata_json: Mapped[str | None] = mapped_column("metadata", Text, key="metadata_json")
    deleted_at: Mapped[datetime | None] = mapped_column(Timestamp)
    geometry: Mapped[str | None] = mapped_column(Text)

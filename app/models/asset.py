"""Assets: equipment, stations and points inside a project."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Double, Index, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from app.db.column_types import (
    Base,
    Key,
    SortableText,
    Timestamp,
    foreign_key,
    partial_index,
    search_indexes,
)
from app.models.project import RowNumber

_PLACE = ("longitude", "latitude", "longitude", "latitude")


class Asset(Base):
    """Something inside a project. ``row``, ``search_text`` and the text columns are as in Project:
    ``location`` and ``metadata`` are the JSON text as it goes out. External ids are unique within
    the project; their index begins with the account, for lists of all assets.
    """

    __tablename__ = "assets"
    __table_args__ = (
        Index(None, "project_id", "account_id", "created_at", "id"),
        Index(None, "project_id", "account_id", "updated_at", "id"),
        Index(None, "project_id", "account_id", "status", "created_at", "id"),
        Index(None, "project_id", "account_id", "type", "created_at", "id", "status"),
        Index(None, "account_id", "created_at", "id"),
        Index(None, "account_id", "updated_at", "id"),
        Index(None, "account_id", "status", "created_at", "id"),
        Index(None, "account_id", "type", "created_at", "id", "status"),
        partial_index(
            "ix_assets_account_id_external_id_project_id",
            *("account_id", "external_id", "project_id"),
            where="external_id IS NOT NULL",
            unique=True,
        ),
        *search_indexes("assets", "project_id", *_PLACE),
        *search_indexes("account_assets", "account_id", *_PLACE),
    )

    row: Mapped[int] = mapped_column(RowNumber, primary_key=True)
    id: Mapped[str] = mapped_column(Key, unique=True)
    account_id: Mapped[str] = foreign_key("accounts.id")
    project_id: Mapped[str] = foreign_key("projects.id")
    type: Mapped[str] = mapped_column(String(50))
    status: Mapped[str] = mapped_column(String(50))
    created_at: Mapped[datetime] = mapped_column(Timestamp)
    updated_at: Mapped[datetime] = mapped_column(Timestamp)
    longitude: Mapped[float | None] = mapped_column(Double)
    latitude: Mapped[float | None] = mapped_column(Double)
    external_id: Mapped[str | None] = mapped_column(String(200))
    name: Mapped[str] = mapped_column(String(200))
    search_text: Mapped[str] = mapped_column(SortableText, deferred=True)
    location: Mapped[str | None] = mapped_column(Text)
    metadata_json: Mapped[str | None] = mapped_column("metadata", Text, key="metadata_json")

"""Imports and their files."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import (
    JSON,
    Boolean,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    String,
    Text,
)
from sqlalchemy.orm import Mapped, mapped_column

from app.db.column_types import Base, Key, Timestamp, among
from app.policy.imports import KINDS, STATUSES


class Import(Base):
    """One file that is imported into an account.

    ``crs`` is the coordinate system that the file names, if its positions can be in it;
    ``given_crs`` is the one that a person has named, and takes precedence.
    ``swap``, ``corners_by``, ``close_lines`` and ``without_boundaries`` are answers to
    ``questions`` (``app.imports.questions``), and so is ``points_as_plots``, null until it is
    answered. ``project_made_at``: the import created the project of its plots, with this
    ``updated_at``. ``left_out`` has the numbers of the features that are not written.
    ``acted_as`` is the credential of ``acted_by`` (``app.imports.attribution``). ``mapping`` is
    null until it is guessed. ``counts`` also has the hectares and the bbox of the read features,
    and the seconds of deciding about them while the import was applied. ``lease`` belongs to the
    worker that does what ``status`` says, from ``leased_at`` until ``leased_until``. ``is_long``: a
    brief turn was too short to read it. ``costly_layers`` are those that took too much to be read;
    null: the file could not even be opened.
    """

    __tablename__ = "imports"
    __table_args__ = (
        among("kind", KINDS),
        among("status", STATUSES),
        Index(None, "account_id", "created_at", "id"),
        Index(None, "account_id", "leased_at"),
        Index(None, "status"),
        Index(None, "created_at"),
    )

    id: Mapped[str] = mapped_column(Key, primary_key=True)
    account_id: Mapped[str] = mapped_column(Key, ForeignKey("accounts.id", ondelete="CASCADE"))
    kind: Mapped[str] = mapped_column(String(10))
    project_id: Mapped[str | None] = mapped_column(Key)  # for assets; for plots null: a new project
    source: Mapped[str] = mapped_column(String(10))  # where it was started: api, cli, dashboard
    user_id: Mapped[str] = mapped_column(Key)  # who started it
    user_email: Mapped[str] = mapped_column(String(254))
    acted_by: Mapped[str | None] = mapped_column(Key)  # who had it applied, or undone after that
    acted_by_email: Mapped[str | None] = mapped_column(String(254))
    acted_as: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))
    filename: Mapped[str] = mapped_column(String(200))
    upload_id: Mapped[str | None] = mapped_column(Key)  # null when the file is deleted
    format: Mapped[str | None] = mapped_column(String(10))
    crs: Mapped[str | None] = mapped_column(Text)
    given_crs: Mapped[str | None] = mapped_column(Text)
    status: Mapped[str] = mapped_column(String(10))
    layers: Mapped[list[Any]] = mapped_column(JSON, default=list)
    layer: Mapped[str | None] = mapped_column(Text)
    mapping: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))
    match: Mapped[str | None] = mapped_column(String(20))
    close_lines: Mapped[bool] = mapped_column(Boolean, default=False)
    swap: Mapped[bool] = mapped_column(Boolean, default=False)
    corners_by: Mapped[str | None] = mapped_column(Text)
    without_boundaries: Mapped[bool] = mapped_column(Boolean, default=False)
    points_as_plots: Mapped[bool | None] = mapped_column(Boolean)
    project_made_at: Mapped[datetime | None] = mapped_column(Timestamp)
    questions: Mapped[list[Any]] = mapped_column(JSON, default=list)
    left_out: Mapped[list[int]] = mapped_column(JSON, default=list)
    counts: Mapped[dict[str, Any]] = mapped_column(JSON, default=dict)
    notes: Mapped[list[str]] = mapped_column(JSON, default=list)
    progress_done: Mapped[int] = mapped_column(Integer, default=0)
    progress_total: Mapped[int] = mapped_column(Integer, default=0)
    message: Mapped[str | None] = mapped_column(Text)
    lease: Mapped[str | None] = mapped_column(Key)
    leased_at: Mapped[datetime | None] = mapped_column(Timestamp)
    leased_until: Mapped[datetime | None] = mapped_column(Timestamp)
    is_long: Mapped[bool] = mapped_column(Boolean, default=False)
    costly_layers: Mapped[list[str | None]] = mapped_column(JSON, default=list)
    tries: Mapped[int] = mapped_column(Integer, default=0)  # to do the step of ``status``
    created_at: Mapped[datetime] = mapped_column(Timestamp)
    updated_at: Mapped[datetime] = mapped_column(Timestamp)


class ImportFile(Base):
    """A piece of an uploaded file. An upload without an import is deleted after a while."""

    __tablename__ = "import_files"
    __table_args__ = (Index(None, "created_at"),)

    upload_id: Mapped[str] = mapped_column(Key, primary_key=True)
    number: Mapped[int] = mapped_column(Integer, primary_key=True)
    account_id: Mapped[str] = mapped_column(Key, ForeignKey("accounts.id", ondelete="CASCADE"))
    data: Mapped[bytes] = mapped_column(LargeBinary)
    created_at: Mapped[datetime] = mapped_column(Timestamp)

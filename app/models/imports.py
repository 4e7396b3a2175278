"""Imports, their files and their features."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Index,
    Integer,
    LargeBinary,
    String,
    Text,
)
from sqlalchemy.orm import Mapped, mapped_column

from app.db.column_types import Base, Key, Timestamp, foreign_key, one_of_words
from app.policy.imports import KINDS, STATUSES, VERDICTS


class Import(Base):
    """One file that is imported into an account.

    ``crs`` is the coordinate system that the file names, if its positions can be in it;
    ``given_crs`` is the one that a person has named, and takes precedence. ``encoding`` is that of
    the texts as they were read, as in the API, null in formats with one of their own;
    ``given_encoding`` is what a person has named.
    ``swap``, ``corners_by``, ``close_lines`` and ``without_boundaries`` are answers to
    ``questions`` (``app.imports.questions``), and so is ``points_as_plots``, null until it is
    answered; with ``points`` = "assets", they become assets of any type. ``letters`` and
    ``zone_letter`` say what letters with two meanings mean, if a person has said it.
    ``project_made_at``: the
    import created the project of its plots, with this ``updated_at``. ``left_out`` has the numbers
    of the features that are not written, ``names`` those that a person has given to features, by
    number.
    ``acted_as`` is the credential of ``acted_by`` (``app.imports.attribution``). ``mapping`` is
    null until it is guessed. ``counts`` also has the hectares and the bbox of the read features,
    and the seconds of deciding about them while the import was applied. ``lease`` belongs to the
    worker that does what ``status`` says, from ``leased_at`` until ``leased_until``. ``is_long``: a
    brief turn was too short to read it. ``costly_layers`` are those that took too much to be read;
    null: the file could not even be opened.
    """

    __tablename__ = "imports"
    __table_args__ = (
        one_of_words("kind", KINDS),
        one_of_words("status", STATUSES),
        Index(None, "account_id", "created_at", "id"),
        Index(None, "account_id", "leased_at"),
        Index(None, "status"),
        Index(None, "created_at"),
    )

    id: Mapped[str] = mapped_column(Key, primary_key=True)
    account_id: Mapped[str] = foreign_key("accounts.id")
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
    encoding: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))
    given_encoding: Mapped[str | None] = mapped_column(String(20))
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
    letters: Mapped[dict[str, str] | None] = mapped_column(JSON(none_as_null=True))
    zone_letter: Mapped[str | None] = mapped_column(String(10))
    points: Mapped[str | None] = mapped_column(String(10))
    project_made_at: Mapped[datetime | None] = mapped_column(Timestamp)
    questions: Mapped[list[Any]] = mapped_column(JSON, default=list)
    left_out: Mapped[list[int]] = mapped_column(JSON, default=list)
    names: Mapped[dict[str, str] | None] = mapped_column(JSON(none_as_null=True))
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


class ImportedRecord(Base):
    """A project or an asset that an import has made or changed. It outlives both: it is deleted
    when the import is undone, or with the account."""

    __tablename__ = "imported_records"

    account_id: Mapped[str] = foreign_key("accounts.id", primary_key=True)
    import_id: Mapped[str] = mapped_column(Key, primary_key=True)
    record_id: Mapped[str] = mapped_column(Key, primary_key=True)


class ImportFile(Base):
    """A piece of an uploaded file. An upload without an import is deleted after a while."""

    __tablename__ = "import_files"
    __table_args__ = (Index(None, "created_at"),)

    upload_id: Mapped[str] = mapped_column(Key, primary_key=True)
    number: Mapped[int] = mapped_column(Integer, primary_key=True)
    account_id: Mapped[str] = foreign_key("accounts.id")
    data: Mapped[bytes] = mapped_column(LargeBinary)
    created_at: Mapped[datetime] = mapped_column(Timestamp)


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
        one_of_words("verdict", VERDICTS),
        Index(None, "import_id", "verdict", "number"),
    )

    import_id: Mapped[str] = foreign_key("imports.id", primary_key=True)
    number: Mapped[int] = mapped_column(Integer, primary_key=True)
    account_id: Mapped[str] = mapped_column(Key)
    name: Mapped[str] = mapped_column(Text)
    external_id: Mapped[str | None] = mapped_column(Text)
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

"""The rows of an archive in a temporary file, until all of them are known to be right: then they
are written in one short transaction. Few are in memory at a time."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from datetime import datetime
from typing import Any, Final, NamedTuple, Self

import orjson

from app.formats.features import FileInvalid
from app.imports.account_archive.records import Row

_TABLE: Final = """
CREATE TABLE staged (
    kind TEXT NOT NULL, id TEXT NOT NULL, new_id TEXT NOT NULL, project_id TEXT NOT NULL,
    slug TEXT, external_id TEXT, updated_at TEXT, area_m2 INTEGER, checksum INTEGER,
    project_of_present TEXT, content BLOB NOT NULL,
    UNIQUE (kind, id), UNIQUE (kind, slug), UNIQUE (kind, project_id, external_id),
    UNIQUE (project_of_present)
)
"""
_INSERT: Final = "INSERT INTO staged VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_PROJECT: Final = """
SELECT new_id, updated_at, area_m2, checksum FROM staged WHERE kind = 'project' AND id = ?
"""
_TIMES: Final = ("created_at", "updated_at", "replaced_at")


class StagedProject(NamedTuple):
    """A project of the archive: its new id, and its boundary's area and checksum, if it has one."""

    id: str
    updated_at: datetime
    area_m2: int | None
    checksum: int | None


class Staging:
    """The rows, in the order in which they are written."""

    def __init__(self) -> None:
        self._file = sqlite3.connect("")  # a temporary file that no other process sees
        self._file.execute(_TABLE)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def add(self, kind: str, former_id: str, row: Row, place: str) -> None:
        """Add a row with its new ids.

        Args:
            kind: "project", "asset" or "boundary".

        Raises:
            FileInvalid: another row has an id, slug or external id that only one can have.
        """
        is_project, is_entry = kind == "project", kind == "boundary"
        values = (
            kind,
            former_id,
            row["id"],
            "" if is_project else row["project_id"],
            row.get("slug"),
            row.get("external_id"),
            row["updated_at"].isoformat() if is_project else None,
            row["area_m2"] if is_project else None,
            row.pop("checksum") if is_project else None,
            row["project_id"] if is_entry and row["replaced_at"] is None else None,
            orjson.dumps(row),
        )
        try:
            self._file.execute(_INSERT, values)
        except sqlite3.IntegrityError as error:
            name = str(error).rpartition(".")[2]
            fault = f"Another {kind} has the same {name}."
            if name == "project_of_present":
                fault = "Another boundary of this project has no replaced_at, too."
            raise FileInvalid(f"{place}: {fault}") from None

    def project(self, former_id: str) -> StagedProject | None:
        """The project that had this id."""
        row = self._file.execute(_PROJECT, (former_id,)).fetchone()
        if row is None:
            return None
        project_id, updated_at, area_m2, checksum = row
        return StagedProject(project_id, datetime.fromisoformat(updated_at), area_m2, checksum)

    def ids(self) -> Iterator[tuple[str, str, str]]:
        """Yield the kind, the former and the new id of each row."""
        select = "SELECT kind, id, new_id FROM staged ORDER BY rowid"
        return self._file.execute(select)

    def rows(self, kind: str) -> Iterator[tuple[int, Row]]:
        """Yield the rows of a kind, each with its bytes here."""
        select = "SELECT content FROM staged WHERE kind = ? ORDER BY rowid"
        for (content,) in self._file.execute(select, (kind,)):
            row: dict[str, Any] = orjson.loads(content)
            for name in _TIMES:
                if row.get(name) is not None:
                    row[name] = datetime.fromisoformat(row[name])
            yield len(content), row

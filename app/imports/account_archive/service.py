"""Importing an archive into an account that has no projects.

First all of it is read and checked, into a temporary file; then everything is written in one
transaction. No events are written: what moved was not created now, and a new account has no
webhooks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from operator import itemgetter
from typing import Any, Final

from app.assets.derived import stored_bytes
from app.audit.entries import changes_of_new, write_entry
from app.audit.targets import Target
from app.auth.tenant import columns_of
from app.db.queries import CompiledQuery
from app.db.transactions import insert_rows
from app.formats.features import FileInvalid
from app.http.errors import BadRequest
from app.imports.account_archive.reading import (
    ASSETS,
    BOUNDARIES,
    PROJECTS,
    AccountArchive,
    Source,
)
from app.imports.account_archive.records import (
    Row,
    asset_row,
    boundary_row,
    project_row,
    square_meters,
)
from app.imports.account_archive.staging import StagedProject, Staging
from app.models import Asset, BoundaryEntry, Project
from app.policy.imports import BATCH_BYTES
from app.projects.boundary_history.entries import boundary_checksum
from app.usage.counters import byte_limit, recount_usage
from app.values.batching import batched_by_bytes
from app.values.ids import new_id_at

_MODELS: Final = {"project": Project, "asset": Asset, "boundary": BoundaryEntry}
_BATCH_ROWS: Final = 500
_NEVER: Final = datetime.min.replace(tzinfo=UTC)
_HAS_PROJECTS: Final = CompiledQuery(columns_of(Project, Project.id).limit(1))


def check_empty(account: Any) -> None:
    """Raise BadRequest if an account has projects."""
    if _HAS_PROJECTS.first(account_id=account.id) is not None:
        raise BadRequest(
            f"The account {account.slug} has projects. Import into a new account, or an empty one."
        )


class ArchiveReader:
    """Reads an archive into a ``Staging``, and checks it.

    Args:
        advance: called with the number of records that were read.

    Attributes:
        rows: the number of rows of each kind.
        area_m2: of the projects that are not archived.
        stored_bytes: of boundaries and metadata.
        differing: the name of each project whose area is another one here, with both, in m².
        left_out: assets and boundaries of projects that were made while the archive was written.
    """

    def __init__(
        self, archive: AccountArchive, staging: Staging, advance: Callable[[int], None]
    ) -> None:
        self._archive, self._staging, self._advance = archive, staging, advance
        self._latest = "", _NEVER  # a project, and the latest time of its entries
        self.rows = Counter[str]()
        self.area_m2 = self.stored_bytes = self.left_out = 0
        self.differing: list[tuple[str, int, int]] = []

    def read(self) -> None:
        """Read everything. Raises FileInvalid."""
        for name, add in (
            (PROJECTS, self._add_project),
            (ASSETS, self._add_asset),
            (BOUNDARIES, self._add_boundary),
        ):
            for place, record in self._archive.records(name):
                add(record, place)

    def _add(self, kind: str, former_id: str, row: Row, place: str, size: int) -> None:
        self._staging.add(kind, former_id, row, place)
        self.rows[kind] += 1
        self.stored_bytes += size
        limit = byte_limit()
        if limit is not None and self.stored_bytes > limit:
            raise FileInvalid(
                f"{place}: Up to here it has {self.stored_bytes:,} bytes of boundaries, "
                f"former ones too, and metadata, and an account may have {limit:,}. The setting "
                "MAX_ACCOUNT_BYTES raises that."
            )
        self._advance(1)

    def _add_project(self, feature: dict[str, Any], place: str) -> None:
        row = project_row(feature, place)
        former_id, area_m2 = row["id"], row["area_m2"]
        former_m2 = square_meters(row.pop("area_hectares"))
        if former_m2 is not None and former_m2 != area_m2:
            self.differing.append((row["name"], former_m2, area_m2 or 0))
        row["id"] = new_id_at("project", row["created_at"])
        text = row["geometry"]
        row["checksum"] = None if text is None else boundary_checksum(text)
        if row["status"] != "archived":
            self.area_m2 += area_m2 or 0
        self._add("project", former_id, row, place, row["stored_bytes"])

    def _add_asset(self, feature: dict[str, Any], place: str) -> None:
        row = asset_row(feature, place)
        project, former_id = self._project_of(row, place), row["id"]
        if project is not None:
            row |= {"id": new_id_at("asset", row["created_at"]), "project_id": project.id}
            self._add("asset", former_id, row, place, stored_bytes(row.get("metadata_json")))

    def _add_boundary(self, record: dict[str, Any], place: str) -> None:
        """Add an entry of the history, as it was when the project was read: one that was made
        later, or replaced later, is left out, or the present one."""
        row = boundary_row(record, place)
        project, former_id = self._project_of(row, place), row["id"]
        if project is None:
            return
        if row["created_at"] > project.updated_at:
            self.left_out += 1
            return
        is_present = row["replaced_at"] is None or row["replaced_at"] > project.updated_at
        if is_present and project.area_m2 is not None:
            row |= {"replaced_at": None, "area_m2": project.area_m2, "checksum": project.checksum}
            row |= {"geometry": None, "stored_bytes": 0}
        elif is_present:
            row["replaced_at"] = project.updated_at
        # Lists sort by id: those of a project stay in order.
        project_id, latest = self._latest
        moment = max(row["created_at"], latest) if project_id == project.id else row["created_at"]
        self._latest = project.id, moment
        row |= {"id": new_id_at("boundary", moment), "project_id": project.id}
        self._add("boundary", former_id, row, place, row["stored_bytes"])

    def _project_of(self, row: Row, place: str) -> StagedProject | None:
        """The project of a row, None if it was made while the archive was written. Raises
        FileInvalid if there is none."""
        project = self._staging.project(row["project_id"])
        if project is None:
            if row["created_at"] < self._archive.began:
                raise FileInvalid(f"{place}: {row['project_id']} is no project of the archive.")
            self.left_out += 1
        return project


def write_account(
    account: Any,
    staging: Staging,
    rows: Counter[str],
    source: Source,
    advance: Callable[[int], None],
) -> None:
    """Write the rows of an archive in the current transaction, with one entry of the audit log.

    Args:
        account: has ``id``, ``slug`` and ``name``, and no projects.
        rows: the number of rows of each kind.
        advance: called with the number of rows that were written.

    Raises:
        BadRequest: the account has projects.
    """
    check_empty(account)
    for kind, model in _MODELS.items():
        staged = staging.rows(kind)
        for batch in batched_by_bytes(staged, itemgetter(0), BATCH_BYTES, _BATCH_ROWS):
            insert_rows(model, (row | {"account_id": account.id} for _, row in batch))
            advance(len(batch))
    recount_usage(account.id)
    changes = changes_of_new({**source._asdict(), **rows})
    target = Target("account", account.id, account.name)
    write_entry("account.imported", target, account_id=account.id, changes=changes)

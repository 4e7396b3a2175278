"""The usage counters of an account, updated in the transaction of each change."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, NamedTuple, cast

from sqlalchemy import BigInteger, ColumnElement, Table, bindparam, case, func, select, update
from sqlalchemy.exc import NoResultFound

from app.auth.tenant import columns_of
from app.db.column_types import byte_length
from app.db.extensions import db
from app.db.queries import CompiledQuery
from app.db.transactions import CompiledChange
from app.http.errors import Forbidden
from app.maintenance.history_bytes import take_history
from app.models import Account, AccountUsage, Asset, BoundaryEntry, Membership, Project
from app.settings.current import current_settings
from app.usage.history import check_history
from app.usage.thresholds import SQUARE_METERS, update_counter_levels, update_requests_level
from app.values import clock

_COUNTERS = CompiledQuery(
    columns_of(
        AccountUsage,
        AccountUsage.projects_active,
        AccountUsage.projects_archived,
        AccountUsage.projects_draft,
        AccountUsage.area_m2,
        AccountUsage.members,
        AccountUsage.stored_bytes,
        AccountUsage.history_bytes,
        AccountUsage.map_version,
    )
)

_USAGE = cast("Table", AccountUsage.__table__)


def next_version(name: str) -> ColumnElement[int]:
    """The next version of an account's map or lists, in the column ``name``. The parameter ``now``
    is in Unix milliseconds: no version repeats after a backup is restored."""
    version, now = _USAGE.c[name], bindparam("now", type_=BigInteger)
    return case((version >= now, version + 1), else_=now)


COUNTED: Final = (
    "projects_active", "projects_archived", "projects_draft", "area_m2", "members", "stored_bytes",
)  # fmt: skip
_LEVELS = (
    _USAGE.c.area_m2, _USAGE.c.members, _USAGE.c.stored_bytes, _USAGE.c.hectares_level,
    _USAGE.c.members_level, _USAGE.c.history_bytes,
)  # fmt: skip
_ACCOUNT = [
    select(column).where(Account.id == bindparam("account")).scalar_subquery().label(column.key)
    for column in (Account.name, Account.plan)
]
# Returns the values for thresholds, so that one statement is enough.
_CHANGE = (
    update(_USAGE)
    .where(_USAGE.c.account_id == bindparam("account"))
    .values(
        history_bytes=_USAGE.c.history_bytes + bindparam("history", type_=BigInteger),
        lists_version=next_version("lists_version"),
    )
    .returning(*_LEVELS, *_ACCOUNT)
)
_SUMS = {name: _USAGE.c[name] + bindparam(f"new_{name}") for name in COUNTED}
_VERSION = {"map_version": next_version("map_version")}
_ADD = CompiledChange(_CHANGE.values(_SUMS))
_ADD_PROJECT = CompiledChange(_CHANGE.values(_SUMS | _VERSION))
_SET = CompiledChange(
    _CHANGE.values({name: bindparam(f"new_{name}") for name in COUNTED} | _VERSION)
)
_PROJECTS = (
    columns_of(Project, Project.status)
    .add_columns(
        func.count().label("projects"),
        func.sum(Project.area_m2).label("area_m2"),
        func.sum(Project.stored_bytes).label("stored_bytes"),
    )
    .group_by(Project.status)
)
_ASSET_BYTES = columns_of(Asset).add_columns(
    func.coalesce(func.sum(byte_length(Asset.metadata_json)), 0)
)
_FORMER_BYTES = (
    columns_of(BoundaryEntry)
    .add_columns(func.coalesce(func.sum(BoundaryEntry.stored_bytes), 0))
    .where(BoundaryEntry.stored_bytes > 0)  # the condition of the index
)
_MEMBERS = columns_of(Membership).add_columns(func.count())


class ProjectContribution(NamedTuple):
    """The contribution of a project to the counters."""

    status: str
    area_m2: int | None
    stored_bytes: int


def count_project(
    account_id: str,
    before: ProjectContribution | None,
    after: ProjectContribution | None,
    more_bytes: int = 0,
    *,
    is_bounded: bool = False,
) -> None:
    """Update the counters for a changed project, in the current transaction.

    Emits the events of crossed thresholds, so write the event and the entry of the change first.
    The event's foreign key to the account serializes this transaction with ``set_plan``.

    Args:
        before: None if the project was created.
        after: None if the project was deleted.
        more_bytes: the change of the bytes of its former boundaries and its assets.
        is_bounded: the account's history must have room for the change.

    Raises:
        Forbidden: the account would store more bytes than allowed, or its history is full.
    """
    changes = dict.fromkeys(COUNTED, 0) | {"stored_bytes": more_bytes}
    for project, sign in ((before, -1), (after, 1)):
        if project is not None:
            changes[f"projects_{project.status}"] += sign
            changes["stored_bytes"] += sign * project.stored_bytes
            if project.status != "archived":
                changes["area_m2"] += sign * (project.area_m2 or 0)
    _add_changes(account_id, changes, _ADD_PROJECT, is_bounded=is_bounded)


def count_bytes(account_id: str, change: int, *, is_bounded: bool = False) -> None:
    """Add to the counter of stored bytes in the current transaction, otherwise as
    ``count_project``."""
    _add_changes(account_id, {"stored_bytes": change}, is_bounded=is_bounded)


def count_member(account_id: str, change: int) -> None:
    """Add 1 or -1 to the counter of members, invited people included, in the current transaction.
    Emit the event of the change first."""
    _add_changes(account_id, {"members": change})


def note_new_shapes(account_ids: Iterable[str]) -> None:
    """Give the maps of accounts with new shapes a new version, in the current transaction."""
    for account_id in sorted(set(account_ids)):  # sorted, so that no two wait for each other
        _write_counts(_ADD_PROJECT, account_id, dict.fromkeys(COUNTED, 0))


def lock_counters(account_id: str) -> None:
    """Lock the account's counters until the end of the current transaction."""
    own = select(_USAGE.c.account_id).where(_USAGE.c.account_id == account_id)
    db.session.execute(own.with_for_update())


def recount_usage(account_id: str) -> None:
    """Recompute all counters in the current transaction. Emit the events of its changes first.

    Exact despite concurrent changes: a transaction that has already updated the counters has ended
    before the lock is granted; any other is not visible here yet, and adds its change afterwards.
    """
    lock_counters(account_id)
    counts = dict.fromkeys(COUNTED, 0)
    own = {"account_id": account_id}
    for row in db.session.execute(_PROJECTS, own):
        counts[f"projects_{row.status}"] = row.projects
        counts["stored_bytes"] += int(row.stored_bytes)
        if row.status != "archived":
            counts["area_m2"] += int(row.area_m2 or 0)
    for bytes_query in (_ASSET_BYTES, _FORMER_BYTES):
        counts["stored_bytes"] += int(db.session.execute(bytes_query, own).scalar_one())
    counts["members"] = db.session.execute(_MEMBERS, own).scalar_one()
    _write_counts(_SET, account_id, counts)


def check_thresholds(account_id: str) -> None:
    """Check an account's usage against its plan, which has changed in the current transaction."""
    _add_changes(account_id, {})
    update_requests_level(account_id, clock.now())


def read_counters(account_id: str) -> Any:
    """Read an account's counters.

    Raises:
        NoResultFound: the account has just been deleted.
    """
    row = _COUNTERS.first(account_id=account_id)
    if row is None:
        raise NoResultFound
    return row


def project_total(row: Any) -> int:
    """The number of projects with any status.

    Args:
        row: a row of ``read_counters``, or an ``AccountUsage``.
    """
    return int(row.projects_active + row.projects_archived + row.projects_draft)


def usage_summary(row: Any) -> dict[str, Any]:
    """Build the field ``usage`` of an account; archived projects do not count for the hectares.

    Args:
        row: a row of ``read_counters``, or an ``AccountUsage``.
    """
    return {
        "hectares": row.area_m2 / SQUARE_METERS,
        "projects": project_total(row),
        "members": row.members,
    }


def byte_limit() -> int | None:
    """The most bytes of boundaries, former ones included, and metadata that an account may store;
    None for no limit."""
    return current_settings().max_account_bytes or None


def _add_changes(
    account_id: str,
    changes: dict[str, int],
    statement: CompiledChange = _ADD,
    *,
    is_bounded: bool = False,
) -> None:
    row = _write_counts(statement, account_id, {name: changes.get(name, 0) for name in COUNTED})
    if is_bounded and row is not None:
        check_history(account_id, row.history_bytes)
    limit = byte_limit()
    added = changes.get("stored_bytes", 0)
    if added > 0 and row is not None and limit is not None and row.stored_bytes > limit:
        raise _storage_full(row.stored_bytes, added, limit)


def _write_counts(statement: CompiledChange, account_id: str, counts: dict[str, int]) -> Any:
    values: dict[str, Any] = {f"new_{name}": number for name, number in counts.items()}
    values |= {
        "account": account_id,
        "now": clock.unix_milliseconds(clock.now()),
        "history": take_history(account_id),
    }
    row = statement.first(values)
    if row is not None:
        update_counter_levels(account_id, row)
    return row


def _storage_full(total: int, added: int, limit: int) -> Forbidden:
    message = (
        f"This needs {added:,} more bytes. The account stores {total - added:,} of at most "
        f"{limit:,} bytes of boundaries, former ones too, and metadata. Delete archived projects, "
        "whose former boundaries go with them."
    )
    return Forbidden("storage", "The account's storage is full.", message)

"""Lists of imports and of their features."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from operator import call
from typing import Any, Final

from sqlalchemy import and_, bindparam, func, null, or_

from app.auth.principal import Principal
from app.auth.tenant import columns_of
from app.db.column_types import byte_length
from app.db.queries import CompiledQuery
from app.db.search_index import is_among_ids, page_of
from app.http.errors import Conflict
from app.imports.record import (
    COLUMNS,
    FEATURE_COLUMNS,
    SUMMARY_COLUMNS,
    feature_record,
    import_record,
    import_summary,
    not_found,
)
from app.lists.scanning import KeyedRows, Reader
from app.models import Import, ImportFeature
from app.policy.imports import KINDS, UNFINISHED_IMPORTS, WORKING
from app.values.ids import is_id

_SUMMARIES: Final = columns_of(Import, *(getattr(Import, name) for name in SUMMARY_COLUMNS))
_IMPORTS: Final = columns_of(Import, *(getattr(Import, name) for name in COLUMNS))
_ONE: Final = CompiledQuery(_IMPORTS.where(Import.id == bindparam("import_id")))
_UNFINISHED: Final = CompiledQuery(
    columns_of(Import, Import.id, Import.kind, Import.project_id, Import.status)
    .where(
        or_(
            *(Import.status == status for status in (*WORKING, "ready")),
            and_(Import.status == "failed", Import.upload_id.is_not(None)),
        )
    )
    .order_by(Import.status, Import.created_at, Import.id)  # "failed" before "ready"
)
_IMPORT_CONDITIONS: Final = {
    "within": is_among_ids(Import.project_id.expression, "within"),
    "kind": Import.kind == bindparam("kind"),
    "status": Import.status == bindparam("status"),
}
_FEATURES: Final = columns_of(
    ImportFeature, *(getattr(ImportFeature, name) for name in FEATURE_COLUMNS)
).where(ImportFeature.import_id == bindparam("import_id"))
_SHAPE_COLUMNS: Final = ("number", "name", "verdict", "left_out", "target_id", "geometry")
_FEATURE_CONDITIONS: Final = {
    **{
        name: getattr(ImportFeature, name) == bindparam(name)
        for name in ("verdict", "state", "left_out")
    },
    "after": ImportFeature.number > bindparam("after"),
    "before": ImportFeature.number < bindparam("before"),
    "overlapping": ImportFeature.overlaps.is_not(null()),
    "not overlapping": ImportFeature.overlaps.is_(null()),
}
_FLAGS: Final = ("overlapping",)  # conditions without a value
_ALL: Final = 2**31 - 1  # features

_SCAN: Final = KeyedRows(_IMPORTS, Import.created_at, Import.id)
_SCANNED_AT_ONCE: Final = 20  # each may have 100 KB, mostly names of columns
_SCAN_KINDS: Final = KeyedRows(
    columns_of(Import, Import.id, Import.kind), Import.created_at, Import.id
)
_SCAN_FEATURES: Final = KeyedRows(_FEATURES, ImportFeature.number)


def read_import(principal: Principal, import_id: str) -> dict[str, Any]:
    """The record of an import. Raises NotFound, also if the principal may not write its kind."""
    row = find_import(principal, import_id)
    if not principal.may(f"{row.kind}:write"):
        raise not_found()
    return import_record(row, principal)


def find_import(principal: Principal, import_id: str) -> Any:
    """The row of an import. Raises NotFound if the principal sees no such import."""
    is_known = is_id("import", import_id)
    row = _ONE.first(account_id=principal.account_id, import_id=import_id) if is_known else None
    if row is None or not may_see(principal, row):
        raise not_found()
    return row


def may_see(principal: Principal, row: Any) -> bool:
    """True if the principal may see an import. If limited to some projects, it sees imports of
    their assets."""
    return principal.project_ids is None or (
        row.kind == "assets" and principal.sees(row.project_id)
    )


def list_imports(
    principal: Principal,
    *,
    page: int,
    per_page: int,
    kind: str | None = None,
    status: str | None = None,
) -> tuple[list[dict[str, Any]], int]:
    """One page of imports, the newest first, and the number on all pages."""
    visible = KINDS if principal.project_ids is None else ("assets",)
    kinds = [name for name in visible if kind in (None, name) and principal.may(f"{name}:write")]
    if not kinds:
        return [], 0
    filters: dict[str, Any] = {}
    if principal.project_ids is not None:
        filters["within"] = principal.project_ids
    if len(kinds) == 1:
        filters["kind"] = kinds[0]
    if status is not None:
        filters["status"] = status
    values = {"account_id": principal.account_id, **filters}
    rows, total = _read_page(_list_of_imports(*filters), values, page, per_page)
    return [import_summary(row) for row in rows], total


def list_features(
    principal: Principal, import_id: str, *, page: int, per_page: int, **filters: Any
) -> tuple[list[dict[str, Any]], int]:
    """One page of features, in the order of the file, and the number on all pages.

    Args:
        filters: any of ``verdict``, ``state``, ``left_out`` and ``overlapping``.

    Raises:
        NotFound: there is no such import.
    """
    kind = read_import(principal, import_id)["kind"]
    names, parameters = _filter_conditions(filters)
    values = {"account_id": principal.account_id, "import_id": import_id, **parameters}
    rows, total = _read_page(_list_of_features(*names), values, page, per_page)
    return [feature_record(kind, row) for row in rows], total


def shapes_after(
    account_id: str, import_id: str, number: int, most: int, **filters: Any
) -> list[Any]:
    """The rows of the next features after a number, with their geometries, as many as one response
    may read. ``filters`` are as in ``list_features``."""
    names, values = _filter_conditions(filters)
    values |= {"account_id": account_id, "import_id": import_id, "after": number}
    read: Any = call
    return next(_scan_shapes(*names).batches(read, most, **values), [])


def count_before(account_id: str, import_id: str, number: int) -> int:
    """The number of features of an import before a number."""
    count, _ = _list_of_features("before")
    return int(count.scalar(account_id=account_id, import_id=import_id, before=number))


def all_features(account_id: str, import_id: str, **filters: Any) -> list[Any]:
    """The rows of all features of an import, in the order of the file, without geometries.
    ``filters`` are as in ``list_features``."""
    names, parameters = _filter_conditions(filters)
    values = {"account_id": account_id, "import_id": import_id, **parameters}
    _, rows = _list_of_features(*names)
    return rows.all(**values, size=_ALL, skipped=0)


def scan_imports(read: Reader, account_id: str) -> Iterator[list[dict[str, Any]]]:
    """Yield the records of all imports, the oldest first, in batches."""
    for rows in _SCAN.batches(read, _SCANNED_AT_ONCE, account_id=account_id):
        yield list(map(import_record, rows))


def scan_features(read: Reader, account_id: str) -> Iterator[list[dict[str, Any]]]:
    """Yield the records of the features of all imports with ``import_id``, without geometries, in
    batches."""
    for imports in _SCAN_KINDS.batches(read, account_id=account_id):
        for import_ in imports:
            ids = {"account_id": account_id, "import_id": import_.id}
            for rows in _SCAN_FEATURES.batches(read, **ids):
                yield [
                    {"import_id": import_.id, **feature_record(import_.kind, row)} for row in rows
                ]


def replaceable_import(principal: Principal) -> str | None:
    """The id of the import that gives way to a new one, or None if there is room for both.

    It is the oldest that has failed and still has its file, or else the oldest that is ready, of
    those that the principal may cancel.

    Raises:
        Conflict: there is no such import.
    """
    unfinished = _UNFINISHED.all(account_id=principal.account_id)
    if len(unfinished) < UNFINISHED_IMPORTS:
        return None
    for row in unfinished:
        may_cancel = may_see(principal, row) and principal.may(f"{row.kind}:write")
        if may_cancel and row.status not in WORKING:
            return str(row.id)
    raise Conflict(  # without their number: a limited credential sees only some of them
        "limit_reached",
        "limit",
        f"An account can have {UNFINISHED_IMPORTS} unfinished imports. Wait for one, or cancel it.",
    )


_ListQueries = tuple[CompiledQuery, CompiledQuery]  # the number of all rows, a page of them


@cache
def _list_of_imports(*filters: str) -> _ListQueries:
    rows = _SUMMARIES.where(*(_IMPORT_CONDITIONS[name] for name in filters))
    count = rows.with_only_columns(func.count().label("number"))
    ordered = rows.order_by(Import.created_at.desc(), Import.id.desc())
    return CompiledQuery(count), CompiledQuery(page_of(ordered))


@cache
def _list_of_features(*names: str) -> _ListQueries:
    rows = _FEATURES.where(*(_FEATURE_CONDITIONS[name] for name in names))
    count = rows.with_only_columns(func.count().label("number"))
    return CompiledQuery(count), CompiledQuery(page_of(rows.order_by(ImportFeature.number)))


def _read_page(
    queries: _ListQueries, values: dict[str, Any], page: int, per_page: int
) -> tuple[list[Any], int]:
    count, rows = queries
    return rows.all(**values, size=per_page, skipped=(page - 1) * per_page), count.scalar(**values)


@cache
def _scan_shapes(*names: str) -> KeyedRows:
    columns = (getattr(ImportFeature, name) for name in _SHAPE_COLUMNS)
    conditions = (_FEATURE_CONDITIONS[name] for name in (*names, "after"))
    rows = _FEATURES.with_only_columns(*columns).where(*conditions)
    size = func.coalesce(byte_length(ImportFeature.geometry), 0)
    return KeyedRows(rows, ImportFeature.number, size=size)


def _filter_conditions(filters: Mapping[str, Any]) -> tuple[list[str], dict[str, Any]]:
    """Return (names of conditions, parameters)."""
    names = [name for name in filters if name not in _FLAGS]
    flags = [name if filters[name] else f"not {name}" for name in filters if name in _FLAGS]
    return names + flags, {name: filters[name] for name in names}

"""The stored features of imports."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, fields
from functools import cache
from typing import Any, Final, cast

from sqlalchemy import Table, Text, and_, bindparam, case, delete, func, null, or_, update
from sqlalchemy import cast as as_type

from app.auth.tenant import columns_of, rows_of
from app.db.batched_deletion import delete_batches
from app.db.column_types import byte_length
from app.db.engines import insert_into
from app.db.extensions import db
from app.db.queries import CompiledQuery
from app.db.transactions import CompiledChange, Transaction, insert_rows
from app.geometry import Problem
from app.imports.features.candidates import (
    Candidate,
    RejectedFeature,
    shown_problems,
    stored_values,
)
from app.imports.features.decisions import Decision
from app.imports.features.mapping import shorten_value
from app.models import ImportedRecord, ImportFeature
from app.policy.imports import PROBLEM_FIELD_LENGTH, PROBLEM_LENGTH, VERDICTS

_TABLE: Final = cast("Table", ImportFeature.__table__)
_WRITTEN: Final = ("new", "changed")
_IS_NEW: Final = ImportFeature.verdict == "new"
_SUMS: Final = {  # of features that are written
    "new_plots": case((and_(ImportFeature.is_plot, _IS_NEW), 1), else_=0),
    "namesakes": case((and_(ImportFeature.is_namesake, _IS_NEW), 1), else_=0),
    "overlapping": case((ImportFeature.overlaps.is_not(null()), 1), else_=0),
    "overlapping_projects": case((ImportFeature.overlap_m2 > 0, 1), else_=0),
}
_COUNTS: Final = CompiledChange(
    columns_of(ImportFeature, ImportFeature.verdict, ImportFeature.left_out)
    .add_columns(
        func.count().label("number"),
        func.count(ImportFeature.geometry).label("placed"),
        *(func.sum(number).label(name) for name, number in _SUMS.items()),
        *(
            func.sum(getattr(ImportFeature, name)).label(name)
            for name in ("area_m2", "previous_area_m2", "overlap_m2")
        ),
    )
    .where(ImportFeature.import_id == bindparam("import_id"))
    .group_by(ImportFeature.verdict, ImportFeature.left_out)
)
_NUMBERS: Final = CompiledQuery(
    columns_of(ImportFeature, ImportFeature.number).where(
        ImportFeature.import_id == bindparam("import_id")
    )
)
_STATES: Final = CompiledQuery(
    columns_of(ImportFeature, ImportFeature.verdict, ImportFeature.state, ImportFeature.is_plot)
    .add_columns(func.count().label("number"))
    .where(ImportFeature.import_id == bindparam("import_id"), ImportFeature.state.is_not(None))
    .group_by(ImportFeature.verdict, ImportFeature.state, ImportFeature.is_plot)
)
_DECIDED: Final = tuple(each.name for each in fields(Decision))
_BYTES_TO_WRITE: Final = CompiledQuery(
    columns_of(ImportFeature)
    .add_columns(
        func.coalesce(func.sum(byte_length(ImportFeature.geometry)), 0)
        + func.coalesce(func.sum(byte_length(as_type(ImportFeature.values, Text))), 0)
    )
    .where(
        ImportFeature.import_id == bindparam("import_id"),
        or_(*(ImportFeature.verdict == verdict for verdict in _WRITTEN)),
        ImportFeature.left_out.is_(False),
        ImportFeature.state.is_(None),
    )
)
DELETED_AT_ONCE: Final = 250  # some 20 µs each
_BYTES: Final = func.coalesce(byte_length(ImportFeature.geometry), 0) + func.coalesce(
    byte_length(as_type(ImportFeature.before, Text)), 0
)


def feature_row(
    account_id: str, import_id: str, feature: Candidate | RejectedFeature, decision: Decision | None
) -> dict[str, Any]:
    """The row of a feature; without a decision, of a rejected one."""
    decision = decision or Decision("rejected", feature.name)
    row: dict[str, Any] = {
        "import_id": import_id,
        "account_id": account_id,
        "number": feature.number,
        **{name: getattr(decision, name) for name in _DECIDED},
        "is_plot": feature.is_plot,
        "problems": [],
        "values": {},
    }
    if isinstance(feature, RejectedFeature):
        shown = feature.problems[: shown_problems(feature.number)]
        row["problems"] = list(map(_problem_record, shown))
        row["geometry"] = feature.geometry
        return row
    row["external_id"] = feature.external_id
    if decision.verdict in _WRITTEN:
        row["values"], row["geometry"] = stored_values(feature), feature.geometry
    return row


def _problem_record(problem: Problem) -> dict[str, Any]:
    field = shorten_value(problem.field, PROBLEM_FIELD_LENGTH)
    return asdict(problem) | {
        "field": field,
        "message": shorten_value(problem.message, PROBLEM_LENGTH),
    }


def insert_features(rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert rows of features in the current transaction."""
    if rows:
        insert_rows(ImportFeature, rows)


def update_features(
    account_id: str, import_id: str, changes: Iterable[tuple[int, Mapping[str, Any]]]
) -> None:
    """Change columns of features in the current transaction.

    Args:
        changes: (number of the feature, values by column).
    """
    by_columns: dict[tuple[str, ...], list[dict[str, Any]]] = defaultdict(list)
    for number, values in changes:
        key = {"of_account": account_id, "of_import": import_id, "of_number": number}
        by_columns[tuple(values)].append({**key, **values})
    for columns, rows in by_columns.items():
        _row_update(columns).run_many(rows)


def note_imported(
    account_id: str, import_id: str, changes: Iterable[tuple[int, Mapping[str, Any]]]
) -> None:
    """Note down the targets that were made or changed, in the current transaction, for good.

    Args:
        changes: as those of ``update_features``.
    """
    key = {"account_id": account_id, "import_id": import_id}
    written = (change for _, change in changes if change.get("state") == "applied")
    if rows := [{**key, "record_id": change["target_id"]} for change in written]:
        known = insert_into(ImportedRecord).on_conflict_do_nothing()  # by an earlier feature
        db.session.execute(known, rows)


def forget_imported(account_id: str, import_id: str, undone: Sequence[str]) -> None:
    """Forget about targets that are as they were before the import, or gone."""
    db.session.execute(
        delete(ImportedRecord).where(
            ImportedRecord.account_id == account_id,
            ImportedRecord.import_id == import_id,
            ImportedRecord.record_id.in_(undone),
        ),
        execution_options={"synchronize_session": False},
    )


def leave_out(
    account_id: str, import_id: str, numbers: Iterable[int], *, before: Iterable[int]
) -> None:
    """Leave out the features with these numbers, and no others, in the current transaction.

    Args:
        before: the numbers that are left out now.
    """
    new, former = set(numbers), set(before)
    changes = [(number, {"left_out": True}) for number in sorted(new - former)]
    changes += [(number, {"left_out": False}) for number in sorted(former - new)]
    update_features(account_id, import_id, changes)


def bytes_to_write(account_id: str, import_id: str) -> int:
    """About how many bytes the features of an import will take in its account."""
    return int(_BYTES_TO_WRITE.scalar(account_id=account_id, import_id=import_id))


def feature_numbers(account_id: str, import_id: str) -> set[int]:
    """The numbers of the features of an import."""
    return {row.number for row in _NUMBERS.all(account_id=account_id, import_id=import_id)}


@cache
def _row_update(columns: tuple[str, ...]) -> CompiledChange:
    key = (
        _TABLE.c.account_id == bindparam("of_account"),
        _TABLE.c.import_id == bindparam("of_import"),
        _TABLE.c.number == bindparam("of_number"),
    )
    return CompiledChange(update(_TABLE).where(*key), columns)


def delete_feature_batch(account_id: str, import_id: str) -> bool:
    """Delete a batch of an import's features in the current transaction. Returns False if there
    were none."""
    rows = rows_of(account_id, ImportFeature).where(ImportFeature.import_id == import_id)
    for _ in delete_batches(ImportFeature, rows, _BYTES, DELETED_AT_ONCE):
        return True
    return False


def delete_features(
    account_id: str,
    import_id: str,
    in_transaction: Transaction,
    begin: Callable[[], object] = lambda: None,
) -> None:
    """Delete the features of an import in short transactions, each beginning with ``begin()``."""
    are_left = True
    while are_left:
        with in_transaction():
            begin()
            are_left = delete_feature_batch(account_id, import_id)


def count_features(account_id: str, import_id: str) -> dict[str, Any]:
    """Count the features of an import, and sum up the hectares of its projects.

    Features count by verdict and by overlaps; ``new_plots`` are the new ones that become assets in
    an import of projects, ``namesakes`` new ones whose name is in use. ``left_out`` features count
    nowhere else, except that ``left_out_without_place`` are those that would be written without a
    geometry. ``hectares`` are those of new and changed projects ``before`` and ``after``, and of
    overlaps with others. Sees the changes of the current transaction.
    """
    rows = _COUNTS.all({"account_id": account_id, "import_id": import_id})
    left_out = [row for row in rows if row.left_out]
    written = [row for row in rows if row.verdict in _WRITTEN and not row.left_out]

    def total(name: str) -> int:
        return sum(int(getattr(row, name) or 0) for row in written)

    return {
        **dict.fromkeys(VERDICTS, 0),
        **{row.verdict: row.number for row in rows if not row.left_out},
        "left_out": sum(row.number for row in left_out),
        "left_out_without_place": sum(
            row.number - row.placed for row in left_out if row.verdict in _WRITTEN
        ),
        **{name: total(name) for name in _SUMS},
        "hectares": {
            "before": total("previous_area_m2") / 10_000,
            "after": total("area_m2") / 10_000,
            "overlapping": total("overlap_m2") / 10_000,
        },
    }


def written_features(account_id: str, import_id: str) -> list[Any]:
    """The number of features that were written, by ``verdict``, ``state`` and ``is_plot``."""
    return _STATES.all(account_id=account_id, import_id=import_id)


def count_states(account_id: str, import_id: str) -> dict[str, int]:
    """The number of features that are applied, undone and kept."""
    states = {"applied": 0, "undone": 0, "kept": 0}
    for row in written_features(account_id, import_id):
        states[row.state] += row.number
    return states

"""Deleting old imports, and the features of imports that ended without writing.

Features are deleted in short transactions: on SQLite other changes wait for them, and one import
may have hundreds of megabytes.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from sqlalchemy import ColumnElement, Text, and_, cast, exists, or_, select

from app.db.extensions import db
from app.db.transactions import Transaction
from app.imports.feature_rows import delete_feature_batch
from app.jobs.pauses import pause_after
from app.models import Import, ImportFeature
from app.policy.imports import IMPORT_DAYS
from app.values import clock

_RUN_SECONDS: Final = 10.0  # other jobs wait
_HAS_FEATURES: Final = exists().where(ImportFeature.import_id == Import.id)
# An import that failed while it was read has no counts.
_WROTE_NOTHING: Final = or_(
    Import.status == "canceled",
    and_(Import.status == "failed", cast(Import.counts, Text) == "{}"),
)


def delete_ended(in_transaction: Transaction) -> int:
    """Delete imports that are IMPORT_DAYS old, and the features of those that were canceled or
    could not be read. Returns the number of imports.

    Stops when its time is up or the worker shuts down; the next run continues.
    """
    end, deleted = time.monotonic() + _RUN_SECONDS, 0
    for import_id in _ended_ids():
        are_left = True
        while are_left:
            began, are_left = _delete_some(import_id, in_transaction)
            if pause_after(began) or time.monotonic() > end:
                return deleted
        deleted += 1
    return deleted


def _ended_ids() -> Sequence[str]:
    ended = select(Import.id).where(or_(_is_old(), and_(_WROTE_NOTHING, _HAS_FEATURES)))
    return db.session.scalars(ended.order_by(Import.created_at)).all()


def _is_old() -> ColumnElement[bool]:
    return Import.created_at < clock.now() - timedelta(days=IMPORT_DAYS)


def _delete_some(import_id: str, in_transaction: Transaction) -> tuple[float, bool]:
    """Delete a batch of features, and an old import after its last.

    Returns (``time.monotonic`` when the transaction began to write, whether features may be left).
    """
    with in_transaction():
        db.session.connection()
        began = time.monotonic()
        query = select(Import, _is_old()).where(
            Import.id == import_id, or_(_is_old(), _WROTE_NOTHING)
        )
        row = db.session.execute(query.with_for_update(skip_locked=True)).one_or_none()
        if row is None:  # the file is being read again
            return began, False
        import_, is_old = row
        if is_old:
            import_.status = "canceled"  # so that nobody undoes a part of it
        if delete_feature_batch(import_.account_id, import_.id):
            return began, True
        if is_old:
            db.session.delete(import_)
    return began, False

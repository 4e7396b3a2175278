"""Deleting the features of imports that ended and wrote nothing, and imports that are old.

The features are deleted first, some in each transaction: on SQLite all other changes wait for it,
and those of one import may have hundreds of megabytes.
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

_RUN_SECONDS: Final = 10.0  # of the job; others wait for it
_HAS_FEATURES: Final = exists().where(ImportFeature.import_id == Import.id)
# Of one that failed while it was read, nothing is counted.
_WROTE_NOTHING: Final = or_(
    Import.status == "canceled",
    and_(Import.status == "failed", cast(Import.counts, Text) == "{}"),
)


def delete_ended(in_transaction: Transaction) -> int:
    """Delete imports that are IMPORT_DAYS old, and the features of those that were canceled or
    could not be read. Stops when its time is up, or the worker is asked to stop; the next run
    continues.

    Returns the number of imports.
    """
    end, deleted = time.monotonic() + _RUN_SECONDS, 0
    for import_id in _chosen():
        are_left = True
        while are_left:
            began, are_left = _delete_some(import_id, in_transaction)
            if pause_after(began) or time.monotonic() > end:
                return deleted
        deleted += 1
    return deleted


def _chosen() -> Sequence[str]:
    chosen = select(Import.id).where(or_(_is_old(), and_(_WROTE_NOTHING, _HAS_FEATURES)))
    return db.session.scalars(chosen.order_by(Import.created_at)).all()


def _is_old() -> ColumnElement[bool]:
    return Import.created_at < clock.now() - timedelta(days=IMPORT_DAYS)


def _delete_some(import_id: str, in_transaction: Transaction) -> tuple[float, bool]:
    """Delete features of an import, and an old one after its last. Returns when the transaction
    began to write, by ``time.monotonic``, and whether there may be more."""
    with in_transaction():
        db.session.connection()
        began = time.monotonic()
        chosen = select(Import, _is_old()).where(
            Import.id == import_id, or_(_is_old(), _WROTE_NOTHING)
        )
        row = db.session.execute(chosen.with_for_update(skip_locked=True)).one_or_none()
        if row is None:  # somebody reads it again
            return began, False
        found, is_old = row
        if is_old:
            found.status = "canceled"  # nobody undoes a part of it
        if delete_feature_batch(found.account_id, found.id):
            return began, True
        if is_old:
            db.session.delete(found)
    return began, False

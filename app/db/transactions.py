"""One transaction around several statements."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from app.db.extensions import db


@contextmanager
def transaction() -> Iterator[None]:
    """Commit the statements of the block together; roll back when the block raises.

    For jobs and commands. A request's transaction is committed by ``app.api.blueprint``.
    """
    try:
        yield
        db.session.commit()
    finally:
        db.session.rollback()

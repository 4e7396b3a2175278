"""Sealing anew, with the present ``SECRET_KEY``, what was sealed with the one before."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from sqlalchemy import ColumnElement, select, true, tuple_, update

from app.db.column_types import Base
from app.db.extensions import db
from app.models import IdempotentResponse, Mail, OAuthToken, Webhook
from app.security.sealing import reseal

_BATCH_ROWS: Final = 200


class _Sealed(NamedTuple):
    """A column of sealed text, or of its bytes."""

    column: Any
    where: ColumnElement[bool] = true()

    @property
    def model(self) -> type[Base]:
        found: type[Base] = self.column.class_
        return found


SEALED: Final = (
    _Sealed(Webhook.sealed_secret, Webhook.sealed_secret != ""),
    _Sealed(Webhook.sealed_former_secret),
    _Sealed(Mail.sealed),
    _Sealed(OAuthToken.sealed_successor),
    # Answers that held a secret, the others are as they were sent.
    _Sealed(
        IdempotentResponse.body,
        IdempotentResponse.headers["Cache-Control"].as_string() == "no-store",
    ),
)


class Resealed(NamedTuple):
    """What became of the values of a table."""

    table: str
    sealed: int
    unreadable: int  # with neither key


def batches_of(sealed: _Sealed) -> Iterator[Resealed]:
    """Seal the values of a column anew, some rows at a time; commit after each."""
    key = sealed.model.__mapper__.primary_key
    last: Any = None
    while rows := _rows(sealed, key, last):
        done = 0
        for *identity, value in rows:
            done += _reseal(sealed, key, identity, value)
        last = rows[-1][:-1]
        yield Resealed(sealed.model.__tablename__, done, len(rows) - done)


def _rows(sealed: _Sealed, key: tuple[Any, ...], last: Any) -> list[Any]:
    column = sealed.column
    wanted = select(*key, column).where(column.is_not(None), sealed.where)
    if last is not None:
        wanted = wanted.where(tuple_(*key) > tuple_(*last))
    return list(db.session.execute(wanted.order_by(*key).limit(_BATCH_ROWS)))


def _reseal(sealed: _Sealed, key: tuple[Any, ...], identity: list[Any], value: Any) -> bool:
    """Returns whether it could be read. What was changed meanwhile is sealed with the new key."""
    is_bytes = isinstance(value, bytes)
    try:
        text = reseal(value.decode() if is_bytes else value)
    except ValueError:
        return False
    own = tuple_(*key) == tuple_(*identity)
    changing = update(sealed.model).where(own, sealed.column == value)
    db.session.execute(
        changing.values({sealed.column.key: text.encode() if is_bytes else text}),
        execution_options={"synchronize_session": False},
    )
    return True

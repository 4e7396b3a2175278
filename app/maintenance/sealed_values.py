"""The sealed values of the database, and sealing them again after ``SECRET_KEY`` has changed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Final, NamedTuple

from flask import Flask
from sqlalchemy import ColumnElement, Connection, select, true, tuple_, update
from sqlalchemy.exc import SQLAlchemyError

from app.db import connections
from app.db.column_types import Base
from app.db.extensions import db
from app.db.queries import connect
from app.models import Authenticator, IdempotentResponse, Mail, OAuthToken, SigningKey, Webhook
from app.security.sealing import is_readable, reseal
from app.values.command_name import canopy_command
from config import SettingsError

_BATCH_ROWS: Final = 200
_NEWEST: Final = 20  # secrets of webhooks


class _Sealed(NamedTuple):
    """A column with sealed text, as a string or bytes."""

    column: Any
    where: ColumnElement[bool] = true()

    @property
    def model(self) -> type[Base]:
        model: type[Base] = self.column.class_
        return model


SEALED: Final = (
    _Sealed(Webhook.sealed_secret, Webhook.sealed_secret != ""),
    _Sealed(Webhook.sealed_former_secret),
    _Sealed(Mail.sealed),
    _Sealed(OAuthToken.sealed_successor),
    _Sealed(Authenticator.sealed_secret),
    _Sealed(SigningKey.sealed_private_key),
    # Only responses that contain a secret are sealed.
    _Sealed(
        IdempotentResponse.body,
        IdempotentResponse.headers["Cache-Control"].as_string() == "no-store",
    ),
)


def sealed_values(connection: Connection) -> Iterator[tuple[str, str | bytes]]:
    """Every sealed value of a database, with the name of its table, some rows at a time."""
    for sealed in SEALED:
        wanted = select(sealed.column).where(sealed.column.is_not(None), sealed.where)
        options = {"yield_per": _BATCH_ROWS}
        with connection.execute(wanted, execution_options=options) as rows:
            for (value,) in rows:
                yield sealed.model.__tablename__, value


def require_usable_key(app: Flask) -> None:
    """Refuse a ``SECRET_KEY`` with which no webhook's secret can be read: nothing could be signed.

    Raises:
        config.SettingsError: none of the newest secrets can be decrypted. While the database is
            unavailable, nothing is known.
    """
    has_secret = Webhook.sealed_secret != ""
    newest = select(Webhook.sealed_secret).where(has_secret).order_by(Webhook.id.desc())
    with app.app_context(), suppress(SQLAlchemyError):
        with connect() as connection:
            found = connection.execute(newest.limit(_NEWEST)).scalars().all()
        connections.close_all()  # forked processes must not inherit them
        if found and not any(map(is_readable, found)):
            raise SettingsError(
                "SECRET_KEY is not the key with which the secrets in the database were encrypted, "
                "so no event could be signed. Set the SECRET_KEY of the other hosts. If that key "
                f"is lost, run {canopy_command()} webhook rotate-secret for each webhook."
            )


class Resealed(NamedTuple):
    """The numbers of values of a table that were sealed again, and that could not be."""

    table: str
    sealed: int
    unreadable: int  # with neither key


def reseal_batches(sealed: _Sealed) -> Iterator[Resealed]:
    """Seal the values of a column again, some rows at a time. Commit after each batch."""
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
    """Seal one value again. Returns False when it cannot be read.

    A value that was changed meanwhile is sealed with the new key already.
    """
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

"""The sealed values of the database, and sealing them again with a new ``SECRET_KEY``."""

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
from app.db.queries import reading_connection
from app.models import Authenticator, IdempotentResponse, Mail, OAuthToken, SigningKey, Webhook
from app.security.sealing import is_readable, reseal
from app.values.command_name import canopy_command
from config import SettingsError

_BATCH_ROWS: Final = 200
_CHECKED_SECRETS: Final = 20


class _SealedColumn(NamedTuple):
    """A column of sealed strings or bytes."""

    column: Any
    where: ColumnElement[bool] = true()

    @property
    def model(self) -> type[Base]:
        model: type[Base] = self.column.class_
        return model


SEALED: Final = (
    _SealedColumn(Webhook.sealed_secret, Webhook.sealed_secret != ""),
    _SealedColumn(Webhook.sealed_former_secret),
    _SealedColumn(Mail.sealed),
    _SealedColumn(OAuthToken.sealed_successor),
    _SealedColumn(Authenticator.sealed_secret),
    _SealedColumn(SigningKey.sealed_private_key),
    # Only responses that contain a secret are sealed.
    _SealedColumn(
        IdempotentResponse.body,
        IdempotentResponse.headers["Cache-Control"].as_string() == "no-store",
    ),
)


def sealed_values(connection: Connection) -> Iterator[tuple[str, str | bytes]]:
    """Yield each sealed value of a database, with the name of its table."""
    for sealed in SEALED:
        values = select(sealed.column).where(sealed.column.is_not(None), sealed.where)
        options = {"yield_per": _BATCH_ROWS}
        with connection.execute(values, execution_options=options) as rows:
            for (value,) in rows:
                yield sealed.model.__tablename__, value


def require_usable_key(app: Flask) -> None:
    """Raise config.SettingsError if SECRET_KEY decrypts none of the newest secrets of webhooks:
    nothing could be signed. Passes while the database is unavailable."""
    has_secret = Webhook.sealed_secret != ""
    newest = select(Webhook.sealed_secret).where(has_secret).order_by(Webhook.id.desc())
    with app.app_context(), suppress(SQLAlchemyError):
        with reading_connection() as connection:
            secrets = connection.execute(newest.limit(_CHECKED_SECRETS)).scalars().all()
        connections.close_all()  # forked processes must not inherit them
        if secrets and not any(map(is_readable, secrets)):
            raise SettingsError(
                "SECRET_KEY is not the key with which the secrets in the database were encrypted, "
                "so no event could be signed. Set the SECRET_KEY of the other hosts. If that key "
                f"is lost, run {canopy_command()} webhook rotate-secret for each webhook."
            )


class Resealed(NamedTuple):
    """The numbers of values of a table that were sealed again, and that neither key can read."""

    table: str
    sealed: int
    unreadable: int


def reseal_batches(sealed: _SealedColumn) -> Iterator[Resealed]:
    """Seal the values of a column again in batches. Commit after each batch."""
    key = sealed.model.__mapper__.primary_key
    last: Any = None
    while rows := _next_rows(sealed, key, last):
        number = sum(_reseal_value(sealed, key, identity, value) for *identity, value in rows)
        last = rows[-1][:-1]
        yield Resealed(sealed.model.__tablename__, number, len(rows) - number)


def _next_rows(sealed: _SealedColumn, key: tuple[Any, ...], last: Any) -> list[Any]:
    column = sealed.column
    rows = select(*key, column).where(column.is_not(None), sealed.where)
    if last is not None:
        rows = rows.where(tuple_(*key) > tuple_(*last))
    return list(db.session.execute(rows.order_by(*key).limit(_BATCH_ROWS)))


def _reseal_value(
    sealed: _SealedColumn, key: tuple[Any, ...], identity: list[Any], value: Any
) -> bool:
    """Seal a value again, unless it has changed: then it is sealed with the new key. Returns False
    if neither key can read it."""
    is_bytes = isinstance(value, bytes)
    try:
        text = reseal(value.decode() if is_bytes else value)
    except ValueError:
        return False
    is_row = tuple_(*key) == tuple_(*identity)
    statement = update(sealed.model).where(is_row, sealed.column == value)
    db.session.execute(
        statement.values({sealed.column.key: text.encode() if is_bytes else text}),
        execution_options={"synchronize_session": False},
    )
    return True

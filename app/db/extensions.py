"""Flask-SQLAlchemy, created here and bound in ``create_core``. Imports nothing of the application
but the base of its tables, so that every layer above may import it."""

from __future__ import annotations

from typing import Any

from flask_sqlalchemy import SQLAlchemy

from app.db.column_types import Base, metadata

db = SQLAlchemy(metadata=metadata, disable_autonaming=True)


def models() -> dict[str, type[Any]]:
    """The classes of all tables by their names, which ``flask shell`` has beside ``db``."""
    return {mapper.class_.__name__: mapper.class_ for mapper in Base.registry.mappers}

"""Flask-SQLAlchemy, which ``create_core`` binds. Imports only the base of the tables, so that every
layer above may import it."""

from __future__ import annotations

from typing import Any

from flask_sqlalchemy import SQLAlchemy

from app.db.column_types import Base, metadata

db = SQLAlchemy(metadata=metadata, disable_autonaming=True)


def models_by_name() -> dict[str, type[Any]]:
    """Return the models by name, for ``flask shell``."""
    return {mapper.class_.__name__: mapper.class_ for mapper in Base.registry.mappers}

"""Flask-SQLAlchemy, created here and bound in ``create_core``. Imports nothing of the application
but the base of its tables, so that every layer above may import it."""

from __future__ import annotations

from flask_sqlalchemy import SQLAlchemy

from app.db.column_types import metadata

db = SQLAlchemy(metadata=metadata, disable_autonaming=True)

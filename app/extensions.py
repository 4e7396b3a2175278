"""The extensions, created here and bound in ``create_app``. Imports nothing of the application
but the base of its tables, so that every floor may import it."""

from __future__ import annotations

from flask_migrate import Migrate
from flask_sqlalchemy import SQLAlchemy

from app.core.tables import metadata

db = SQLAlchemy(metadata=metadata, disable_autonaming=True)
migrate = Migrate()

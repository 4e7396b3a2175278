"""Stands in for ``app/db/extensions.py``: a database that is not there."""

from __future__ import annotations

from types import SimpleNamespace

from sqlalchemy.engine import make_url

db = SimpleNamespace(engine=SimpleNamespace(url=make_url("sqlite:///stand-in")))

"""Stands in for ``app/db/migrations.py``."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from flask import Flask
from sqlalchemy.exc import OperationalError


class CannotMigrate(Exception):
    """The tables stay as they are."""


def upgrade(say: Callable[[str], None]) -> None:
    fault = os.environ.get("FAULT")
    if fault == "database unreachable":
        raise OperationalError("SELECT 1", None, Exception("connection refused\nmore"))
    if fault == "database slow":
        say("Migrating.")
        time.sleep(15)
    if fault == "database newer":
        raise CannotMigrate("There is no such revision.")


def make_first_tables(app: Flask) -> None:
    """It has none."""

"""Stands in for ``app/db/migrations.py``."""

from __future__ import annotations

import os
import sys
import time

from flask import Flask
from sqlalchemy.exc import OperationalError


def upgrade() -> None:
    fault = os.environ.get("FAULT")
    if fault == "database unreachable":
        raise OperationalError("SELECT 1", None, Exception("connection refused\nmore"))
    if fault == "database slow":
        time.sleep(15)
    if fault == "database newer":
        try:
            raise RuntimeError("no such revision")
        except RuntimeError:
            sys.exit(1)


def make_first_tables(app: Flask) -> None:
    """It has none."""

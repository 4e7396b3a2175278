"""More applications: on the database of ``app``, or on one of their own."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from flask import Flask

from app.db.connections import close_all
from app.factory import create_app
from config import load_settings
from tests import templates

# Argon2 is slow on purpose, and nearly every test makes an account with an owner.
CHEAP_PASSWORDS = {
    "PASSWORD_TIME_COST": "1",
    "PASSWORD_MEMORY_KIB": "8",
    "PASSWORD_PARALLELISM": "1",
}


@contextmanager
def second_app(app: Flask, **settings: Any) -> Iterator[Flask]:
    """Another application with the same settings but for these, as another process would be."""
    made = create_app(dataclasses.replace(app.config["SETTINGS"], **settings))
    try:
        yield made
    finally:
        with made.app_context():
            close_all()


@contextmanager
def bare_app(folder: Path, **environ: str) -> Iterator[Flask]:
    """An application with these settings, on an empty SQLite database in ``folder``."""
    templates.copy_sqlite(folder)
    with app_without_tables(folder, **({"LOG_LEVEL": "error"} | environ)) as made:
        yield made


@contextmanager
def app_without_tables(folder: Path, **environ: str) -> Iterator[Flask]:
    """The same with a database in which no migration ran."""
    made = create_app(load_settings({"INSTANCE_PATH": str(folder)} | CHEAP_PASSWORDS | environ))
    try:
        yield made
    finally:
        with made.app_context():
            close_all()

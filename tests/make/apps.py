"""More applications on the database of the one at hand."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from flask import Flask

from app import create_app
from app.core.connections import close_all


@contextmanager
def second_app(app: Flask, **settings: Any) -> Iterator[Flask]:
    """Another application with the same settings but for these, as another process would be."""
    made = create_app(dataclasses.replace(app.config["SETTINGS"], **settings))
    yield made
    with made.app_context():
        close_all()

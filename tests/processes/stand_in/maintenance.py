"""Stands in for ``app/maintenance/sealed_values.py``."""

from __future__ import annotations

from flask import Flask


def require_usable_key(app: Flask) -> None:
    pass

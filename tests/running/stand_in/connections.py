"""Stands in for ``app/core/connections.py``."""

from __future__ import annotations


def close_all() -> None:
    pass


forget_all = close_all

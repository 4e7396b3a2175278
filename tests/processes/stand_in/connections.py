"""Stands in for ``app/db/connections.py``."""

from __future__ import annotations


def close_all() -> None:
    pass


forget_all = close_all
read_clock = close_all

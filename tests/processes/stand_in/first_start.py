"""Stands in for ``app/demo/first_start.py``."""

from __future__ import annotations

from config import Settings


def welcome_text(settings: Settings, *, empty: bool) -> str:
    return f"Canopy runs at {settings.public_url}, empty={empty}"

"""The settings of the current application."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flask import current_app

if TYPE_CHECKING:  # which imports the parsers of this package
    from config import Settings


def current_settings() -> Settings:
    """Return the settings of the current application."""
    settings: Settings = current_app.config["SETTINGS"]
    return settings

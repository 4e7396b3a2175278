"""Readable names of browsers."""

from __future__ import annotations

from typing import Final

# The first match counts: most browsers name others as well.
_BROWSERS: Final = (
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("Vivaldi", "Vivaldi"),
    ("Firefox/", "Firefox"),
    ("FxiOS", "Firefox"),
    ("Chromium", "Chromium"),
    ("CriOS", "Chrome"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
)
_SYSTEMS: Final = (
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("Windows", "Windows"),
    ("Mac OS X", "macOS"),
    ("CrOS", "ChromeOS"),
    ("Linux", "Linux"),
)


def browser_name(agent: str) -> str:
    """Return ``Firefox on Linux`` for a User-Agent; of an unknown browser its first characters."""
    browser = next((name for token, name in _BROWSERS if token in agent), "")
    system = next((name for token, name in _SYSTEMS if token in agent), "")
    if not browser:
        return agent[:60] or "An unknown browser"
    return f"{browser} on {system}" if system else browser

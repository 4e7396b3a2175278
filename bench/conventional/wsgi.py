"""For the web server to load."""

from __future__ import annotations

from bench.conventional.app import create_app

app = create_app()

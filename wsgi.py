"""What a WSGI server runs."""

from __future__ import annotations

from app import create_app
from app.core import logging
from config import load_settings

settings = load_settings()
logging.configure(settings)
app = create_app(settings)

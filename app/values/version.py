"""The version of the service, as the changelog counts it."""

from __future__ import annotations

from typing import Final

VERSION: Final = "0.1.0"

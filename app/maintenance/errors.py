"""What a command of maintenance may fail with."""

from __future__ import annotations


class MaintenanceError(Exception):
    """It cannot be done. The message says in plain sentences why, and what to do."""

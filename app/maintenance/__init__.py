"""Backups, restoring, copying to another database, and deleting what has expired."""

from __future__ import annotations


class MaintenanceError(Exception):
    """A command of maintenance is not possible. The message says why, and what to do."""

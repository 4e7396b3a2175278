"""Backups, restoring, copying to another database, and deleting what has expired."""

from __future__ import annotations


class MaintenanceError(Exception):
    """A maintenance command is not possible; the message says why, and what to do."""

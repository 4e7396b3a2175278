"""The error of the commands of maintenance."""

from __future__ import annotations


class MaintenanceError(Exception):
    """The operation is not possible. The message says why, and what to do."""

"""The doctor checks instances of their own, as those of the tests of maintenance."""

from __future__ import annotations

from tests.maintenance.conftest import _spare, folder, instance, make_instance

__all__ = ["_spare", "folder", "instance", "make_instance"]

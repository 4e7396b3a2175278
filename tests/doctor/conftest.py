"""The doctor checks instances of their own, as those of the tests of maintenance."""

from __future__ import annotations

import pytest
from flask import Flask

from tests.maintenance.conftest import _spare, folder, instance, make_instance, sqlite
from tests.make import Client, make_account

__all__ = ["_spare", "customer", "folder", "instance", "make_instance", "sqlite"]


@pytest.fixture
def customer(instance: Flask) -> Client:
    return make_account(instance)

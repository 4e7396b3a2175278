"""What tests of usage share."""

from __future__ import annotations

import pytest
from flask import Flask

from tests.make import Client, make_account


@pytest.fixture
def free(app: Flask) -> Client:
    """An account with limits of 1,000 ha, 3 seats and 1,000 requests a day."""
    return make_account(app, plan="free")

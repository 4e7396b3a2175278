"""What tests of usage share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from flask import Flask

from app.limits import request_counts
from tests.make import Client, make_account


@pytest.fixture(autouse=True)
def _nothing_unsent() -> Iterator[None]:
    """No counts of an outage in other tests."""
    request_counts._unsent.clear()
    yield
    request_counts._unsent.clear()


@pytest.fixture
def free(app: Flask) -> Client:
    """An account with limits of 1,000 ha, 3 seats and 1,000 requests a day."""
    return make_account(app, plan="free")

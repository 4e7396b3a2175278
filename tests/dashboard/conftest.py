"""An account with a few projects, for all tests of one module."""

from __future__ import annotations

import pytest
from flask import Flask

from tests.dashboard.support import browser_of
from tests.make import Browser, Client, make_account


@pytest.fixture(scope="module")
def client(app: Flask) -> Client:
    return make_account(app)


@pytest.fixture(scope="module")
def stranger(app: Flask) -> Client:
    """Another account."""
    return make_account(app)


@pytest.fixture
def owner(client: Client) -> Browser:
    return browser_of(client)


@pytest.fixture
def viewer(client: Client) -> Browser:
    return browser_of(client, "viewer")

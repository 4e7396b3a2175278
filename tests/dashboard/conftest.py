"""People who look at the pages of an account."""

from __future__ import annotations

import pytest

from tests.dashboard.support import browser_of
from tests.make import Browser, Client


@pytest.fixture
def owner(client: Client) -> Browser:
    return browser_of(client)


@pytest.fixture
def browser(owner: Browser) -> Browser:
    """The owner's, in tests where nobody else looks."""
    return owner


@pytest.fixture
def viewer(client: Client) -> Browser:
    return browser_of(client, "viewer")

"""People who look at the pages of an account."""

from __future__ import annotations

from typing import Any

import pytest

from tests.make import Browser, Client, make_webhook
from tests.pages.support import browser_of


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


@pytest.fixture
def webhook(client: Client) -> dict[str, Any]:
    return make_webhook(client, url="https://hooks.example.org/in/canopy")

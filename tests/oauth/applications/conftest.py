"""Fixtures for tests of applications."""

from __future__ import annotations

import pytest

from tests.make import Application, Client, make_application


@pytest.fixture
def application(client: Client) -> Application:
    """An application with a secret and all scopes, registered by the account of ``client``."""
    return make_application(client)

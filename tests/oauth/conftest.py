"""An application for the tests of OAuth."""

from __future__ import annotations

import pytest

from tests.make import Application, Client, make_application


@pytest.fixture
def application(client: Client) -> Application:
    """One with a secret and all scopes, of the account of ``client``."""
    return make_application(client)

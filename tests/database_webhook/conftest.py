"""An instance to which changes can be reported: the secret is set."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from flask import Flask

from tests.database_webhook.reports import SECRET
from tests.make import Client, make_account, second_app


@pytest.fixture(scope="session")
def open_app(app: Flask) -> Iterator[Flask]:
    with second_app(app, db_webhook_secret=SECRET) as made:
        yield made


@pytest.fixture
def client(open_app: Flask) -> Client:
    """A caller of an account whose plan has limits."""
    return make_account(open_app, plan="free")


@pytest.fixture
def stranger(open_app: Flask) -> Client:
    """The same for another account."""
    return make_account(open_app, plan="free")

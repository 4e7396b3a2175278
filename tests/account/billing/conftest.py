"""An instance with both billing secrets set."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from flask import Flask

from tests.account.billing.sending import SECRET, STRIPE_SECRET
from tests.make import Client, make_account, second_app


@pytest.fixture(scope="session")
def open_app(app: Flask) -> Iterator[Flask]:
    secrets = {"billing_webhook_secret": SECRET, "payment_provider_webhook_secret": STRIPE_SECRET}
    with second_app(app, **secrets) as made:
        yield made


@pytest.fixture
def client(open_app: Flask) -> Client:
    """A client of an account on the plan free."""
    return make_account(open_app, plan="free")


@pytest.fixture
def stranger(open_app: Flask) -> Client:
    """A client of another account."""
    return make_account(open_app, plan="free")

"""An instance whose people sign in at a provider."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from flask import Flask

from app.people.single_sign_on import provider
from tests.make import second_app
from tests.people.single_sign_on.fake_provider import FakeProvider, fake_provider


@pytest.fixture(scope="session")
def _provider() -> Iterator[FakeProvider]:
    with fake_provider() as server:
        yield server


@pytest.fixture(scope="session")
def sso(app: Flask, _provider: FakeProvider) -> Iterator[Flask]:
    """The application with single sign-on."""
    with second_app(app, **_provider.settings) as site:
        yield site


@pytest.fixture
def woods(sso: Flask, _provider: FakeProvider) -> Iterator[FakeProvider]:
    """The provider, which tells the truth; the application has heard nothing of it yet."""
    _provider.is_right()
    provider.init_app(sso)
    yield _provider
    _provider.over.set()

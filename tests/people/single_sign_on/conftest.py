"""An instance whose people sign in at a real provider."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from flask import Flask

from app.people.single_sign_on.provider import CALLBACK
from tests.make import second_app
from tests.people.single_sign_on.real_provider import RealProvider, real_provider


@pytest.fixture(scope="session")
def woods(scratch: Path) -> Iterator[RealProvider]:
    """The provider; the instances of the tests have the default address."""
    with real_provider(scratch / "oidc", f"http://127.0.0.1:8000{CALLBACK}") as made:
        yield made


@pytest.fixture(scope="session")
def sso(app: Flask, woods: RealProvider) -> Iterator[Flask]:
    """The application with single sign-on."""
    with second_app(app, **woods.settings) as made:
        yield made

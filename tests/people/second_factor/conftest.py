"""Fixtures for tests of the second factor."""

from __future__ import annotations

import pytest
from flask import Flask

from tests.make import make_person, new_email
from tests.people.second_factor.support import Later


@pytest.fixture
def email(app: Flask) -> str:
    """The address of a person who has signed up."""
    address = new_email("careful")
    make_person(app, address)
    return address


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> Later:
    return Later(monkeypatch)

"""Fixtures for tests of the second factor."""

from __future__ import annotations

import itertools

import pytest
from flask import Flask

from tests.make import sign_up
from tests.people.second_factor.support import Later

_numbers = itertools.count(1)


@pytest.fixture
def email(app: Flask) -> str:
    """The address of a person who has signed up."""
    address = f"careful-{next(_numbers)}-{id(app)}@example.org"
    sign_up(app, address)
    return address


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> Later:
    return Later(monkeypatch)

"""Fixtures for tests of people."""

from __future__ import annotations

import itertools

import pytest
from flask import Flask

from tests.make import sign_up

_numbers = itertools.count(1)


@pytest.fixture
def email(app: Flask) -> str:
    """The address of a person who has signed up."""
    address = f"person-{next(_numbers)}-{id(app)}@example.org"
    sign_up(app, address)
    return address

"""Fixtures for tests of people."""

from __future__ import annotations

import pytest
from flask import Flask

from tests.make import make_person, new_email


@pytest.fixture
def email(app: Flask) -> str:
    """The address of a person who has signed up."""
    address = new_email("person")
    make_person(app, address)
    return address

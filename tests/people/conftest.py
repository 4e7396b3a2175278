"""Fixtures for tests of people."""

from __future__ import annotations

import pytest
from flask import Flask

from tests.make import new_email, sign_up


@pytest.fixture
def email(app: Flask) -> str:
    """The address of a person who has signed up."""
    address = new_email("person")
    sign_up(app, address)
    return address

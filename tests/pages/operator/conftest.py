"""An operator, and an instance on which they have set nothing."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from flask import Flask
from sqlalchemy import delete

from app.db.extensions import db
from app.models import InstanceState
from app.site.instance_state import forget_state
from tests.make import Browser, Client
from tests.pages.operator.support import operator_browser


@pytest.fixture
def operator(client: Client) -> Browser:
    """The browser of somebody who runs the instance, and has just confirmed that it is them."""
    return operator_browser(client)


@pytest.fixture(autouse=True)
def _nothing_set(app: Flask) -> Iterator[None]:
    yield
    with app.app_context():
        db.session.execute(delete(InstanceState))
        db.session.commit()
        forget_state()

"""The OpenAPI description is made when it is first asked for."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from flask import Flask

from app.api.openapi.document import description
from tests.make import second_app


@pytest.mark.slow
def test_those_who_ask_first_at_once_get_the_same(app: Flask) -> None:
    with second_app(app) as made, ThreadPoolExecutor(4) as pool:

        def ask(_: int) -> dict[str, Any]:
            with made.app_context():
                return description()

        first, *others = pool.map(ask, range(4))
    assert first["paths"]
    assert all(each == first for each in others)

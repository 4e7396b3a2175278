"""Applications with plans that run out soon."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from flask import Flask

from tests.make import second_app

PLANS = """
[few]
requests_per_minute = 3
requests_per_day = 100

[short-day]
requests_per_minute = 50
requests_per_day = 4

[even]
requests_per_minute = 3
requests_per_day = 3

[hundred]
requests_per_minute = 100

[boundless]
"""


@pytest.fixture(scope="session")
def plans_file(scratch: Path) -> Path:
    path = scratch / "plans.toml"
    path.write_text(PLANS)
    return path


@pytest.fixture(scope="session")
def limited(app: Flask, plans_file: Path) -> Iterator[Flask]:
    """The application with these plans besides."""
    with second_app(app, plans_file=plans_file) as made:
        yield made

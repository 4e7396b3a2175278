"""The countries that set-up installs."""

from __future__ import annotations

import pytest

from app.geometry.countries.natural_earth import World, load_world


@pytest.fixture(scope="session", autouse=True)
def world() -> World:
    """The countries; skips where they are not installed."""
    found = load_world()
    if found is None:
        pytest.skip("bin/test installs the countries with the browser code of the pages")
    return found

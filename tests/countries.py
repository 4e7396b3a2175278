"""The mark of tests that need the map of countries, which ``bin/test`` installs."""

from __future__ import annotations

import pytest

from app.geometry.countries import has_world

needs_countries = pytest.mark.skipif(not has_world(), reason="bin/test installs the countries")

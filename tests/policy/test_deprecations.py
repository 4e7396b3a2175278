"""What is deprecated: promises that the table must keep, and where it must be told."""

from __future__ import annotations

import re
from datetime import date

from flask import Flask

from app.api.openapi.document import api_description
from app.policy.deprecations import DEPRECATIONS, LEAST_MONTHS
from config import ROOT


def _months_later(day: date) -> date:
    """The day so many months later that a sunset is allowed."""
    return date(day.year + LEAST_MONTHS // 12, day.month, min(day.day, 28))


def test_a_year_lies_between_a_deprecation_and_its_sunset() -> None:
    for it in DEPRECATIONS:
        assert it.sunset is None or it.sunset >= _months_later(it.since), it


def test_the_changelog_names_it() -> None:
    for it in DEPRECATIONS:
        text = (ROOT / "CHANGELOG.md").read_text()
        parts = re.findall(r"^### Deprecated\n(.*?)(?=^##|\Z)", text, re.MULTILINE | re.DOTALL)
        lines = [line for part in parts for line in re.split(r"^- ", part, flags=re.MULTILINE)]
        assert any(f"`{it.operation}`" in line and f"`{it.name}`" in line for line in lines), it


def test_the_description_marks_each(app: Flask) -> None:
    with app.app_context():
        operation = api_description()["paths"]["/v1/geometry/validate"]["post"]
        schemas = api_description()["components"]["schemas"]
    assert "deprecated" not in operation
    assert "Deprecated since 2026-11-22: a geometry as the whole body." in operation["description"]
    assert {"Deprecation", "Sunset", "Link"} <= set(operation["responses"]["200"]["headers"])
    assert schemas["AnyGeometry"]["properties"]["coordinates"]["deprecated"] is True
    assert "deprecated" not in schemas["Polygon"]["properties"]["coordinates"]

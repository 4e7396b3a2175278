"""The generated tables say what the code says."""

from __future__ import annotations

import pytest

from app.policy import request_limits
from docs import generate
from docs.picture import TARGET, draw
from tests.architecture.documents import documents

PAGES = {name: text for name, text in documents().items() if generate.tables_of(text)}


def test_tables_are_fresh() -> None:
    for page, text in PAGES.items():
        assert generate.fill(text) == text, f"renew {page} with: {generate.COMMAND}"


def test_every_table_stands_on_one_page() -> None:
    placed = [name for text in PAGES.values() for name in generate.tables_of(text)]
    assert sorted(placed) == sorted(generate.TABLES)


def test_a_stale_table_is_renewed_and_what_is_around_it_stays() -> None:
    page = "Above.\n\n<!-- generated: plans -->\n\nold\n\n<!-- end: plans -->\n\nBelow.\n"
    renewed = generate.fill(page)
    assert "old" not in renewed
    assert "| `free` | 60 |" in renewed
    assert renewed.startswith("Above.\n")
    assert renewed.endswith("\nBelow.\n")
    assert generate.fill(renewed) == renewed


def test_a_limit_without_a_description_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_limits, "BEES", 7, raising=False)
    told = (
        r"BEES of app/policy/request_limits\.py has no description: say what it limits in "
        r"_REQUEST_LIMITS of docs/generate\.py\."
    )
    with pytest.raises(generate.Undescribed, match=told):
        generate.request_limits_table()


def test_operations_are_told_with_their_permission() -> None:
    shown = generate.operations()
    rows = {row.split(" | ")[0]: row for row in shown.splitlines()}
    assert "`POST /v1/projects`" in rows["| `projects:write`"]
    assert "`GET /v1/auth/verify`" in rows["| any credential"]
    assert "/docs" not in shown


def test_every_row_of_an_address_has_its_methods() -> None:
    shown = generate.operations() + generate.open_routes()
    assert "`OPTIONS /ogc/collections/assets/items`" in shown
    assert "`PUT, PATCH /v1/projects/{project_id}`" in shown
    assert "` /" not in shown


def test_the_picture_for_strangers_is_the_one_that_is_drawn() -> None:
    assert TARGET.read_text() == draw()

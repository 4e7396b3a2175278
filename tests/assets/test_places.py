"""Which assets a map has, whichever index finds them, and the words that assets have."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from app.assets import places, words
from app.assets.listing import asset_query, list_assets
from app.assets.places import find_places
from app.assets.words import known_words
from app.geometry import Bounds
from app.policy.request_limits import ASSET_STATUSES, ASSET_TYPES
from app.values import clock
from tests.make import Client, make_asset, make_project, point

pytestmark = pytest.mark.both


BOXES = (None, Bounds(-180, -90, 180, 90), Bounds(5, 45, 15, 55), Bounds(170, -20, 190, 20))


@pytest.fixture
def project_ids(client: Client) -> list[str]:
    """Two projects with assets here and there, and one asset that is nowhere in each."""
    ids = [make_project(client)["id"] for _ in range(2)]
    for number, project_id in enumerate(ids * 4):
        location = point(number * 10 - 190 * (number > 5), number * 12)
        make_asset(client, project_id, status=ASSET_STATUSES[number % 4], location=location)
    for project_id in ids:
        make_asset(client, project_id, name="Nowhere")
    return ids


def test_all_of_the_list_that_have_a_location(
    client: Client, project_ids: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether the index of boxes names the assets, or that of the list is read."""
    queries: list[dict[str, Any]] = [
        {},
        {"status": "maintenance"},
        {"search": "station"},
        {"search": "S"},
        {"updated_since": clock.now().replace(year=2001)},
    ]
    with client.app.app_context():
        for box, project_id, values in product(BOXES, (None, project_ids[0]), queries):
            query = asset_query(**values, bbox=box, per_page=100)
            records, _ = list_assets(client.account_id, project_id, query)
            expected = {record["id"] for record in records if record["location"]}
            for near in (0, 10_000):
                monkeypatch.setattr(places, "ASSETS_MAP_NEAR", near)
                found = find_places(client.account_id, project_id, query)
                assert {row.id for row in found.rows} == expected
                assert len(found.rows) == len(expected)
                assert found.is_all


def test_the_latest_where_there_are_too_many(
    client: Client, project_ids: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(places, "ASSETS_MAP_FEATURES", 3)
    with client.app.app_context():
        every, _ = list_assets(client.account_id, None, asset_query(per_page=100))
        latest = [record["id"] for record in every if record["location"]][:3]
        found = find_places(client.account_id, None, asset_query())
        assert [row.id for row in found.rows] == latest
        assert not found.is_all


def test_words_are_those_documented_and_those_of_the_account(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = make_project(client)
    for word in ("saw", "tower", "equipment", "axe"):
        make_asset(client, project["id"], type=word)
    with client.app.app_context():
        assert known_words(client.account_id, "type") == [*ASSET_TYPES, "axe", "saw", "tower"]
        assert known_words(client.account_id, "status") == list(ASSET_STATUSES)
        monkeypatch.setattr(words, "ASSET_WORDS", 1)
        assert known_words(client.account_id, "type") == [*ASSET_TYPES, "axe"]

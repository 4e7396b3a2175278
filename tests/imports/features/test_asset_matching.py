"""What becomes of a feature that may be an asset of the project."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from flask import Flask

from app.account.lookup import find_account
from app.assets.service import create_asset
from app.auth.operator import acting_for, first_owner
from app.db.transactions import transaction
from app.geometry import SAME_WITHIN, read_point
from app.imports.features import asset_targets
from app.imports.features.asset_targets import AssetMatcher
from app.imports.features.candidates import Candidate
from app.imports.features.decisions import Match
from tests.make import Client, make_asset, make_project

NAMESAKES = 300


def candidate(name: str, *location: float, **values: Any) -> Candidate:
    point = read_point(at(*location)) if location else None
    return Candidate(1, name, values, point and point.text)


def matcher(client: Client, project_id: str, match: Match = "none") -> AssetMatcher:
    return AssetMatcher(client.account_id, match, project_id=project_id)


def at(*location: float) -> dict[str, Any]:
    return {"type": "Point", "coordinates": [*location]}


@pytest.mark.both
def test_an_asset_is_the_feature_of_its_name_and_place(app: Flask, client: Client) -> None:
    cases: list[tuple[float, float, str]] = [
        (8.5, 50.25, "same"),
        (8.5 + 0.9 * SAME_WITHIN, 50.25, "same"),
        (8.5 - 0.9 * SAME_WITHIN, 50.25 - 0.9 * SAME_WITHIN, "same"),
        (8.5 + 0.4 * SAME_WITHIN, 50.25 + 0.6 * SAME_WITHIN, "same"),
        (8.5 + 1.1 * SAME_WITHIN, 50.25, "new"),
        (8.5, 50.25 - 1.1 * SAME_WITHIN, "new"),
    ]
    project_id = make_project(client)["id"]
    make_asset(client, project_id, name="Post", location=at(8.5, 50.25))
    for longitude, latitude, verdict in cases:
        with app.app_context():
            decision = matcher(client, project_id).decide(candidate("POST", longitude, latitude))
        assert decision.verdict == verdict, (longitude, latitude)
        assert decision.is_namesake == (verdict == "new"), (longitude, latitude)


@pytest.mark.both
def test_an_asset_without_a_place_is_the_feature_without_one(app: Flask, client: Client) -> None:
    project_id = make_project(client)["id"]
    asset = make_asset(client, project_id, name="Post", location=None)
    with app.app_context():
        nowhere = matcher(client, project_id).decide(candidate("Post"))
        somewhere = matcher(client, project_id).decide(candidate("Post", 1, 1))
    assert (nowhere.verdict, nowhere.target_id, somewhere.verdict) == ("same", asset["id"], "new")


@pytest.mark.both
def test_an_exported_asset_that_was_moved_is_another_without_a_match(
    app: Flask, client: Client
) -> None:
    project_id = make_project(client)["id"]
    asset = make_asset(client, project_id, name="Post", location=at(1, 1))
    found: list[tuple[Match, float, str]] = [
        ("none", 1, "same"), ("none", 2, "new"), ("name", 2, "changed"),
    ]  # fmt: skip
    for match, longitude, verdict in found:
        exported = replace(candidate("Post", longitude, 1), own_id=asset["id"])
        with app.app_context():
            decision = matcher(client, project_id, match).decide(exported)
        assert decision.verdict == verdict, (match, longitude)


@pytest.mark.both
def test_the_metadata_of_a_match_are_compared(app: Flask, client: Client) -> None:
    project_id = make_project(client)["id"]
    make_asset(client, project_id, name="Post", location=at(1, 1), metadata={"height": 2})
    with app.app_context():
        decide = matcher(client, project_id, "name").decide
        changed = decide(candidate("Post", 1, 1, metadata_json='{"height": 3}'))
        same = matcher(client, project_id, "name").decide(
            candidate("Post", 1, 1, metadata_json='{"height": 2}')
        )
    assert (changed.verdict, changed.changes, same.verdict) == ("changed", ("metadata",), "same")


@pytest.mark.slow
def test_very_many_assets_of_one_name_are_told_apart(
    app: Flask, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is compared with those that are near, and not with each of its name."""
    compared, is_at = [], asset_targets._is_at_location
    monkeypatch.setattr(
        asset_targets, "_is_at_location", lambda *arguments: compared.append(1) or is_at(*arguments)
    )
    project_id = make_project(client)["id"]
    with app.app_context(), transaction():
        account = find_account(client.account_id)
        owner = acting_for(account, first_owner(account.id))
        for number in range(NAMESAKES):
            place = read_point(at(number / 1000, 1))
            create_asset(owner, project_id, name="Tree", type="tree", location=place)
    features = [candidate("Tree", number / 1000, 1) for number in range(NAMESAKES)]
    with app.app_context():
        decide = matcher(client, project_id).decide
        verdicts = {decide(each).verdict for each in features}
    assert verdicts == {"same"}
    assert len(compared) < 10 * NAMESAKES

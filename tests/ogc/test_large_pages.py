"""Pages of large boundaries: through a file, in turn, and never larger than a page may be."""

from __future__ import annotations

import errno
import json
from tempfile import SpooledTemporaryFile
from typing import Any

import pytest
from flask import Flask

from app.api import expensive
from app.api.expensive import TURNS
from app.http import body_files
from app.lists import selecting
from app.ogc import feature_collections
from tests.body_files import SeenFile, watch_files
from tests.make import Client, make_account, make_asset, make_project
from tests.make.wavy import polygon
from tests.ogc.reading import found
from tests.ogc.reading import items as page_of
from tests.turns import turn_taken


@pytest.fixture(scope="module")
def account(app: Flask) -> Client:
    """One with projects of many positions, which no test changes."""
    made = make_account(app)
    for number in range(12):
        make_project(made, name=f"Forest {number}", geometry=polygon(1_000, west=number / 10))
    return made


@pytest.fixture
def files(account: Client, monkeypatch: pytest.MonkeyPatch) -> list[SeenFile]:
    """The files that pages go out from, which are large from 100 kB on."""
    monkeypatch.setattr(selecting, "EXPENSIVE_PAGE_BYTES", 100_000)
    monkeypatch.setattr(body_files, "IN_MEMORY", 50_000)
    monkeypatch.setattr(feature_collections, "BLOCK", 40_000)
    return watch_files(monkeypatch)


@pytest.mark.slow
def test_a_large_page_is_that_of_its_features(account: Client, files: list[SeenFile]) -> None:
    response = page_of(account)
    assert len(files) == 1
    assert files[0].closed
    assert int(response.headers["Content-Length"]) == len(response.get_data())
    features = found(response)
    assert [each["properties"]["name"] for each in features] == [f"Forest {n}" for n in range(12)]
    one = account.get(f"/ogc/collections/projects/items/{features[7]['id']}").json
    assert one["geometry"] == features[7]["geometry"]


def test_a_small_page_of_a_large_account_needs_no_file(
    account: Client, files: list[SeenFile]
) -> None:
    assert len(found(page_of(account, limit=1))) == 1
    assert files == []


def test_no_more_of_a_large_page_is_read_than_is_sent(
    account: Client, files: list[SeenFile], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(body_files, "BLOCK", 10_000)
    headers = {"Authorization": f"Bearer {account.token}"}
    path = "/ogc/collections/projects/items"
    response = account.app.test_client().get(path, headers=headers, buffered=False)
    next(iter(response.response))
    (file,) = files
    assert file.tell() < 50_000
    response.close()  # the client is gone
    assert file.closed


@pytest.mark.provokes(503)
def test_a_page_for_which_there_is_no_room(
    account: Client, files: list[SeenFile], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(SpooledTemporaryFile, "rollover", full)
    response = page_of(account)
    assert response.status_code == 503
    assert "with limit" in response.json["error"]["message"]
    assert files[0].closed
    assert page_of(account, limit=1).status_code == 200


@pytest.mark.provokes(503)
def test_a_large_page_waits_for_its_turn(
    account: Client, files: list[SeenFile], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(expensive, "EXPENSIVE_WAIT_SECONDS", 0.01)
    with turn_taken():
        assert page_of(account).status_code == 503
        assert page_of(account, limit=1).status_code == 200
    assert page_of(account).status_code == 200
    assert not TURNS.is_taken


def test_the_metadata_of_assets_counts_too(
    client: Client, files: list[SeenFile], monkeypatch: pytest.MonkeyPatch
) -> None:
    project = make_project(client)["id"]
    for _ in range(4):
        make_asset(client, project, metadata={"text": "x" * 10_000})
    monkeypatch.setattr(feature_collections, "LIST_BYTES", 25_000)
    monkeypatch.setattr(selecting, "EXPENSIVE_PAGE_BYTES", 15_000)
    assert len(found(page_of(client, "assets"))) == 2
    assert len(files) == 1


@pytest.mark.parametrize(
    ("bound", "few"), [("BLOCK", 5_000), ("AT_ONCE", 1)], ids=["metadata", "features"]
)
def test_a_page_is_written_in_steps_between_which_it_can_be_ended(
    client: Client, monkeypatch: pytest.MonkeyPatch, bound: str, few: int
) -> None:
    project = make_project(client)["id"]
    for _ in range(3):
        make_asset(client, project, metadata={"text": "x" * 4_000})
    monkeypatch.setattr(feature_collections, bound, few)
    assert len(found(page_of(client, "assets"))) == 3
    monkeypatch.setattr(expensive, "REQUEST_SECONDS", 0.0)
    assert page_of(client, "assets").status_code == 400


def test_descriptions_count_on_pages_of_many(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(3):
        make_project(client, description="x" * 5_000)
    monkeypatch.setattr(feature_collections, "LIST_BYTES", 12_000)
    monkeypatch.setattr(selecting, "FEW", 2)
    assert len(found(page_of(client, limit=3))) == 2
    body = page_of(client, limit=3).get_data(as_text=True)
    assert json.loads(body)["numberMatched"] == 3

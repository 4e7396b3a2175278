"""Answers that are larger than what is kept in memory, and answers that are kept."""

from __future__ import annotations

import errno
import json
from tempfile import SpooledTemporaryFile
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import text

from app.api import envelope
from app.db import queries
from app.http import body_files
from tests.body_files import SeenFile, watch_files
from tests.make import Client, make_account, make_project
from tests.make.wavy import polygon

MEGABYTE = 1024 * 1024


@pytest.fixture(scope="module")
def account(app: Flask) -> Client:
    """One with twenty projects of many positions, which no test changes."""
    made = make_account(app)
    for number in range(20):
        make_project(made, name=f"Forest {number}", geometry=polygon(1_000, west=number / 10))
    return made


@pytest.fixture
def large(account: Client, monkeypatch: pytest.MonkeyPatch) -> Client:
    """An account whose first page does not fit into what is kept in memory."""
    monkeypatch.setattr(body_files, "IN_MEMORY", 300_000)
    monkeypatch.setattr(envelope, "LARGE", 200_000)
    return account


@pytest.fixture
def files(large: Client, monkeypatch: pytest.MonkeyPatch) -> list[SeenFile]:
    """The files that large pages go out from, in small pieces."""
    monkeypatch.setattr(envelope, "BLOCK", 20_000)
    monkeypatch.setattr(body_files, "BLOCK", 20_000)
    return watch_files(monkeypatch)


def _page(client: Client, **options: Any) -> Any:
    with client.get("/v1/projects", **options) as response:
        return response.status_code, dict(response.headers), response.get_data()


@pytest.mark.slow
def test_a_large_page_is_that_of_its_records(large: Client) -> None:
    status, headers, body = _page(large)
    page = json.loads(body)
    assert (status, int(headers["Content-Length"])) == (200, len(body))
    assert len(body) > 400_000
    assert page["meta"] == {"total": 20, "page": 1, "per_page": 20, "total_pages": 1}
    assert [record["name"] for record in page["data"]] == [f"Forest {n}" for n in range(19, -1, -1)]
    for record in page["data"][::9]:
        assert record == large.get(f"/v1/projects/{record['id']}").json["data"]


@pytest.mark.slow
def test_a_large_page_has_the_tag_that_it_has_in_memory(
    large: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, from_file, body = _page(large)
    monkeypatch.setattr(body_files, "IN_MEMORY", 8 * MEGABYTE)
    monkeypatch.setattr(envelope, "LARGE", MEGABYTE)
    _, from_memory, same = _page(large)
    assert (from_file["ETag"], body) == (from_memory["ETag"], same)
    assert _page(large, headers={"If-None-Match": from_file["ETag"]})[0] == 304


@pytest.mark.slow
def test_only_a_page_of_several_blocks_goes_through_a_file(
    large: Client, files: list[SeenFile], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One block or many, and a last one that is empty: the answer is the same."""
    _, headers, body = _page(large)
    assert len(files) == 1
    for block, number in ((len(body), 1), (len(body) - 300, 2)):
        monkeypatch.setattr(envelope, "BLOCK", block)
        _, others, same = _page(large)
        assert (others["ETag"], same, len(files)) == (headers["ETag"], body, number)


@pytest.mark.slow
@pytest.mark.provokes(503)
def test_a_page_for_which_there_is_no_room(large: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(SpooledTemporaryFile, "rollover", full)
    response = large.get("/v1/projects")
    assert response.status_code == 503
    assert "per_page" in response.json["error"]["message"]
    assert large.get("/v1/projects?per_page=1").status_code == 200


def test_a_kept_answer_takes_less_room_than_it_has(app: Flask, client: Client) -> None:
    path = f"/v1/projects/{make_project(client, geometry=polygon(1_000))['id']}"
    answer = client.put(path, json={}, headers={"Idempotency-Key": "large"})
    size = text("SELECT length(body) FROM idempotent_answers WHERE account_id = :account_id")
    with app.app_context(), queries.reading_connection() as connection:
        kept = connection.execute(size, {"account_id": client.account_id}).scalar_one()
    assert kept * 2 < len(answer.get_data())


def test_no_more_of_a_large_page_is_read_than_is_sent(large: Client, files: list[SeenFile]) -> None:
    headers = {"Authorization": f"Bearer {large.token}", "Accept-Encoding": "zstd"}
    response = large.app.test_client().get("/v1/projects", headers=headers, buffered=False)
    next(iter(response.response))
    (file,) = files
    assert file.tell() < 200_000
    assert not file.closed
    response.close()  # the client is gone
    assert file.closed


@pytest.mark.slow
def test_a_large_page_that_is_known_is_not_sent(large: Client, files: list[SeenFile]) -> None:
    headers = {"Accept-Encoding": "gzip"}
    tag = _page(large, headers=headers)[1]["ETag"]
    status, known, body = _page(large, headers=headers | {"If-None-Match": tag})
    assert (status, known["ETag"], body) == (304, tag, b"")
    with large.send("HEAD", "/v1/projects", headers=headers) as head:
        assert (head.status_code, head.headers["ETag"], head.get_data()) == (200, tag, b"")
        assert "Content-Length" not in head.headers
    assert [file.closed for file in files] == [True, True, True]

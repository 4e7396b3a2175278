"""The entity tags of compressed answers: one for each coding, all for one state."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from flask import Flask
from sqlalchemy import text

from app.db import queries
from tests.make import Client, make_account, make_project
from tests.make.apps import bare_app
from tests.make.compressed import CODINGS, body_of, data_of, each_coding, get_coded, tag_for
from tests.make.wavy import polygon


@pytest.fixture(scope="module")
def caller(tmp_path_factory: pytest.TempPathFactory, valkey_url: str) -> Iterator[Client]:
    with bare_app(tmp_path_factory.mktemp("tags"), REDIS_URL=valkey_url) as made:
        yield make_account(made)


@pytest.fixture(scope="module")
def path(caller: Client) -> str:
    """The address of a project of more than a kilobyte."""
    return f"/v1/projects/{make_project(caller, geometry=polygon(100))['id']}"


@each_coding
def test_each_coding_has_its_own_tag(caller: Client, path: str, coding: str) -> None:
    plain = get_coded(caller, path, None).headers["ETag"]
    assert get_coded(caller, path, coding).headers["ETag"] == tag_for(plain, coding)


@pytest.mark.parametrize("accepted", [None, *CODINGS])
@pytest.mark.parametrize("known", [None, *CODINGS])
@pytest.mark.parametrize("listed", ["/v1/projects?per_page=1", None])
def test_what_is_known_in_any_coding_is_not_sent_again(
    caller: Client, path: str, accepted: str | None, known: str | None, listed: str | None
) -> None:
    """The 304 has the tag that the answer would have had."""
    address = listed or path
    tag = get_coded(caller, address, known).headers["ETag"]
    would_be = get_coded(caller, address, accepted).headers["ETag"]
    for sent in (tag, f"W/{tag}", f'"x", {tag}', "*"):
        response = get_coded(caller, address, accepted, **{"If-None-Match": sent})
        assert (response.status_code, response.get_data()) == (304, b"")
        assert response.headers["ETag"] == would_be
        assert response.headers["Vary"] == "Accept, Accept-Encoding"
        assert not {"Content-Encoding", "Content-Length", "Content-Type"} & set(
            dict(response.headers)
        )


@pytest.mark.parametrize("sent", ['"x-gzip"', '"-gzip"', '"x", "y-zstd"'])
def test_another_tag_is_not_known_whatever_its_coding(caller: Client, path: str, sent: str) -> None:
    assert get_coded(caller, path, "gzip", **{"If-None-Match": sent}).status_code == 200


def test_the_tag_of_a_coding_that_there_is_not_is_another_tag(caller: Client, path: str) -> None:
    tag = tag_for(get_coded(caller, path, None).headers["ETag"], "br")
    assert get_coded(caller, path, "gzip", **{"If-None-Match": tag}).status_code == 200


def test_a_small_answer_is_known_by_its_plain_tag(caller: Client) -> None:
    address = f"/v1/projects/{make_project(caller)['id']}"
    tag = get_coded(caller, address, "gzip").headers["ETag"]
    assert tag == get_coded(caller, address, None).headers["ETag"]
    known = get_coded(caller, address, "gzip", **{"If-None-Match": tag})
    assert (known.status_code, known.headers["ETag"]) == (304, tag)


@each_coding
def test_a_change_of_what_was_read_compressed(client: Client, coding: str) -> None:
    """Read, change, change again with the tag of the change, and not with the first one's."""
    address = f"/v1/projects/{make_project(client, geometry=polygon(100))['id']}"
    first = get_coded(client, address, coding).headers["ETag"]
    assert first.endswith(f'-{coding}"')
    headers = {"If-Match": first, "Accept-Encoding": coding}
    changed = client.put(address, json={"name": "B"}, headers=headers)
    assert (changed.status_code, data_of(changed)["name"]) == (200, "B")
    assert changed.headers["ETag"] == get_coded(client, address, coding).headers["ETag"] != first
    assert client.put(address, json={"name": "C"}, headers=headers).status_code == 412
    plain = {"If-Match": changed.headers["ETag"]}
    assert client.put(address, json={"name": "C"}, headers=plain).status_code == 200


@pytest.mark.parametrize("sent", ["W/{tag}", '"x-gzip"', '"-gzip"'])
def test_the_comparison_of_a_change_stays_strong(caller: Client, path: str, sent: str) -> None:
    tag = get_coded(caller, path, "gzip").headers["ETag"]
    response = caller.put(path, json={"name": "B"}, headers={"If-Match": sent.format(tag=tag)})
    assert response.status_code == 412


@pytest.mark.parametrize("sent", ['"x-gzip', '"a-gzip" "b-gzip"', "-gzip", '"a", -gzip"b"'])
def test_what_is_no_list_of_tags_does_not_become_one(caller: Client, path: str, sent: str) -> None:
    response = caller.put(path, json={"name": "B"}, headers={"If-Match": sent})
    assert response.status_code == 400


@each_coding
def test_a_kept_answer_is_kept_plain(app: Flask, client: Client, coding: str) -> None:
    headers = {"Idempotency-Key": "k", "Accept-Encoding": coding}
    body = {"name": "A", "geometry": polygon(100)}
    first = client.post("/v1/projects", json=body, headers=headers)
    query = text("SELECT body, headers FROM idempotent_answers WHERE account_id = :account_id")
    with app.app_context(), queries.connect() as connection:
        kept, named = connection.execute(query, {"account_id": client.account_id}).one()
    assert coding not in str(named)
    assert "Encoding" not in str(named)
    again = client.post("/v1/projects", json=body, headers=headers)
    assert again.headers["Idempotency-Replayed"] == "true"
    assert again.headers["ETag"] == first.headers["ETag"]
    assert body_of(again) == body_of(first)
    plain = client.post("/v1/projects", json=body, headers={"Idempotency-Key": "k"})
    assert plain.get_data() == body_of(first)
    assert len(kept) <= len(plain.get_data())

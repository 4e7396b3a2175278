"""The entity tags of compressed answers: one for each coding, all for one state."""

from __future__ import annotations

import pytest
from sqlalchemy import text

from app.db import queries
from tests.make import Client, make_project
from tests.make.compressed import CODINGS, body_of, data_of, each_coding, get_coded, tag_for
from tests.make.wavy import polygon


@pytest.fixture
def path(client: Client) -> str:
    """The address of a project of more than a kilobyte."""
    return f"/v1/projects/{make_project(client, geometry=polygon(100))['id']}"


def test_what_is_known_in_any_coding_is_not_sent_again(client: Client, path: str) -> None:
    """The 304 has the tag that the answer would have had."""
    for address in (path, "/v1/projects?per_page=1"):
        tags = {
            coding: get_coded(client, address, coding).headers["ETag"]
            for coding in (None, *CODINGS)
        }
        for coding in CODINGS:
            assert tags[coding] == tag_for(tags[None], coding)
        for accepted, would_be in tags.items():
            for tag in tags.values():
                for sent in (tag, f'"x", W/{tag}'):
                    known = get_coded(client, address, accepted, **{"If-None-Match": sent})
                    assert (known.status_code, known.get_data()) == (304, b"")
                    assert known.headers["ETag"] == would_be
                    assert known.headers["Vary"] == "Accept, Accept-Encoding"
                    names = set(dict(known.headers))
                    assert not {"Content-Encoding", "Content-Length", "Content-Type"} & names


def test_another_tag_is_not_known_whatever_its_coding(client: Client, path: str) -> None:
    plain = get_coded(client, path, None).headers["ETag"]
    for sent in ('"x-gzip"', '"-gzip"', '"x", "y-zstd"', tag_for(plain, "br")):
        assert get_coded(client, path, "gzip", **{"If-None-Match": sent}).status_code == 200


def test_a_small_answer_is_known_by_its_plain_tag(client: Client) -> None:
    address = f"/v1/projects/{make_project(client)['id']}"
    tag = get_coded(client, address, "gzip").headers["ETag"]
    assert tag == get_coded(client, address, None).headers["ETag"]
    known = get_coded(client, address, "gzip", **{"If-None-Match": tag})
    assert (known.status_code, known.headers["ETag"]) == (304, tag)


@each_coding
def test_a_change_of_what_was_read_compressed(client: Client, path: str, coding: str) -> None:
    """Read, change, change again with the tag of the change, and not with the first one's."""
    first = get_coded(client, path, coding).headers["ETag"]
    assert first.endswith(f'-{coding}"')
    headers = {"If-Match": first, "Accept-Encoding": coding}
    changed = client.put(path, json={"name": "B"}, headers=headers)
    assert (changed.status_code, data_of(changed)["name"]) == (200, "B")
    assert changed.headers["ETag"] == get_coded(client, path, coding).headers["ETag"] != first
    assert client.put(path, json={"name": "C"}, headers=headers).status_code == 412
    plain = {"If-Match": changed.headers["ETag"]}
    assert client.put(path, json={"name": "C"}, headers=plain).status_code == 200


def test_the_tag_of_a_change_is_compared_strictly(client: Client, path: str) -> None:
    tag = get_coded(client, path, "gzip").headers["ETag"]
    for sent, status in (
        (f"W/{tag}", 412),
        ('"x-gzip"', 412),
        ('"-gzip"', 412),
        ('"x-gzip', 400),
        ('"a-gzip" "b-gzip"', 400),
        ("-gzip", 400),
    ):
        refused = client.put(path, json={"name": "B"}, headers={"If-Match": sent})
        assert refused.status_code == status, sent


@each_coding
def test_a_kept_answer_is_kept_plain(client: Client, coding: str) -> None:
    headers = {"Idempotency-Key": "k", "Accept-Encoding": coding}
    body = {"name": "A", "geometry": polygon(100)}
    first = client.post("/v1/projects", json=body, headers=headers)
    query = text("SELECT headers FROM idempotent_answers WHERE account_id = :account_id")
    with client.app.app_context(), queries.reading_connection() as connection:
        kept = str(connection.execute(query, {"account_id": client.account_id}).scalar_one())
    assert coding not in kept
    assert "Encoding" not in kept
    again = client.post("/v1/projects", json=body, headers=headers)
    assert again.headers["Idempotency-Replayed"] == "true"
    assert again.headers["ETag"] == first.headers["ETag"]
    assert body_of(again) == body_of(first)
    plain = client.post("/v1/projects", json=body, headers={"Idempotency-Key": "k"})
    assert plain.get_data() == body_of(first)

"""How large the forms of projects and assets may be."""

from __future__ import annotations

import orjson
import pytest

from app.pages.projects.editor.boundary_text import check_boundary
from app.policy.forms import FIELD_LENGTHS, FORM_BYTES, RECORD_FORM_BYTES
from app.policy.request_limits import METADATA_BYTES
from app.site import signed_in
from tests.make import Browser, Client, make_asset, make_project, square
from tests.pages.support import MULTIPART, browser_of, metadata_of, several_parts, text_of
from tests.processor_time import takes_at_most


def test_a_large_boundary_fits_into_the_form(client: Client, owner: Browser) -> None:
    ring = [[10 + number / 50_000, 50.0] for number in range(20_000)]
    ring += [[10.4, 50.1], [10.0, 50.1], ring[0]]
    text = text_of({"type": "Polygon", "coordinates": [ring]})
    assert len(text) > 200_000
    token = owner.get("/profile").form("/logout").fields["csrf_token"]
    body = several_parts(csrf_token=token, name="Large", geometry=text)
    page = owner.post_bytes("/projects/new", body, MULTIPART)
    assert page.status == 303, page.text[:500]


def test_a_large_boundary_is_taken_as_a_form_of_several_parts(owner: Browser) -> None:
    token = owner.get("/profile").form("/logout").fields["csrf_token"]
    lines = text_of(square()).replace("[", "[" + "\r\n" * 50_000)
    body = several_parts(csrf_token=token, geometry=lines.encode())
    page = owner.post_bytes("/projects/check", body, MULTIPART)
    assert page.status == 200
    assert page.response.get_json()["data"]["problems"] == []


@pytest.mark.parametrize("letter", ["\n", "木"])
def test_the_longest_texts_fit_into_the_forms(client: Client, owner: Browser, letter: str) -> None:
    value = letter * ((METADATA_BYTES - 50) // (len(orjson.dumps(letter)) - 2))
    record = make_project(client, metadata={"notes": value}, description="木" * 10_000)
    asset = make_asset(client, record["id"], metadata={"notes": value})
    of_project = f"/v1/projects/{record['id']}"
    pages = {
        f"/projects/{record['id']}": of_project,
        f"/assets/{record['id']}/{asset['id']}": f"{of_project}/assets/{asset['id']}",
    }
    for path, of_api in pages.items():
        page = owner.get(f"{path}/edit")
        sent = page.form(f"{path}/edit").fields | metadata_of(page) | {"name": "Hazel dell"}
        assert owner.post_bytes(f"{path}/edit", several_parts(**sent), MULTIPART).status == 303
        now = client.get(of_api).json["data"]
        assert (now["name"], now["metadata"]) == ("Hazel dell", {"notes": value})


def test_only_the_boundary_may_be_large(client: Client, owner: Browser) -> None:
    for path in ["/projects/new", "/projects/check", "/assets/new"]:
        token = owner.get("/profile").form("/logout").fields["csrf_token"]
        longest = "x" * FIELD_LENGTHS["metadata_value"]
        many = [longest] * (RECORD_FORM_BYTES // len(longest) + 1)
        body = several_parts(csrf_token=token, name="Large", metadata_value=many)
        page = owner.post_bytes(path, body, MULTIPART)
        assert page.status == 413
        assert "too large" in page.text
        body = several_parts(csrf_token=token, name="Large", metadata_value=f"{longest}x")
        assert owner.post_bytes(path, body, MULTIPART).status == 422


@pytest.mark.parametrize(
    ("start", "repeated"),
    [
        ("POLYGON", " "),
        ("POLYGON((", "1 1,"),
        ("0103", "0"),
        ("", "["),
    ],
)
def test_a_long_text_that_is_no_boundary_is_refused_soon(start: str, repeated: str) -> None:
    def check(times: int) -> None:
        assert check_boundary(f"{start}{repeated * times}x").problems

    assert takes_at_most(40, lambda: check(6_000), lambda: check(500))


def test_a_large_form_of_somebody_who_may_not_send_it_is_not_read(client: Client) -> None:
    viewer = browser_of(client, "viewer")
    body = several_parts(geometry="x" * FORM_BYTES)  # without the secret of the browser's forms
    page = viewer.post_bytes("/projects/new", body, MULTIPART)
    assert page.status == 403
    assert "to change your role" in page.text


def test_a_large_form_counts_before_it_is_read(
    client: Client, owner: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = list[str]()
    monkeypatch.setattr(signed_in, "count_page_request", counted.append)
    owner.post_bytes("/projects/new", several_parts(geometry="x" * FORM_BYTES), MULTIPART)
    assert counted == [client.owner_id]
    token = owner.get("/profile").form("/logout").fields["csrf_token"]
    counted.clear()
    body = several_parts(csrf_token=token, geometry="x" * FORM_BYTES)
    assert owner.post_bytes("/projects/new", body, MULTIPART).status == 422
    assert counted == [client.owner_id]


def test_a_form_with_a_file_has_few_parts(owner: Browser) -> None:
    token = owner.get("/profile").form("/logout").fields["csrf_token"]
    body = several_parts(csrf_token=token, kind=["projects"] * 30, file="a")
    assert owner.post_bytes("/imports/new", body, MULTIPART).status == 413
    body = several_parts(csrf_token=token, kind="x" * 40_000, file="a")
    assert owner.post_bytes("/imports/new", body, MULTIPART).status == 422

"""Reading events."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from app.auth.tenant import rows_of
from app.db.extensions import db
from app.models import Event
from app.values import clock
from tests.make import Client, events, make_asset, make_project, make_webhook

PATH = "/v1/events"


@pytest.fixture
def past(client: Client, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """A project and four assets, a second apart, the newest first, each as it was sent."""
    first = clock.now() - timedelta(hours=1)
    return _made_at(client, monkeypatch, [first + timedelta(seconds=n) for n in range(5)])


def _made_at(
    client: Client, monkeypatch: pytest.MonkeyPatch, moments: list[datetime]
) -> list[dict[str, Any]]:
    """The events of a project and of assets that are made at these moments, the newest first."""
    with monkeypatch.context() as patch:
        patch.setattr(clock, "now", lambda: moments[0])
        project = make_project(client)
        for moment in moments[1:]:
            patch.setattr(clock, "now", lambda moment=moment: moment)
            make_asset(client, project["id"])
    return events(client)[::-1]


def test_the_list_has_them_as_they_were_sent(
    client: Client, stranger: Client, past: list[dict[str, Any]]
) -> None:
    make_project(stranger)
    answer = client.get(PATH)
    assert answer.status_code == 200
    assert answer.json["data"] == past
    assert answer.json["meta"] == {"total": 5, "page": 1, "per_page": 20, "total_pages": 1}


@pytest.mark.both
def test_one_is_the_same_to_the_byte(client: Client) -> None:
    make_project(client, name="Wäldchen „Süd“ 🌲")
    with client.app.app_context():
        row = db.session.scalars(rows_of(client.account_id, Event)).one()
        event_id, body = row.id, row.body
    answer = client.get(f"{PATH}/{event_id}")
    assert answer.get_data(as_text=True).startswith(f'{{"data":{body},"meta":')
    assert answer.headers["ETag"]
    assert client.get(PATH).get_data(as_text=True).startswith(f'{{"data":[{body}],"meta":')


@pytest.mark.both
def test_those_of_one_moment_are_in_their_order(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = _made_at(client, monkeypatch, [clock.now()] * 5)
    assert len({event["created_at"] for event in made}) == 1
    assert [event["type"] for event in made] == ["asset.created"] * 4 + ["project.created"]
    pages = [client.get(f"{PATH}?per_page=1&page={page}").json["data"] for page in range(1, 6)]
    assert [event for page in pages for event in page] == made


def test_of_one_type(client: Client, past: list[dict[str, Any]]) -> None:
    assert client.get(f"{PATH}?type=asset.created").json["data"] == past[:4]
    answer = client.get(f"{PATH}?type=asset.created&per_page=3&page=2")
    assert answer.json["data"] == past[3:4]
    assert answer.json["meta"]["total"] == 4
    assert client.get(f"{PATH}?type=invoice.paid").json["data"] == []


@pytest.mark.both
def test_both_ends_of_the_time_are_included(client: Client, past: list[dict[str, Any]]) -> None:
    moments = [clock.parse_time(event["created_at"]) for event in past]

    def found(**query: Any) -> list[dict[str, Any]]:
        answer = client.get(PATH, query_string=query)
        assert answer.status_code == 200
        return list(answer.json["data"])

    texts = [clock.format_time(moment) for moment in moments]
    assert found(since=texts[1]) == past[:2]
    assert found(until=texts[1]) == past[1:]
    assert found(since=texts[3], until=texts[1]) == past[1:4]
    assert found(since=texts[3], until=texts[1], type="asset.created") == past[1:4]
    assert found(since=texts[1], until=texts[3]) == []
    after = moments[1] + timedelta(milliseconds=1)
    assert found(since=clock.format_time(after)) == past[:1]
    zone = clock.format_time(moments[1] - timedelta(hours=5)).replace("Z", "-05:00")
    assert found(since=zone) == past[:2]
    for before_1970 in ("1969-12-31T23:59:59.999Z", "0001-01-01T00:00:00Z"):
        assert found(since=before_1970) == past
        assert found(until=before_1970) == []


def test_every_type_can_be_subscribed_to(client: Client) -> None:
    types = [each["name"] for each in client.get("/v1/event-types").json["data"]]
    assert make_webhook(client, events=types)["events"] == types

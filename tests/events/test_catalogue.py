"""The types of events, their schemas and their examples."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from flask import Flask
from jsonschema_rs import Draft202012Validator, meta

from app.audit.log.schemas import AuditCheckpointSchema, AuditEntrySchema
from app.events import catalogue
from app.events.catalogue import DIALECT, TYPES, example_of, schema_of
from app.events.outbox import EventActor, emit_event
from app.policy.events import EVENTS, PROJECT_FIELDS, EventKind
from tests import statement_checks
from tests.make import Client, make_account, make_project
from tests.statement_checks import closed

_PROJECT = {name: example_of("project.created")["data"][name] for name in PROJECT_FIELDS}


def _faults(event_type: str, event: Any, *, is_closed: bool = False) -> list[str]:
    schema = schema_of(event_type)
    validator = Draft202012Validator(closed(schema) if is_closed else schema)
    return [fault.message for fault in validator.iter_errors(event)]


def test_the_example_fits_the_schema() -> None:
    for event_type in TYPES:
        schema = schema_of(event_type)
        meta.validate(schema)
        assert schema["$schema"] == DIALECT
        assert _faults(event_type, example_of(event_type), is_closed=True) == []


def test_an_event_can_have_what_any_field_was_before(monkeypatch: pytest.MonkeyPatch) -> None:
    kind = replace(EVENTS["asset.status_changed"], extra=("previous_location",))
    monkeypatch.setitem(EVENTS, "asset.other", kind)
    monkeypatch.setitem(EVENTS, "asset.strange", replace(kind, extra=("strange",)))
    assert _faults("asset.other", example_of("asset.other")) == []
    assert schema_of("asset.other")["properties"]["data"]["properties"]["previous_location"]
    with pytest.raises(KeyError, match="strange"):
        schema_of("asset.strange")


def test_every_member_is_required() -> None:
    for event_type in TYPES:
        for name in ("id", "type", "created_at", "data", "account"):
            event = example_of(event_type)
            del event[name]
            assert _faults(event_type, event)
        for name in example_of(event_type)["data"]:
            event = example_of(event_type)
            del event["data"][name]
            assert _faults(event_type, event)


def test_more_may_come_one_day_and_nothing_more_comes_today() -> None:
    for event_type in TYPES:
        for place in ("", "data", "account"):
            event = example_of(event_type)
            (event[place] if place else event)["news"] = 1
            assert not _faults(event_type, event)
            assert _faults(event_type, event, is_closed=True)


def test_another_type_does_not_fit() -> None:
    for event_type in TYPES:
        assert _faults(event_type, example_of(event_type) | {"type": "project.painted"})


def test_a_wrong_value_does_not_fit() -> None:
    for event_type, name, value in [
        ("project.created", "id", "asset_01k9zq7c4d8r0v3nwk5t2m6xbe"),
        ("project.created", "area_hectares", "7"),
        ("project.created", "status", "lost"),
        ("project.created", "created_at", "2026-01-02T03:04:05Z"),
        ("project.created", "created_by", {"id": "user_1"}),
        ("project.updated", "changes", {}),
        ("project.updated", "changes", {"name": {"from": "a"}}),
        ("project.updated", "changes", {"geometry": {"changed": False}}),
        ("asset.created", "location", {"type": "Polygon", "coordinates": []}),
        ("asset.created", "metadata", []),
        ("member.joined", "role", "king"),
        ("invoice.paid", "amount", 1.5),
        ("usage.limit_exceeded", "limit", "none"),
        ("audit.entry", "number", 0),
        ("audit.entry", "outcome", "perhaps"),
        ("audit.entry", "actor", {"type": "person", "label": "Ann"}),
        ("audit.checkpoint", "hash", "3D"),
    ]:
        event = example_of(event_type)
        event["data"][name] = value
        assert _faults(event_type, event)


def test_the_audit_log_is_as_the_api_gives_it() -> None:
    entry, point = (example_of(f"audit.{name}")["data"] for name in ("entry", "checkpoint"))
    assert {*entry} == {*AuditEntrySchema.example, "number"}
    assert entry | AuditEntrySchema.example == entry
    assert point == AuditCheckpointSchema.example


def test_the_list(client: Client) -> None:
    answer = client.get("/v1/event-types")
    found = answer.json["data"]
    assert [each["name"] for each in found] == list(EVENTS)
    assert answer.json["meta"] == {"total": len(EVENTS)}
    for each in found:
        assert list(each) == ["name", "meaning", "schema", "example"]
        assert each["meaning"] == EVENTS[each["name"]].meaning
        assert each["schema"] == schema_of(each["name"])
        assert each["example"] == example_of(each["name"])


@pytest.fixture
def _one_more(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A new type of event about projects."""
    kind = EventKind("A project is flown over", PROJECT_FIELDS, "updated_by")
    monkeypatch.setitem(EVENTS, "project.flown_over", kind)
    catalogue.event_types.cache_clear()
    yield
    catalogue.event_types.cache_clear()


@pytest.mark.usefixtures("_one_more")
def test_a_new_type_about_what_is_known_takes_one_line() -> None:
    listed = catalogue.event_types()[-1]
    assert listed["name"] == "project.flown_over"
    assert _faults("project.flown_over", listed["example"], is_closed=True) == []


def test_every_event_of_the_tests_is_judged(app: Flask, client: Client) -> None:
    make_project(client)
    assert statement_checks.take_findings() == []
    stranger = make_account(app)
    origin = EventActor(stranger.account_id, "A", stranger.owner_id, "owner@example.org")
    with app.app_context():
        emit_event("project.created", _PROJECT | {"area_hectares": "7"}, origin)
    (found,) = statement_checks.take_findings()
    assert "project.created is not as promised" in found
    assert "area_hectares" in found

"""What can be done with an import, at each of its states."""

from __future__ import annotations

import pytest

from app.imports.available_actions import AvailableActions, available_actions
from tests.imports.making import act, ready, upload
from tests.make import Client, make_project, operator_of, square
from tests.make.features import collection, feature


def of(client: Client, import_id: str) -> AvailableActions:
    with client.app.app_context():
        return available_actions(operator_of(client), import_id)


def test_an_import_that_is_read_can_only_be_canceled(client: Client) -> None:
    made = upload(client, collection(feature(square(), name="A"))).json["data"]
    assert of(client, made["id"]).actions == {"cancel"}
    act(client, made, "cancel")
    assert of(client, made["id"]).actions == frozenset()


def test_what_was_written_can_be_undone(client: Client) -> None:
    make_project(client, name="A")
    make_project(client, name="C", geometry=square(12))
    found = ready(
        client,
        feature(square(), name="A"),
        feature(square(11), name="B"),
        feature(square(), name="C"),
        match="name",
    )
    assert of(client, found["id"]).actions == {"change", "apply", "cancel"}
    act(client, found, "apply")
    assert of(client, found["id"]) == AvailableActions(frozenset({"undo"}), 1, 2, 0)
    act(client, found, "undo")
    assert of(client, found["id"]) == AvailableActions(frozenset(), 0, 0, 0)


@pytest.mark.parametrize(("action", "done"), [("cancel", "canceled"), ("apply", "applied")])
def test_what_is_not_possible_is_refused(client: Client, action: str, done: str) -> None:
    made = ready(client, feature(square(), name="A"))
    act(client, made, "apply")
    response = client.post(f"/v1/imports/{made['id']}/{action}")
    assert response.status_code == 409
    assert response.json["error"]["message"].endswith(f"can be {done}. This one is applied.")


def test_new_features_with_a_known_name_are_counted(client: Client) -> None:
    make_project(client, name="A", geometry=square(12))
    found = ready(client, feature(square(), name="A"), feature(square(11), name="B"))
    assert of(client, found["id"]).namesakes == 1

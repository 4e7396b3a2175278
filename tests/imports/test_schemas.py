"""What a request about imports may say."""

from __future__ import annotations

from typing import Any

import pytest

from app.policy.files import COLUMNS, NAMES_LENGTH
from tests.imports.making import ready, upload
from tests.make import Client, square
from tests.make.features import feature


@pytest.fixture
def record(client: Client) -> dict[str, Any]:
    return ready(client, feature(square(), name="Alpine"))


def refusal(client: Client, record: dict[str, Any], mapping: Any) -> dict[str, str]:
    response = client.put(f"/v1/imports/{record['id']}", json={"mapping": mapping})
    assert response.status_code == 422
    (detail,) = response.json["error"]["details"]
    found: dict[str, str] = detail
    return found


def test_a_field_is_sent_once(client: Client) -> None:
    response = upload(client, b"{}", kind=["projects", "assets"])
    (detail,) = response.json["error"]["details"]
    assert (detail["field"], detail["message"]) == ("kind", "Send this field only once.")


def test_a_mapping_names_columns(client: Client, record: dict[str, Any]) -> None:
    for mapping, message in (
        (["name"], "Must be a JSON object."),
        ({"nmae": "NAME"}, "'nmae' is unknown. The fields are: "),
        ({"metadata": "NAME"}, "'metadata' must be a list of names of columns, or null."),
        ({"metadata": [""]}, "'metadata' must be a list of names of columns, or null."),
        ({"name": 1}, "'name' must be the name of a column, or null."),
    ):
        refused = refusal(client, record, mapping)
        assert refused["field"] == "mapping", mapping
        assert refused["message"].startswith(message), mapping


@pytest.mark.slow
def test_a_mapping_has_no_more_columns_than_a_file(client: Client, record: dict[str, Any]) -> None:
    names = [f"c{number}" for number in range(COLUMNS + 1)]
    assert refusal(client, record, {"metadata": names}) == {
        "field": "mapping",
        "message": f"'metadata' must have at most {COLUMNS} names of columns.",
        "code": "too_many",
    }
    accepted = client.put(f"/v1/imports/{record['id']}", json={"mapping": {"metadata": names[1:]}})
    assert accepted.status_code == 200


def test_the_names_of_a_mapping_are_bounded_together(
    client: Client, record: dict[str, Any]
) -> None:
    names = ["x" * 1000] * (NAMES_LENGTH // 1000)
    assert refusal(client, record, {"metadata": names, "name": "y"}) == {
        "field": "mapping",
        "message": "The names of columns must have at most 100,000 characters together.",
        "code": "too_long",
    }
    accepted = client.put(f"/v1/imports/{record['id']}", json={"mapping": {"metadata": names}})
    assert accepted.status_code == 200

"""A small request does not get a huge answer, nor keep the service busy."""

from __future__ import annotations

import time

import pytest

from app.geometry import read_bbox
from app.values.strict_json import MAX_CONTAINERS, JsonInvalid, loads
from tests.make import Client

pytestmark = pytest.mark.one_database


def test_details_end_at_a_hundred(client: Client) -> None:
    response = client.post("/v1/projects?" + "&".join(f"p{n}=1" for n in range(500)), json={})
    assert response.status_code == 400
    assert len(response.json["error"]["details"]) == 100


def test_very_many_unknown_names_are_counted_rather_than_listed(client: Client) -> None:
    response = client.post("/v1/projects", json={str(number): 0 for number in range(5_000)})
    assert response.status_code == 422
    assert len(response.get_data()) < 1_000
    assert "5,000 fields" in response.json["error"]["details"][0]["message"]


def test_a_long_name_is_told_back_shortened(client: Client) -> None:
    response = client.post("/v1/projects", json={"name": "Wald", "x" * 100_000: 0})
    assert response.status_code == 422
    assert len(response.get_data()) < 1_000


def test_a_body_of_very_many_arrays_is_refused() -> None:
    with pytest.raises(JsonInvalid, match="arrays and objects"):
        loads(b"[" + b"[]," * MAX_CONTAINERS + b"[]]")


def test_a_bbox_of_many_digits_is_refused_at_once() -> None:
    began = time.process_time()
    with pytest.raises(ValueError, match="four numbers"):
        read_bbox("1" * 8_000 + "x,1,1,1")
    assert time.process_time() - began < 0.1

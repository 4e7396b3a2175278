"""A small request does not get a huge answer, nor keep the service busy."""

from __future__ import annotations

from types import SimpleNamespace

import orjson
import pytest

from app.geometry import read_bbox
from app.policy.request_limits import BODY_CONTAINERS, BODY_VALUES
from app.values import strict_json
from app.values.strict_json import loads
from tests.make import Client
from tests.processor_time import takes_at_most


def test_details_end_at_a_hundred(client: Client) -> None:
    response = client.post("/v1/projects?" + "&".join(f"p{n}=1" for n in range(500)), json={})
    assert response.status_code == 400
    assert len(response.json["error"]["details"]) == 100


def test_very_many_unknown_names_are_counted_rather_than_listed(client: Client) -> None:
    response = client.post("/v1/projects", json={str(number): 0 for number in range(5_000)})
    assert response.status_code == 422
    assert len(response.get_data()) < 1_000
    assert "5,000 unknown fields" in response.json["error"]["details"][0]["message"]


def test_a_long_name_is_told_back_shortened(client: Client) -> None:
    response = client.post("/v1/projects", json={"name": "Wald", "x" * 100_000: 0})
    assert response.status_code == 422
    assert len(response.get_data()) < 1_000


def test_a_bbox_of_many_digits_is_refused_at_once() -> None:
    def refused(digits: int) -> None:
        with pytest.raises(ValueError, match="four numbers"):
            read_bbox("1" * digits + "x,1,1,1")

    assert takes_at_most(100, lambda: refused(32_000), lambda: refused(1_000))


LARGE = 16 * 1024 * 1024
# How the body begins, what comes so many times, how it ends, and what there are too many of.
BODIES = [
    (b'{"name": [', b"1,", LARGE // 2 - 10, b"1]}", "700,000 values"),
    (b'{"name": [', b"[],", 300_000, b"[]]}", "300,000 arrays and objects"),
    (b'{"name": [', b"{},", 300_000, b"{}]}", "300,000 arrays and objects"),
    (b'{"name": [', b'"",', 20_000, b'""]}', "20,000 strings"),
    (b"{", b'"a":0,', 20_000, b'"b":0}', "20,000 strings"),
    (b'{"name": "', b"\\\\", 600_000, b'"}', "1,000,000 escaped characters"),
]


def test_a_body_of_very_many_values_is_refused_before_it_is_read(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[bytes] = []
    without_reading = SimpleNamespace(**(vars(orjson) | {"loads": read.append}))
    for start, repeated, times, end, what in BODIES:
        body = start + repeated * times + end
        with monkeypatch.context() as patch:
            patch.setattr(strict_json, "orjson", without_reading)
            response = client.post("/v1/projects", data=body, content_type="application/json")
        assert read == []
        assert response.status_code == 400
        (detail,) = response.json["error"]["details"]
        assert detail == {
            "field": "body",
            "message": f"The body has more than {what}.",
            "code": "invalid",
        }


def test_a_boundary_as_large_as_it_may_be_is_far_below_the_bounds() -> None:
    positions = b",".join([b"[179.123456789012345,89.123456789012345,1234.5678]"] * 100_000)
    body = b'{"name":"A","geometry":{"type":"Polygon","coordinates":[[' + positions + b"]]}}"
    assert len(loads(body)["geometry"]["coordinates"][0]) == 100_000
    assert body.count(b",") < BODY_VALUES / 2
    assert body.count(b"[") < BODY_CONTAINERS / 2

"""Imports as a list."""

from __future__ import annotations

from tests.imports.making import read, ready
from tests.make import Client, square
from tests.make.features import feature


def test_a_list_leaves_out_the_names_of_layers_and_columns(client: Client) -> None:
    record = ready(client, feature(square(), name="Alpine"))
    (listed,) = client.get("/v1/imports").json["data"]
    assert record == read(client, record["id"])
    assert record["layers"][0]["columns"] == ["name"]
    assert listed == {
        name: value for name, value in record.items() if name not in ("layers", "mapping")
    }

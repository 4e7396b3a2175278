"""Imports and their features as lists."""

from __future__ import annotations

import pytest

from tests.imports.making import act, features_of, projects, read, ready, uploaded
from tests.make import Client, make_project, multi_square, point, square
from tests.make.features import feature


def test_a_list_leaves_out_the_names_of_layers_and_columns(client: Client) -> None:
    record = ready(client, feature(square(), name="Alpine"))
    (listed,) = client.get("/v1/imports").json["data"]
    assert record == read(client, record["id"])
    assert record["layers"][0]["columns"] == ["name"]
    for name in ("layers", "mapping", "questions", "suggestions", "left_out", "names"):
        del record[name]
    for name in ("account", "limit"):
        del record["hectares"][name]
    assert listed == record


@pytest.mark.both
def test_features_are_listed_by_state(client: Client) -> None:
    make_project(client, name="Fir", geometry=square(3, 3))
    made = {"Oak": square(1, 1), "Yew": square(2, 2), "Fir": square(3, 3)}
    record = ready(client, *(feature(shape, name=name) for name, shape in made.items()))
    assert features_of(client, record, state="applied") == []
    act(client, record, "apply")
    applied = features_of(client, record, state="applied")
    assert [one["name"] for one in applied] == ["Oak", "Yew"]
    client.put(f"/v1/projects/{projects(client)['Yew']['id']}", json={"description": "Seen"})
    act(client, record, "undo")
    assert [one["name"] for one in features_of(client, record, state="undone")] == ["Oak"]
    assert [one["name"] for one in features_of(client, record, state="kept")] == ["Yew"]
    assert features_of(client, record, state="kept", verdict="same") == []
    assert len(features_of(client, record, verdict="new")) == 2
    assert read(client, record["id"])["bbox"] == record["bbox"] == [1.0, 1.0, 3.1, 3.1]


@pytest.mark.parametrize(
    ("shapes", "box"),
    [
        ([square(10, 50, 0.5), square(11, 49, 1)], [10.0, 49.0, 12.0, 50.5]),
        ([square(10, 50, 0.5), None], [10.0, 50.0, 10.5, 50.5]),
        ([multi_square((179.5, -17), (-180, -17), size=0.5)], [-180.0, -17.0, 180.0, -16.5]),
        ([square(10, 50, 0.5), square(300, 50, 0.5)], [10.0, 50.0, 10.5, 50.5]),  # rejected
        ([None], None),
    ],
)
def test_an_import_says_where_its_features_lie(
    client: Client, shapes: list[object], box: list[float] | None
) -> None:
    features = [feature(shape, name=f"Wood {n}") for n, shape in enumerate(shapes)]
    record = ready(client, *features, without_boundaries="true")
    assert record["bbox"] == box


def test_assets_lie_where_their_locations_are(client: Client) -> None:
    project = make_project(client)["id"]
    stations = [feature(point(*place), name=f"S{place}") for place in ((10, 50), (11, 49))]
    record = ready(client, *stations, kind="assets", project_id=project)
    assert record["bbox"] == [10.0, 49.0, 11.0, 50.0]


def test_rejected_features_lie_nowhere(client: Client) -> None:
    make_project(client, name="Oak", external_id="1")
    twice = [feature(square(10, 50), name="A", external_id="1")]
    twice += [feature(square(90, 10), name="B", external_id="1")]
    record = ready(client, *twice)
    assert record["counts"]["rejected"] == 1
    assert record["bbox"] == [10.0, 50.0, 10.1, 50.1]


@pytest.mark.slow
def test_a_layer_of_more_than_10_000_features(client: Client) -> None:
    """Tables of inventories have some more."""
    rows = "".join(f"P{n},{47 + n % 100 / 1000},{10 + n // 100 / 1000}\n" for n in range(10_413))
    project = make_project(client)["id"]
    content = f"name,lat,lon\n{rows}".encode()
    record = uploaded(client, content, "trees.csv", kind="assets", project_id=project)
    assert record["counts"]["new"] == record["progress"]["total"] == 10_413
    last = features_of(client, record, page="105", per_page="100")
    assert [one["number"] for one in last] == [*range(10_401, 10_414)]

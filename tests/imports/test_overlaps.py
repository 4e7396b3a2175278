"""The overlaps of a file's boundaries with projects and with one another, before it is applied."""

from __future__ import annotations

import json
from typing import Any

import pytest

from app.imports import overlaps
from app.imports.record import country_words
from tests.imports.making import act, counts, features_of, read, ready
from tests.make import Client, make_project, square
from tests.make.features import feature


def found(client: Client, record: dict[str, Any]) -> dict[str, list[tuple[Any, ...]]]:
    """The overlaps of each feature by its name: with what, hectares and share."""
    return {
        each["name"]: [
            (
                other["project_id"] or other["number"],
                other["name"],
                round(other["overlap_hectares"], 1),
                round(other["share"], 3),
            )
            for other in each["overlaps"]
        ]
        for each in features_of(client, record)
    }


@pytest.mark.both
def test_the_dry_run_tells_which_projects_a_file_overlaps_with(client: Client) -> None:
    whole = make_project(client, name="Whole", geometry=square(10, 45, 0.02))
    half = make_project(client, name="Half", geometry=square(10.015, 45, 0.01))
    make_project(client, name="Beside", geometry=square(10.025, 45, 0.01))
    archived = make_project(client, name="Archived", geometry=square(10, 45, 0.02))
    client.post(f"/v1/projects/{archived['id']}/archive")
    record = ready(
        client,
        feature(square(10.01, 45, 0.01), name="New"),
        feature(square(10.3, 45, 0.01), name="Apart"),
    )
    hectares = 0.5 * 87.72
    assert found(client, record) == {
        "New": [
            (whole["id"], "Whole", 87.6, 1.0),
            (half["id"], "Half", pytest.approx(hectares, abs=0.1), 0.5),
        ],
        "Apart": [],
    }
    assert (record["counts"]["overlapping"], record["counts"]["overlapping_projects"]) == (1, 1)
    assert record["hectares"]["overlapping"] == pytest.approx(131.5, abs=0.2)
    only = client.get(f"/v1/imports/{record['id']}/features?overlapping=true").json["data"]
    assert [each["name"] for each in only] == ["New"]
    others = client.get(f"/v1/imports/{record['id']}/features?overlapping=false").json["data"]
    assert [each["name"] for each in others] == ["Apart"]


def test_features_that_overlap_with_one_another_are_named(client: Client) -> None:
    record = ready(
        client,
        feature(square(10, 45, 0.01), name="A"),
        feature(square(10.005, 45, 0.01), name="B"),
        feature(square(10.015, 45, 0.01), name="Neighbor"),
    )
    assert found(client, record) == {
        "A": [(2, "B", 43.8, 0.5)],
        "B": [(1, "A", 43.8, 0.5)],
        "Neighbor": [],
    }
    assert (record["counts"]["overlapping"], record["counts"]["overlapping_projects"]) == (2, 0)
    assert record["hectares"]["overlapping"] == 0


def test_a_project_that_the_file_changes_counts_as_it_will_be(client: Client) -> None:
    """Its former boundary is no overlap of the features that take its place."""
    make_project(client, name="Split", geometry=square(10, 45, 0.02))
    record = ready(
        client,
        feature(square(10, 45, 0.01), name="Split"),
        feature(square(10.01, 45, 0.01), name="Rest"),
        match="name",
    )
    assert counts(record) == (1, 1, 0, 0)
    assert found(client, record) == {"Split": [], "Rest": []}


def test_what_stays_as_it_is_overlaps_with_nothing_new(client: Client) -> None:
    make_project(client, name="A", geometry=square(10, 45, 0.01))
    make_project(client, name="B", geometry=square(10.005, 45, 0.01))
    record = ready(client, feature(square(10, 45, 0.01), name="A"))
    assert counts(record) == (0, 0, 1, 0)
    assert found(client, record) == {"A": []}


def test_the_sliver_between_two_that_were_drawn_apart_is_no_overlap(client: Client) -> None:
    """A micrometer of a degree is a tenth of a meter, as the rounding of programs makes it."""
    make_project(client, geometry=square(10, 45, 0.01))
    record = ready(client, feature(square(10.01 - 1e-6, 45, 0.01), name="Beside"))
    assert found(client, record) == {"Beside": []}
    record = ready(client, feature(square(10.01 - 1e-5, 45, 0.01), name="Over"))
    assert found(client, record)["Over"][0][2:] == (0.1, 0.001)


def test_overlaps_across_the_antimeridian(client: Client) -> None:
    parts = [square(west, 10, 0.01)["coordinates"] for west in (179.99, -180)]
    both = {"type": "MultiPolygon", "coordinates": parts}
    record = ready(
        client, feature(both, name="Both"), feature(square(-179.995, 10, 0.02), name="East")
    )
    assert [each[:2] for each in found(client, record)["Both"]] == [(2, "East")]
    act(client, record, "apply")
    record = ready(client, feature(square(179.98, 10, 0.015), name="West"))
    assert [each[1] for each in found(client, record)["West"]] == ["Both"]


def test_the_largest_are_kept_and_all_counted(client: Client) -> None:
    for number in range(8):
        make_project(client, name=f"P{number}", geometry=square(10, 45, 0.002 + number / 1000))
    record = ready(client, feature(square(10, 45, 0.02), name="All"))
    assert [each[1] for each in found(client, record)["All"]] == ["P7", "P6", "P5", "P4", "P3"]
    sums = sum(each[2] for each in found(client, record)["All"])
    assert record["hectares"]["overlapping"] > sums


def test_a_file_says_what_there_was_no_time_for(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.imports.preview.IMPORT_OVERLAPS_SECONDS", 0.0)
    make_project(client, geometry=square(10, 45, 0.01))
    record = ready(client, feature(square(10, 45, 0.02), name="A"))
    assert record["counts"]["overlapping"] == 0
    assert "some overlaps may be missing" in " ".join(record["notes"])


def test_many_projects_are_looked_at_in_parts(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where more are in the box of some features than may be read, it is looked around each."""
    monkeypatch.setattr(overlaps, "OVERLAP_CANDIDATES", 2)
    for number in range(4):
        make_project(client, name=f"P{number}", geometry=square(10 + number, 45, 0.02))
    shapes = [feature(square(10 + number, 45, 0.01), name=f"F{number}") for number in range(4)]
    record = ready(client, *shapes)
    assert record["counts"]["overlapping_projects"] == 4
    assert record["notes"] == []


def test_few_boundaries_are_in_memory(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(overlaps, "CACHED_BYTES", 0)
    monkeypatch.setattr(overlaps, "GROUP_SIZE", 2)
    make_project(client, geometry=square(10, 45, 1))
    shapes = [feature(square(10 + n / 100, 45, 0.02), name=f"F{n}") for n in range(6)]
    record = ready(client, *shapes)
    by_name = found(client, record)
    assert [len(by_name[f"F{n}"]) for n in range(6)] == [2, 3, 3, 3, 3, 2]


def test_the_record_says_in_which_countries_the_features_lie(client: Client) -> None:
    record = ready(
        client,
        feature(square(25, 45.5, 0.01), name="A"),
        feature(square(25.1, 45.5, 0.01), name="B"),
        feature(square(45.5, 25, 0.01), name="Swapped"),
        feature(square(-30, 0, 0.01), name="Sea"),
    )
    assert record["countries"] == [
        {"code": "RO", "name": "Romania", "features": 2},
        {"code": "SA", "name": "Saudi Arabia", "features": 1},
    ]
    assert read(client, record["id"])["countries"] == record["countries"]
    assert json.dumps(record)
    assert country_words(record) == "In Romania (2) and Saudi Arabia (1)"
    many = {"countries": record["countries"] * 3}
    assert str(country_words(many)).endswith(" and 2 other countries")


def test_warnings_of_boundaries_are_summed(client: Client) -> None:
    ring = [[10, 45], [10.01, 45], [10.01, 45.000005], [10, 45.000005], [10, 45]]
    sliver = {"type": "Polygon", "coordinates": [ring]}
    record = ready(
        client,
        feature(square(10, 45, 0.01), name="Sound"),
        feature(sliver, name="A"),
        feature(sliver, name="B"),
    )
    assert record["warnings"] == [
        {
            "code": "sliver",
            "message": "A part that is narrower than 1 m on the average.",
            "features": 2,
            "first": 2,
        }
    ]
    again = ready(client, feature(square(10, 45, 0.01), name="Sound"))
    assert again["warnings"] == []

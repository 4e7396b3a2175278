"""``bin/canopy import``: features and files that are rejected."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from app.cli import import_output
from tests.cli.conftest import Run
from tests.cli.features import features_file, imported, projects
from tests.formats.readers.gdal import write, zipped
from tests.make import Client, square
from tests.make.features import DISTRICTS

BOW_TIE = {
    "type": "Polygon",
    "coordinates": [[[0, 0], [1, 1], [1, 0], [0, 1], [0, 0]]],
}


def test_what_is_not_valid_is_named_and_the_rest_is_imported(
    run: Run, client: Client, tmp_path: Path
) -> None:
    path = features_file(
        tmp_path,
        ({"name": "Bow"}, BOW_TIE),
        ({"name": "Spot"}, {"type": "Point", "coordinates": [1, 2]}),
        ({"name": "Long", "description": "d" * 10_001}, square()),
        ({"name": "Good"}, square()),
    )
    document = imported(run, client, path)
    codes = [[p["code"] for p in one["problems"]] for one in document["rejected"]]
    assert codes == [["self_intersection"], ["wrong_type"], ["not_valid"]]
    assert {*projects(client)} == {"Good"}


def test_no_name_and_no_character_rejects_a_sound_feature(
    run: Run, client: Client, tmp_path: Path
) -> None:
    whole = "n" * 300
    path = features_file(
        tmp_path,
        ({"name": " "}, square()),
        ({"name": whole}, square(1)),
        ({"name": "a\x00b"}, square(2)),
        ({"name": "Good", "note": "x\x00", "old": "y\ufffe"}, square(3)),
    )
    document = imported(run, client, path)
    made = projects(client)
    cut = "n" * 199 + "…"
    assert {name: each["metadata"] for name, each in made.items()} == {
        "features 1": None,
        cut: {"name": whole},
        "a b": None,
        "Good": {"note": "x", "old": "y"},
    }
    assert document["warnings"] == [
        "1 feature has no name in the column “name”: it is “features” and the number of the "
        "feature.",
        "1 feature has a name of more than 200 characters, which was cut. The whole name is in the "
        "metadata, as “name”.",
        "2 features have control characters, which cannot be shown, in “name”, “note”, “old”: they "
        "were read as Windows-1252, or left out.",
    ]
    again = imported(run, client, path)
    assert (again["summary"]["same"], again["summary"]["rejected"]) == (4, 0)


def test_a_value_that_is_not_valid_is_named_by_its_property(
    run: Run, client: Client, tmp_path: Path
) -> None:
    path = features_file(tmp_path, ({"name": "Alpine", "external_id": True}, square()))
    shown = run("import", str(path), "--account", client.account_id).stdout
    assert "  external_id: Must be a string." in shown


def test_a_property_that_there_is_not(run: Run, client: Client) -> None:
    result = run(
        "import", str(DISTRICTS), "--account", client.account_id, "--name-property", "Titel"
    )
    assert (result.exit_code, result.stdout) == (1, "")
    assert "no column 'Titel'" in result.stderr
    assert "district, forest, region, gis_acres" in result.stderr


def test_features_without_names_are_numbered(run: Run, client: Client, tmp_path: Path) -> None:
    path = features_file(tmp_path, ({"objectid": 1, "hue": "red"}, square()))
    result = run("import", str(path), "--account", client.account_id)
    assert "--name-property" in result.stdout
    assert list(projects(client)) == ["features 1"]


def test_a_file_that_is_no_features_file(run: Run, client: Client, tmp_path: Path) -> None:
    path = tmp_path / "wrong.geojson"
    for content, told in (
        (b"", "is empty"),
        (b"{}", "is JSON, but not GeoJSON"),
        (DISTRICTS.read_bytes()[:-3], "incomplete"),
    ):
        path.write_bytes(content)
        result = run("import", str(path), "--account", client.account_id, "--json")
        assert (result.exit_code, result.stdout) == (1, "")
        assert told in result.stderr
    assert projects(client) == {}


def test_a_missing_file_or_account(run: Run, client: Client, tmp_path: Path) -> None:
    missing = run("import", str(tmp_path / "none"), "--account", client.account_id)
    assert missing.exit_code == 2
    nobody = run("import", str(DISTRICTS), "--account", "nobody")
    assert nobody.exit_code == 1
    assert "nobody" in nobody.stderr


@pytest.mark.slow
def test_a_file_without_a_coordinate_system_is_imported_when_one_is_named(
    run: Run, client: Client, tmp_path: Path
) -> None:
    folder = tmp_path / "utm"
    folder.mkdir()
    write(folder / "stands.shp", "ESRI Shapefile", crs="EPSG:32610", geometry_type="MultiPolygon")
    path = zipped(folder, ".prj")
    words = ("import", str(path), "--account", client.account_id)
    planned = run(*words, "--dry-run")
    assert (planned.exit_code, planned.stdout) == (1, "")
    assert "look like meters, not degrees. Which coordinate system is it in?" in planned.stderr
    assert re.search(r"  --crs EPSG:CODE +Another system", planned.stderr)
    refused = run(*words)
    assert (refused.exit_code, projects(client)) == (1, {})
    assert run(*words, "--crs", "EPSG:32610").exit_code == 0
    assert len(projects(client)) == 24


def test_few_of_many_rows_are_listed(
    run: Run, client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_output, "ROWS_SHOWN", 1)
    outside = {"type": "MultiPolygon", "coordinates": [[[[200, 0]] * 4]] * 25}
    path = features_file(
        tmp_path,
        ({"name": "Outside"}, outside),
        *(({"name": f"Bow {n}"}, BOW_TIE) for n in range(23)),
        *(({"name": f"Good {n}"}, square(n)) for n in range(3)),
    )
    result = run("import", str(path), "--account", client.account_id)
    assert result.stdout.count("\nfeature ") == 1 + 20  # with the head of what is new
    assert "… and 4 more features; --json lists all." in result.stdout
    assert "… and 2 more; --json lists all." in result.stdout
    assert "  … and at least 17 more; --json lists 20." in result.stdout

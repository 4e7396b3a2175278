"""The questions of ``bin/canopy import``: at a terminal, and as options where nobody answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.cli import importing
from tests.cli.conftest import Run
from tests.cli.features import features_file
from tests.imports.making import projects
from tests.make import Client, make_project, point, square

CORNERS = "plot,lat,lon\n" + "".join(
    f"{plot},{lat},{lon}\n"
    for plot, north in (("North", 47), ("South", 46))
    for lat, lon in ((north, 10), (north, 10.01), (north + 0.01, 10.01))
)


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody is there to answer."""
    monkeypatch.setattr(importing, "is_terminal", lambda: True)


@pytest.fixture
def corners(tmp_path: Path) -> Path:
    path = tmp_path / "corners.csv"
    path.write_text(CORNERS)
    return path


def test_without_a_terminal_the_options_are_named(run: Run, client: Client, corners: Path) -> None:
    words = ("import", str(corners), "--account", client.account_id)
    refused = run(*words)
    assert refused.exit_code == 1
    assert "What are the points? Add one of:" in refused.stderr
    assert "  --project ID " in refused.stderr
    assert "  --corners-by plot  Each value of “plot” is a boundary" in refused.stderr
    assert "  --corners-by ''    All are the corners of one boundary" in refused.stderr
    done = run(*words, "--corners-by", "plot")
    assert done.exit_code == 0, done.output
    assert sorted(projects(client)) == ["North", "South"]


@pytest.mark.usefixtures("terminal")
def test_at_a_terminal_a_number_answers(run: Run, client: Client, corners: Path) -> None:
    words = ("import", str(corners), "--account", client.account_id)
    done = run(*words, input="1\n")
    assert done.exit_code == 0, done.output
    assert "  1  Each value of “plot” is a boundary with these corners" in done.stderr
    assert sorted(projects(client)) == ["North", "South"]


@pytest.mark.usefixtures("terminal")
def test_what_an_option_leaves_open_is_typed(run: Run, client: Client, tmp_path: Path) -> None:
    project = make_project(client, geometry=square())["id"]
    path = features_file(tmp_path, ({"name": "P"}, point()))
    done = run("import", str(path), "--account", client.account_id, input=f"1\n{project}\n")
    assert done.exit_code == 0, done.output
    (asset,) = client.get(f"/v1/projects/{project}/assets").json["data"]
    assert asset["name"] == "P"


@pytest.mark.usefixtures("terminal")
def test_what_need_not_be_answered_is_asked_once(run: Run, client: Client, tmp_path: Path) -> None:
    path = features_file(tmp_path, ({"kod": "K-1"}, square()))
    done = run("import", str(path), "--account", client.account_id, input="2\n")
    assert done.exit_code == 0, done.output
    assert done.stderr.count("No column was taken as the name.") == 1
    assert len(projects(client)) == 1


def test_what_need_not_be_answered_is_a_warning(run: Run, client: Client, tmp_path: Path) -> None:
    line = {"type": "LineString", "coordinates": square()["coordinates"][0]}
    path = features_file(tmp_path, ({"name": "Walk"}, line))
    done = run("import", str(path), "--account", client.account_id, "--dry-run")
    assert "--close-lines  Close lines, so that they become boundaries" in done.stderr


def test_a_file_is_imported_without_boundaries(run: Run, client: Client, tmp_path: Path) -> None:
    path = tmp_path / "names.csv"
    path.write_text("name,geo_text\nA,\nB,\n")
    words = ("import", str(path), "--account", client.account_id)
    refused = run(*words)
    assert "--geometry COLUMN" in refused.stderr
    assert "--without-boundaries  Import without boundaries" in refused.stderr
    wrong = run(*words, "--geometry", "other")
    assert "The file has no column 'other'" in wrong.stderr
    assert run(*words, "--without-boundaries").exit_code == 0
    assert sorted(projects(client)) == ["A", "B"]


@pytest.mark.usefixtures("terminal")
def test_the_column_of_boundaries_is_typed(run: Run, client: Client, tmp_path: Path) -> None:
    path = tmp_path / "names.csv"
    path.write_text("name,geo_text\nA,\nB,\n")
    done = run("import", str(path), "--account", client.account_id, input="1\nother\n")
    assert "  name: A, B\n" in done.stderr
    assert "Column: other\n" in done.stderr
    assert "The file has no column 'other'" in done.stderr


def test_latitude_and_longitude_are_swapped(run: Run, client: Client, tmp_path: Path) -> None:
    ring = [[position[1], position[0]] for position in square(115, -2)["coordinates"][0]]
    path = features_file(tmp_path, ({"name": "A"}, {"type": "Polygon", "coordinates": [ring]}))
    words = ("import", str(path), "--account", client.account_id)
    asked = run(*words, "--dry-run")
    assert "  --swap  Swap them in the whole file" in asked.stderr
    assert run(*words, "--swap").exit_code == 0
    assert projects(client)["A"]["geometry"]["coordinates"][0][0] == [115, -2]


def test_points_become_plots(run: Run, client: Client, tmp_path: Path) -> None:
    row = {"ProducerCountry": "AT", "ProductionPlace": "Imst"}
    path = features_file(tmp_path, (row, square()), (row, point()))
    words = ("import", str(path), "--account", client.account_id)
    refused = run(*words)
    assert refused.exit_code == 1
    assert "  --points-as-plots --project ID  Plots kept as points, of a project" in refused.stderr
    assert "  --no-points-as-plots            Nothing: reject the points" in refused.stderr
    done = run(*words, "--points-as-plots")
    assert done.exit_code == 0, done.output
    made = projects(client)
    assert sorted(made) == ["Imst", path.stem]
    (plot,) = client.get(f"/v1/projects/{made[path.stem]['id']}/assets").json["data"]
    assert (plot["name"], plot["type"]) == ("Imst", "plot")
    again = run(*words, "--points-as-plots", "--project", made[path.stem]["id"])
    assert (again.exit_code, "2 same" in again.output) == (0, True), again.output


@pytest.mark.usefixtures("terminal")
def test_a_number_answers_what_points_are(run: Run, client: Client, tmp_path: Path) -> None:
    project = make_project(client, name="Coop")["id"]
    path = features_file(tmp_path, ({"ProductionPlace": "Imst"}, point()))
    words = ("import", str(path), "--account", client.account_id)
    done = run(*words, input=f"2\n{project}\n")
    assert done.exit_code == 0, done.output
    (plot,) = client.get(f"/v1/projects/{project}/assets").json["data"]
    assert plot["type"] == "plot"
    import_id = client.get("/v1/imports").json["data"][0]["id"]
    assert run("undo-import", import_id, "--account", client.account_id).exit_code == 0
    assert client.get(f"/v1/projects/{project}/assets").json["data"] == []


def test_the_encoding_is_offered_and_given(run: Run, client: Client, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    rows = "Mărişel,46.6,23.1\nBran,46.6,23.2\nPădure,46.7,23.2\nFăget,46.7,23.1\n"
    path.write_bytes(f"name,lat,lon\n{rows}".encode("cp1250"))
    words = ("import", str(path), "--account", client.account_id, "--corners-by", "")
    assert "  --encoding cp1252 " in run(*words, "--dry-run").stderr
    given = run(*words, "--dry-run", "--encoding", "windows-1250").stderr
    assert "encoding" not in given
    refused = run(*words, "--encoding", "rot13")
    assert (refused.exit_code, "cp1250" in refused.stderr) == (2, True)


def test_what_places_mean_is_offered_and_given(run: Run, client: Client, tmp_path: Path) -> None:
    project, path = make_project(client)["id"], tmp_path / "places.csv"
    words = ("import", str(path), "--account", client.account_id, "--project", project, "--dry-run")
    for text, options in (
        ("name,lat,lon\nA,52.5 N,6.5 O\n", ("--letters O=east", "--letters O=west")),
        (
            "name,easting,northing,zone\nA,450000,4300000,11S\n",
            ("--zone-letter band", "--zone-letter hemisphere"),
        ),
        (
            "name,lat,lon,latitude,longitude\nA,52,6,53,7\n",
            ("--latitude lat --longitude lon", "--latitude latitude --longitude longitude"),
        ),
    ):
        path.write_text(text)
        told = run(*words).stderr
        for option in options:
            assert f"  {option} " in told
            given = run(*words, *option.split())
            assert (given.exit_code, option in given.stderr) == (0, False), given.stderr

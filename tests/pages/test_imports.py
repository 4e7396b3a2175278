"""The page of an import: comparing, applying, undoing."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from app.geometry.countries import has_world
from tests.make import Browser, Client, make_account, make_import, make_project, point, square
from tests.make.features import collection, feature
from tests.pages.importing import CSV, act, read, ready, shapes, upload, work
from tests.pages.support import browser_of

BOWTIE = {
    "type": "Polygon",
    "coordinates": [[[10, 50], [10.01, 50.01], [10.01, 50], [10, 50.01], [10, 50]]],
}


@pytest.mark.slow
@pytest.mark.both
def test_a_file_is_uploaded_compared_applied_and_undone(browser: Browser, client: Client) -> None:
    make_project(client, name="Old", geometry=square(size=0.2))
    page = upload(
        browser,
        collection(
            feature(square(), name="Old"), feature(square(11), name="Young"), feature(BOWTIE)
        ),
    )
    assert "Reading the file" in page.text
    assert b'hx-trigger="live"' in page.response.data
    work(browser)
    page = browser.get(page.path)
    assert b'hx-trigger="live"' not in page.response.data
    page = act(browser, "change", column_name="0", match="name")
    assert "1 new, 1 changed, 1 rejected" in page.text
    assert "ha before" in page.text
    assert "Apply: create 1 project and change 1" in page.text
    assert "Two sides cross or touch here. Move a corner until they no longer do." in page.text
    assert "Show it: 50.0" in page.text
    assert "Ring 0" not in page.text
    parts = [(each["part"], each["type"]) for each in shapes(browser, page.path)]
    assert parts == [
        ("former", "Polygon"), ("changed", "Polygon"), ("new", "Polygon"),
        ("rejected", "Polygon"), ("fault", "Point"),
    ]  # fmt: skip
    page = act(browser, "apply")
    assert "Applied" in page.text
    assert "deletes the 1 project that it created and restores the 1 project" in page.text
    assert {"Old", "Young"} == {one["name"] for one in client.get("/v1/projects").json["data"]}
    young = next(one for one in client.get("/v1/projects").json["data"] if one["name"] == "Young")
    assert f"/projects/{young['id']}" in page.links
    client.put(f"/v1/projects/{young['id']}", json={"description": "mine"})
    page = act(browser, "undo")
    assert "1 feature undone; 1 feature kept" in page.text
    kept = browser.get(f"{page.path}?show=kept")
    assert "The project was changed after the import." in kept.text
    assert "Undone" in browser.get("/imports").text


def test_faults_are_summed(browser: Browser) -> None:
    points = [feature(point(), name=f"P{n}") for n in range(3)]
    page = ready(browser, feature(square(), name="A"), *points)
    assert "Why features were rejected" in page.text
    assert "3 features: The feature is a point, and a boundary is an area." in page.text
    (show,) = [link for link in page.links if "fault=" in link]
    assert show == f"{page.path}?feature=2&fault=wrong_type#feature-2"
    assert f'{page.path}/shapes"' in browser.get(show).response.text


@pytest.mark.slow
def test_a_fault_is_shown_on_its_page_of_the_list(browser: Browser) -> None:
    shapes = [feature(square(n / 100, size=0.005), name=f"S{n}") for n in range(120)]
    page = ready(browser, *shapes, feature(BOWTIE, name="Bow"))
    (show,) = [link for link in page.links if "fault=" in link]
    found = browser.get(show)
    assert 'id="feature-121"' in found.response.text
    assert 'id="feature-1"' not in found.response.text
    assert "Page 2 of 2" in found.text
    for number in ("x", "0", "99999999999999999999"):
        assert browser.get(f"{page.path}?feature={number}").status == 200


def test_features_are_left_out_and_taken_back_in(browser: Browser, client: Client) -> None:
    make_project(client, name="Same", geometry=square(5))
    page = ready(
        browser,
        *(feature(square(n), name=f"S{n}") for n in (1, 2, 3)),
        feature(square(5), name="Same"),
    )
    path, form = page.path, page.form(f"{page.path}/leave-out").fields
    assert form["listed"] == "1,2,3"
    browser.send(f"{path}/leave-out", **form | {"kept": ""})
    page = browser.get(path)
    assert "no feature that is new or changed is left in" in page.text
    form = page.form(f"{path}/leave-out").fields
    listed = browser.send(f"{path}/leave-out", **form | {"kept": "3"})
    assert listed.response.headers["Location"] == f"{path}#features"
    page = browser.get(path)
    assert "1 new, 1 the same, 2 left out" in page.text
    assert "Apply: create 1 project" in page.text
    assert f"{path}?show=left_out#features" in page.links
    assert [each["is_left_out"] for each in shapes(browser, path)] == [True, True, False, False]
    page = browser.get(f"{path}?show=left_out")
    form = page.form(f"{path}/leave-out?show=left_out").fields
    assert form["listed"] == "1,2"
    browser.send(f"{path}/leave-out?show=left_out", **form | {"kept": "1"})
    page = browser.get(path)
    assert "2 new, 1 the same, 1 left out" in page.text
    form = page.form(f"{path}/leave-out").fields
    refused = browser.send(f"{path}/leave-out", **form | {"listed": "1,77", "kept": ""})
    assert (refused.status, "The import has no feature 77." in refused.text) == (422, True)
    browser.get(path)
    act(browser, "apply")
    assert {one["name"] for one in client.get("/v1/projects").json["data"]} == {"Same", "S1", "S3"}
    assert "Left out" in browser.get(path).text


def test_a_shape_that_was_rejected_is_opened_in_the_editor(
    browser: Browser, client: Client
) -> None:
    """A walk crosses itself; closed, its corners can be moved."""
    walk = [[10, 47], [10.01, 47.01], [10.01, 47], [10, 47.01], [10, 47.0001]]
    page = ready(browser, feature({"type": "LineString", "coordinates": walk}, name="Walk 1"))
    page = act(browser, "change", answer='{"close_lines": true}')
    link = f"/projects/new?import={page.path.rpartition('/')[2]}&feature=1"
    assert link in page.links
    editor = browser.get(link)
    fields = editor.form("/projects/new").fields
    assert fields["name"] == "Walk 1"
    assert json.loads(fields["geometry"]) == {"type": "Polygon", "coordinates": [[*walk, walk[0]]]}
    gone = browser.get(f"{link}7")
    assert gone.status == 404


def test_what_overlaps_is_in_the_headline_and_in_a_list(browser: Browser, client: Client) -> None:
    project = make_project(client, name="There", geometry=square(10, 45, 0.01))
    page = ready(
        browser,
        feature(square(10.005, 45, 0.01), name="Over"),
        feature(square(10.1, 45, 0.01), name="A"),
        feature(square(10.105, 45, 0.01), name="B"),
    )
    assert "3 new, 1 overlaps with existing projects by 43.8" in page.text
    assert "2 overlap with others of the file" in page.text
    assert "In Italy" in page.text
    page = browser.get(f"{page.path}?show=overlapping")
    assert f"/projects/{project['id']}" in page.links
    assert "feature 3, by 43.8" in page.text


def test_it_shows_where_each_column_goes(browser: Browser) -> None:
    columns = {f"c{n}": n for n in range(55)}
    page = ready(browser, feature(square(), name="A", **columns), feature(None, name="B"))
    assert "2 new, 1 without a boundary" in page.text
    assert "Name name Metadata c0 , c1 , c2 , c3 , c4 , c5 and 44 more" in page.text
    assert "Not imported c50 , c51 , c52 , c53 , c54 Coordinates EPSG:4326" in page.text


def test_a_change_of_metadata_names_its_keys(browser: Browser, client: Client) -> None:
    """The boundary, which stays, is on the map once."""
    make_project(client, name="A", geometry=square(), metadata={"owner": "x"})
    keys = {f"k{n}": n for n in range(11)}
    page = ready(browser, feature(square(), name="A", owner="y", **keys))
    act(browser, "change", match="name")
    shown = ", ".join(["owner", *keys][:10])
    assert f"Changes: metadata ({shown} and 2 more)" in browser.get(page.path).text
    assert [each["part"] for each in shapes(browser, page.path)] == ["changed"]


def test_the_column_of_the_boundaries_is_chosen(browser: Browser) -> None:
    page = read(browser, b"name,note\nA,x\nB,y\n", "rows.csv")
    assert "2 new, none with a boundary" in page.text
    answer = '{"mapping": {"geometry": null}}'
    assert browser.submit(f"{page.path}/change", answer=answer, column="2").status == 422
    browser.get(page.path)
    assert '"note" has no geometries' in act(browser, "change", answer=answer, column="1").text


def test_a_letter_is_chosen_and_chosen_again(browser: Browser) -> None:
    page = read(browser, b"name,lat,lon\nA,47.01 N,10.01 O\n", "rows.csv")
    assert "“O” is east in German, and west in French" in page.text
    page = act(browser, "change", answer='{"letters": {"O": "east"}}')
    assert "“O” is east. Choose again what it is" in page.text
    page = act(browser, "change", answer='{"letters": null, "zone_letter": null}')
    assert "Which is it?" in page.text


@pytest.mark.slow
def test_areas_are_read_again_as_projects(browser: Browser, client: Client) -> None:
    project = make_project(client)
    content = collection(feature(square(), name="A"))
    page = read(browser, content, "a.geojson", kind="assets", project_id=project["id"])
    assert "Areas can become projects" in page.text
    assert "Apply: create 1 project" in act(browser, "change").text


def test_questions_have_places_and_samples(browser: Browser, client: Client) -> None:
    make_project(client, geometry=square(9.0, 46.9, 0.1))
    corners = "plot,x,y\n" + "".join(f"P{n // 4},{5e5 + n},52e5\n" for n in range(12))
    page = read(browser, corners.encode(), "corners.csv")
    assert "near 46.95° N 9.00° E" in page.text
    assert "P0, P1, P2 …" in page.text
    assert "Geometry x , y" in page.text
    assert "&#34;label&#34;: &#34;1&#34;" in page.response.text
    assert "[9.05, 46.95]" in page.response.text


@pytest.mark.slow
def test_an_encoding_is_chosen_by_its_words(browser: Browser, client: Client) -> None:
    rows = "name,lat,lon\nMărişel,46.6,23.1\nPădure,46.6,23.2\n".encode("cp1250")
    project = make_project(client, geometry=None)["id"]
    page = read(browser, rows, "a.csv", kind="assets", project_id=project)
    assert "Read as iso-8859-16 Mărișel" in page.text
    assert "Mărişel New" in page.text
    page = act(browser, "change", answer='{"encoding": "cp1252"}')
    assert "Read as" not in page.text
    assert "Pãdure" in page.text
    page = act(browser, "change", encoding="")
    assert "or the likeliest: cp1250" in page.text


def test_points_are_read_again_as_assets_of_a_project(browser: Browser, client: Client) -> None:
    project, other = make_project(client, name="Alpine"), make_project(client, name="Riverside")
    page = ready(browser, feature(point(), name="P"))
    found = browser.get(f"{page.path}?search=river")
    assert "The file has points, and projects have areas as boundaries." in found.text
    choices = found.response.text.split('<select name="project_id"')[1].split("</select>")[0]
    assert other["id"] in choices
    assert project["id"] not in choices
    answer = '{"kind": "assets", "project_id": null}'
    refused = browser.submit(f"{page.path}/change", answer=answer, project_id="")
    assert (refused.status, "Choose the project that the points" in refused.text) == (422, True)
    browser.get(page.path)
    page = act(browser, "change", answer=answer, project_id=other["id"])
    assert "Assets of Riverside" in page.text
    assert "Apply: create 1 asset" in page.text


@pytest.mark.slow
def test_an_unknown_coordinate_system_is_asked_for(browser: Browser, client: Client) -> None:
    project = make_project(client)
    page = read(browser, CSV, "springs.csv", kind="assets", project_id=project["id"])
    assert "Which coordinate system is it in?" in page.text
    assert "Answer the question above first." in page.text
    assert "1 feature, not judged yet" in page.text
    assert b"<button disabled" in page.response.data
    path = page.path
    form = next(form.fields for form in page.forms if "read_layer" in form.fields)
    page = browser.send(f"{path}/change", **form | {"crs": "other", "epsg": ""})
    assert page.status == 422
    assert "Type the code of the coordinate system" in page.text
    form |= {"crs": "other", "epsg": "32632", "column_name": "0"}
    browser.send(f"{path}/change", **form)
    work(browser)
    page = browser.get(path)
    assert page.form(f"{path}/change").fields["crs"] == "other"
    assert page.form(f"{path}/change").fields["epsg"] == "EPSG:32632"
    assert "Apply: create 1 asset" in page.text
    page = act(browser, "change", crs="degrees", column_name="0")
    assert "is not within -180 to 180" in page.text


@pytest.mark.slow
def test_columns_are_chosen_by_their_numbers(browser: Browser, client: Client) -> None:
    named = {"line\nbreak": "From a strange column", "name": "From name", "kept": 1, "left": 2}
    page = ready(browser, feature(square(), **named))
    assert "From name" in page.text
    columns = list(named)
    act(
        browser,
        "change",
        column_name=str(columns.index("line\nbreak")),
        metadata="chosen",
        metadata_column=str(columns.index("kept")),
    )
    page = browser.get(page.path)
    assert "From a strange column" in page.text
    act(browser, "apply")
    (project,) = client.get("/v1/projects").json["data"]
    assert project["name"] == "From a strange column"
    assert project["metadata"] == {"kept": 1}


def test_columns_that_may_be_the_external_id_come_first(browser: Browser, client: Client) -> None:
    woods = [feature(square(n), name=f"W{n}", owner="<b>", code=f"K-{n}") for n in range(3)]
    page = ready(browser, *woods)
    assert "External id no column; each row differs in code" in page.text
    choice = page.response.text.split('<select id="column_external_id"')[1].split("</select>")[0]
    assert re.findall(r'label="([^"]*)|>([^<]+)</option>', choice) == [
        ("", "No column"), ("Each row differs", ""), ("", "code, such as K-0"),
        ("", "name"), ("", "owner"),
    ]  # fmt: skip
    assert "selected" not in choice.replace('value="none" selected', "")
    (number,) = re.findall(r'value="(\d+)"[^>]*>code', choice)
    page = act(browser, "change", column_external_id=number)
    assert "External id code Metadata owner" in page.text
    assert "External id K-2" in page.text
    assert "Each row differs" not in page.text
    act(browser, "apply")
    ids = {one["external_id"] for one in client.get("/v1/projects").json["data"]}
    assert ids == {"K-0", "K-1", "K-2"}


def test_an_unreadable_file_says_what_to_do(browser: Browser) -> None:
    page = read(browser, b"%PDF-1.7 not a map", "plan.pdf")
    assert "Failed" in page.text
    assert "Fix the file" in page.text
    assert "/imports/new" in page.links


def test_what_nobody_looked_at_is_not_applied(browser: Browser, client: Client) -> None:
    """A colleague has the file read again between the look and the click."""
    page = ready(browser, feature(square(), name="Shown", other="Not shown"))
    path, shown = page.path, page.form(f"{page.path}/apply").fields
    colleague = browser_of(client, "editor")
    colleague.get(path)
    again = colleague.page.form(f"{path}/change").fields | {"column_name": "1"}  # type: ignore[union-attr]
    assert colleague.send(f"{path}/change", **again).status == 303
    for status in ("reading", "ready"):
        page = browser.send(f"{path}/apply", **shown)
        assert page.status == 412, status
        assert "The import has changed since." in page.text
        work(browser)
    assert client.get("/v1/projects").json["data"] == []
    assert "Not shown" in page.text
    page = browser.send(f"{path}/apply", **page.form(f"{path}/apply").fields)
    assert page.status == 303
    work(browser)
    assert [one["name"] for one in client.get("/v1/projects").json["data"]] == ["Not shown"]


@pytest.mark.slow
def test_features_are_filtered_and_paged(browser: Browser, client: Client) -> None:
    features = [feature(square(size=0.001), name=f"Wood {number}") for number in range(120)]
    page = ready(browser, *features, feature(BOWTIE, name="Bow"))
    assert "Page 1 of 2" in page.text
    assert "Wood 99" in page.text
    assert "Wood 100" not in page.text
    second = browser.get(f"{page.path}?page=2")
    assert "Wood 119" in second.text
    assert "Bow" in second.text
    rejected = browser.get(f"{page.path}?show=rejected")
    assert "Bow" in rejected.text
    assert "Wood 1" not in rejected.text
    assert "There are none here" in browser.get(f"{page.path}?page=9").text


@pytest.mark.slow
def test_large_boundaries_are_simplified_for_the_map(
    browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    ring = [[10 + number / 1e5, 50] for number in range(8_000)]
    long: dict[str, Any] = {"type": "Polygon", "coordinates": [[*ring, [10.02, 50.1], ring[0]]]}
    page = ready(browser, feature(long, name="Long"), feature(square(11), name="Short"))
    path = f"{page.path}/shapes"
    assert len(browser.client.get(path).data) > 100_000
    monkeypatch.setattr("app.imports.feature_map.FEATURES_MAP_BYTES", 50_000)
    drawn = json.loads(browser.client.get(path).data)
    assert [each["properties"]["name"] for each in drawn["features"]] == ["Long", "Short"]
    assert len(drawn["features"][0]["geometry"]["coordinates"][0]) < 100
    monkeypatch.setattr("app.imports.feature_map.FEATURES_MAP_READ_BYTES", 50_000)
    assert json.loads(browser.client.get(path).data)["left_out"] == 1
    monkeypatch.setattr("app.imports.feature_map.FEATURES_MAP_BYTES", 100)
    assert json.loads(browser.client.get(path).data) == {
        "type": "FeatureCollection", "features": [], "left_out": 2,
    }  # fmt: skip


def test_features_are_renamed(browser: Browser, client: Client) -> None:
    page = ready(browser, *(feature(square(n), name=f"S{n}") for n in (1, 2)))
    (link,) = [link for link in page.links if "rename=2" in link]
    browser.get(link)
    sent = browser.submit(f"{page.path}/change", rename="2", name="Brice")
    assert sent.path == f"{page.path}?feature=2"
    work(browser)
    page = browser.get(f"{page.path}?feature=2&rename=2")
    assert "2 Brice New" in page.text
    path = page.path.partition("?")[0]
    refused = browser.submit(f"{path}/change", rename="2", name="x" * 201)
    assert "Must have 1 to 200 characters." in refused.text
    browser.get(page.path)
    act(browser, "change", rename="2", name="")
    assert "2 S2 New" in browser.get(path).text


def test_the_map_has_the_features_of_all_pages(
    browser: Browser, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.pages.imports.rendering._FEATURES_PER_PAGE", 2)
    monkeypatch.setattr("app.imports.feature_map.MAP_ROWS", 2)
    monkeypatch.setattr("app.imports.feature_map.MAP_OUTLINE_BYTES", 100)
    make_project(client, name="Same", geometry=square(5))
    line = {"type": "LineString", "coordinates": [[n / 10, 50] for n in range(50)]}
    page = ready(
        browser,
        feature(square(1, size=1), name="Wide"),
        feature(square(3, size=1e-4), name="Tiny"),
        feature(square(5), name="Same"),
        feature(point(), name="Point"),
        feature(line, name="Line"),
        feature(None, name="Placeless"),
    )
    client.put(f"/v1/imports/{page.path.rpartition('/')[2]}", json={"left_out": [2]})

    def drawn(show: str = "") -> tuple[list[Any], int]:
        after, features, left_out = 0, [], 0
        while after is not None:
            path = f"{page.path}/shapes?{show}page=9&after={after}"
            piece = json.loads(browser.client.get(path).data)
            assert len(piece["features"]) <= 2
            features += [
                (each["properties"]["name"], each["properties"]["part"], each["geometry"]["type"])
                + (("left out",) if each["properties"]["is_left_out"] else ())
                for each in piece["features"]
            ]
            after, left_out = piece["next"], left_out + piece["left_out"]
        return features, left_out

    everything = [
        ("Wide", "new", "Polygon"), ("Tiny", "new", "Point", "left out"),
        ("Same", "same", "Polygon"), ("Point", "rejected", "Point"),
    ]  # fmt: skip
    assert drawn() == (everything, 1)
    assert drawn("show=rejected&") == (everything[3:], 1)
    monkeypatch.setattr("app.imports.feature_map.FEATURES_MAP_READ_BYTES", 1)
    assert drawn() == (everything, 1)
    assert f'data-all="{page.path}/shapes?after=0"' in browser.get(page.path).response.text


def test_the_list_has_pages(browser: Browser, client: Client) -> None:
    for _ in range(51):
        make_import(client, "canceled")
    assert "Page 1 of 2" in browser.get("/imports").text
    assert "Page 2 of 2" in browser.get("/imports?page=2").text
    assert "There is no page 3" in browser.get("/imports?page=3").text


def test_the_limits_of_the_account_are_told_before_and_after(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser = browser_of(make_account(client.app, plan="free"))
    page = ready(browser, feature(square(size=0.01), name="A"), feature(square(11, size=0.02)))
    limit = "of the 1,000 ha of its plan, free"
    assert re.search(rf"With this import, the account uses 39\d\.\d\d ha {limit}\.", page.text)
    assert "Nothing is refused for that" not in page.text
    assert "of storage" not in page.text
    monkeypatch.setattr("app.pages.imports.rendering.byte_limit", lambda: 200)
    assert "of storage, and the account has room for 200 bytes" in browser.get(page.path).text
    monkeypatch.undo()
    made = ready(browser, feature(square(20, size=0.04), name="B"))
    assert re.search(rf"With this import, the account uses 1,2\d\d\.\d\d ha {limit}\.", made.text)
    assert "Nothing is refused for that; the page of your usage" in made.text
    made = act(browser, "apply")
    assert re.search(rf"The account uses 1,2\d\d\.\d\d ha {limit}\. Nothing is refused", made.text)
    with_plan = browser.get(page.path)
    assert re.search(
        rf"With this import, the account uses 1,6\d\d\.\d\d ha {limit}", with_plan.text
    )


@pytest.mark.skipif(not has_world(), reason="the countries are not installed")
def test_many_coordinate_systems_are_offered(browser: Browser) -> None:
    shape = {"type": "Point", "coordinates": [405_000, 6_530_000]}
    page = ready(browser, feature(shape, name="A"))
    assert "EPSG:2154 · RGF93 v1 / Lambert-93 (France" in page.text
    assert "more, by country" in page.text
    assert "EPSG:32633 · WGS 84 / UTM zone 33N (Sweden)" in page.text


def test_lines_can_be_closed(browser: Browser, client: Client) -> None:
    line = {"type": "LineString", "coordinates": square()["coordinates"][0]}
    page = ready(browser, feature(line, name="Walk"))
    assert "1 feature is a line around" in page.text
    assert "1 feature, not judged yet" in page.text
    assert "Waits for an answer" in page.text
    assert "QGIS" not in page.text
    assert "Answer the question above first." in page.text
    page = act(browser, "change", answer='{"close_lines": true}')
    assert "Apply: create 1 project" in page.text
    act(browser, "apply")
    assert len(client.get("/v1/projects").json["data"]) == 1


def test_another_layer_has_other_columns(browser: Browser) -> None:
    track = "".join(f'<trkpt lat="{44 + y}" lon="{x}"/>' for x, y in ((0, 0), (1, 0)))
    gpx = (
        '<gpx version="1.1" creator="x" xmlns="http://www.topografix.com/GPX/1/1">'
        '<wpt lat="44" lon="1"><name>Spring</name></wpt>'
        f"<trk><name>Walk</name><trkseg>{track}</trkseg></trk></gpx>"
    )
    page = read(browser, gpx.encode(), "walk.gpx")
    assert "Only the layer tracks was read" in page.text
    assert "Walk" in page.text
    assert "Spring" in act(browser, "change", layer="0", close_lines="true").text


@pytest.mark.slow
def test_points_of_a_file_for_the_eudr_become_plots(browser: Browser, client: Client) -> None:
    make_project(client, name="Coop")
    row = {"ProducerCountry": "AT", "ProductionPlace": "Imst", "Area": 4}
    page = ready(browser, feature(square(), **row), feature(point(), **row))
    found = browser.get(page.path)
    assert "Plots kept as points, of a new project “forests”" in found.text
    assert "Nothing: reject the points" in found.text
    found = act(browser, "change", answer=json.dumps({"points_as_plots": True}))
    assert "The points are plots. Choose again what they are" in found.text
    again = found.form(f"{page.path}/change").fields["answer"]
    assert "Nothing: reject the points" in act(browser, "change", answer=again).text
    found = act(browser, "change", answer=json.dumps({"points_as_plots": True}))
    assert "Projects and plots kept as points" in found.text
    assert "Apply: create 1 project and 1 plot" in found.text
    assert "Name ProductionPlace Metadata ProducerCountry , ProductionPlace , Area" in found.text
    found = act(browser, "apply", looked_at=found.form(f"{page.path}/apply").fields["looked_at"])
    assert "Projects and plots kept as points of forests" in found.text
    assert "Plot kept as a point" in found.text
    assert "deletes the 1 project and 1 plot that it created" in found.text

"""Files for the Information System of the EUDR. What it would say of them is judged by
``tests.eudr.validator``, which knows nothing of the writer."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
import shapely

from app.eudr import checking, writer
from app.eudr.checking import PlotClock, read_plots
from app.eudr.plots import EudrOptions, Finding
from app.eudr.writer import InvalidPlots, write_eudr
from app.formats.writers.source import CannotWrite
from app.geometry import geodesic_area
from tests.eudr.validator import faults_of
from tests.formats.writers.sources import Record, asset, project, source
from tests.make.geometry import multi_square, square, square_ring

HOLED = {
    "type": "Polygon",
    "coordinates": [square_ring(size=1.0), square_ring(10.2, 50.2, 0.3)[::-1]],
}
MEMBERS = {"type", "properties", "geometry"}
OWN = {"ProducerName": "Jo Oak", "ProducerCountry": "DE", "ProductionPlace": "North"}


def _plot(number: int = 1, *, geometry: Any = None, **metadata: Any) -> Record:
    """A project of a producer."""
    return project(number, geometry=geometry or square(), metadata=OWN | metadata)


def _point(number: int = 1, *, at: tuple[float, float] = (10.5, 50.5), **metadata: Any) -> Record:
    location = {"type": "Point", "coordinates": list(at)}
    return asset(number, location=location, type="plot", metadata=OWN | metadata)


def _text(folder: Path, *records: Record, **options: Any) -> str:
    features = [each for record in records for each in source(record).features()]
    with write_eudr(features, folder, EudrOptions(**options)) as file:
        data = file.read()
    variant, cattle = options.get("variant", 1), options.get("cattle", False)
    assert faults_of(data, variant=variant, cattle=cattle) == []
    return data.decode()


def _plots(folder: Path, *records: Record, **options: Any) -> list[dict[str, Any]]:
    return json.loads(_text(folder, *records, **options))["features"]


def _problems(folder: Path, *records: Record, **options: Any) -> list[Finding]:
    features = [each for record in records for each in source(record).features()]
    with pytest.raises(InvalidPlots) as raised:
        write_eudr(features, folder, EudrOptions(**options))
    assert list(folder.iterdir()) == []
    return raised.value.problems


def _codes(folder: Path, *records: Record, **options: Any) -> list[str]:
    return [each.code for each in _problems(folder, *records, **options)]


def _hectares(ring: Any) -> float:
    return geodesic_area([ring]) / 10_000


def test_coordinates_have_six_decimals(tmp_path: Path) -> None:
    ring = [[10, 50], [10.1234567, 50], [10.1, 50.25], [10, 50]]
    text = _text(tmp_path, _plot(geometry={"type": "Polygon", "coordinates": [ring]}))
    assert (
        '"coordinates":[[[10.000000,50.000000],[10.123457,50.000000],[10.100000,50.250000],'
        "[10.000000,50.000000]]]"
    ) in text


def test_each_part_is_a_plot(tmp_path: Path) -> None:
    geometry = multi_square((1, 1), (3, 3))
    plots = _plots(tmp_path, _plot(geometry=geometry, Area=5))
    areas = [plot["properties"]["Area"] for plot in plots]
    parts = geometry["coordinates"]
    assert areas == pytest.approx([_hectares(part[0]) for part in parts], abs=1e-4)
    assert {plot["geometry"]["type"] for plot in plots} == {"Polygon"}


def test_properties_come_from_the_metadata_in_any_case(tmp_path: Path) -> None:
    options = {"producer_name": "Somebody", "producer_country": "DE"}
    for metadata, written in (
        ({}, ("Somebody", "DE", "Forest 1")),
        ({"ProducerName": "", "ProductionPlace": " "}, ("Somebody", "DE", "Forest 1")),
        (
            {"producername": "Green Woods", "PRODUCERCOUNTRY": "at", "secret": "x"},
            ("Green Woods", "AT", "Forest 1"),
        ),
        ({"ProducerName": "A", "producername": "B"}, ("A", "DE", "Forest 1")),
        ({"ProducerName": 4711.0, "ProductionPlace": 12}, ("4711", "DE", "12")),
    ):
        (plot,) = _plots(tmp_path, project(geometry=square(), metadata=metadata), **options)
        found = plot["properties"]
        assert (set(plot), set(found)) == (MEMBERS, {*OWN, "Area"}), metadata
        assert tuple(found[name] for name in OWN) == written, metadata


def test_what_is_missing_is_left_out(tmp_path: Path) -> None:
    (plot,) = _plots(tmp_path, _plot(ProducerName=None), variant=2)
    assert "ProducerName" not in plot["properties"]


def test_the_order_is_producer_country_place_kind_and_id(tmp_path: Path) -> None:
    records = [
        _plot(5, geometry=square(9), ProducerName="B"),
        _point(1, at=(40, 1)),
        _plot(4, geometry=square(7)),
        _plot(3, geometry=square(5), ProductionPlace="East"),
        _plot(2, geometry=square(3), ProducerCountry="AT"),
        _plot(6, geometry=square(11)),
    ]
    plots = _plots(tmp_path, *records, variant=2)
    firsts = [plot["geometry"]["coordinates"] for plot in plots]
    firsts = [each[0][0] if isinstance(each[0], list) else each for each in firsts]
    assert [first[0] for first in firsts] == [9, 3, 5, 7, 11, 40]


def test_holes_are_split_and_nothing_is_lost(tmp_path: Path) -> None:
    plots = _plots(tmp_path, _plot(geometry=HOLED, Area=700_000))
    drawn = [shapely.geometry.shape(plot["geometry"]) for plot in plots]
    assert len(drawn) == 2
    assert shapely.union_all(drawn).equals(shapely.geometry.shape(HOLED))
    assert shapely.intersection(*drawn).area == 0
    rings = HOLED["coordinates"]
    measured = sum(geodesic_area([plot["geometry"]["coordinates"][0]]) for plot in plots)
    assert measured == pytest.approx(geodesic_area(rings), abs=1)
    areas = [plot["properties"]["Area"] for plot in plots]
    assert sum(areas) == pytest.approx(geodesic_area(rings) / 10_000, abs=1e-3)


def test_more_holes_than_there_is_time_for(tmp_path: Path) -> None:
    holes = [
        square_ring(10 + x / 100, 50 + y / 100, 0.005)[::-1]
        for x in range(1, 99)
        for y in range(1, 99)
    ]
    record = _plot(geometry={"type": "Polygon", "coordinates": [square_ring(size=1.0), *holes]})
    (problem,) = _problems(tmp_path, record)
    assert problem.code == "hole"
    assert "9,604 holes" in problem.message


def test_a_hole_that_reaches_the_outline_at_six_decimals(tmp_path: Path) -> None:
    hole = [[10.0000004, 50.5], [10.5, 50.7], [10.5, 50.3], [10.0000004, 50.5]]
    other = [[10.0000003, 50.2], [10.0000003, 50.25], [10.5, 50.25], [10.0000003, 50.2]]
    rings = [square_ring(), hole, other]
    record = _plot(geometry={"type": "Polygon", "coordinates": rings})
    assert _codes(tmp_path, record) == ["breaks_at_six_decimals"]


def _that_is_cut_short() -> float:
    """A longitude of six decimals that loses a millionth where decimals are cut off."""
    return next(n / 1e6 for n in range(4_000_000, 5_000_000) if int(n / 1e6 * 1e6) == n - 1)


def test_a_plot_that_cutting_off_breaks(tmp_path: Path) -> None:
    x = _that_is_cut_short()
    before = round(x - 1e-6, 6)
    ring = [[before, 10], [x, 10], [x, 10.001], [before, 10.001], [before, 10]]
    assert int(before * 1e6) == int(x * 1e6)  # and so has no area
    record = _plot(geometry={"type": "Polygon", "coordinates": [ring]})
    assert _codes(tmp_path, record) == ["breaks_at_six_decimals"]


def test_positions_that_become_the_same_are_one(tmp_path: Path) -> None:
    x = _that_is_cut_short()
    before = round(x - 1e-6, 6)
    corners = [[3.9, 10], [before, 10], [x, 10], [x, 10.1], [3.9, 10.1]]
    cases: list[tuple[int, list[Any]]] = [
        (5, [[*corners[first:], *corners[:first], corners[first]]])
        for first in range(len(corners))  # also where the ring begins and ends at one of the two
    ]
    cases += [
        (4, [[[10, 50], [10.1, 50], [10.10000001, 50], [10.1, 50.1], [10, 50]]]),
        (5, [square_ring(), square_ring(10.2, 50.2, 2e-7)[::-1]]),  # a hole that vanishes
    ]
    for number, rings in cases:
        (plot,) = _plots(tmp_path, _plot(geometry={"type": "Polygon", "coordinates": rings}))
        assert [len(ring) for ring in plot["geometry"]["coordinates"]] == [number], rings


def test_a_country_that_is_none(tmp_path: Path) -> None:
    for country, said in (
        ("UK", "The code of the United Kingdom is GB."),
        ("el", "The code of Greece is GR."),
        ("XX", '"XX" is no country.'),
        ("Germany", '"Germany" is no country.'),
    ):
        (problem,) = _problems(tmp_path, _plot(ProducerCountry=country))
        assert problem.code == "country_invalid", country
        assert said in problem.message, country


def test_a_record_without_a_place(tmp_path: Path) -> None:
    assert _codes(tmp_path, project(metadata=OWN), _plot(2)) == ["no_place"]
    assert _codes(tmp_path, asset(type="plot", metadata=OWN)) == ["no_place"]


def test_the_area(tmp_path: Path) -> None:
    measured = pytest.approx(_hectares(square_ring()), abs=1e-4)
    for area, of_point, of_polygon in (
        (None, 4, measured),
        (3, 3, 3),
        (2.5, 2.5, 2.5),
        (0.0001, 0.0001, 0.0001),
        ("3", 3, measured),
        ("2,5 ", 2.5, measured),
        ("some", 4, measured),
        (True, 4, measured),
        ([1], 4, measured),
        ({}, 4, measured),
        (1_200_000.5, "point_over_4_ha", 1_200_000.5),
        (4.1, "point_over_4_ha", 4.1),
        ("12", "point_over_4_ha", measured),
        (0.00009, "area_invalid", 0.00009),
        (0, "area_invalid", "area_invalid"),
        (-5, "area_invalid", "area_invalid"),
    ):
        for record, due in ((_point(Area=area), of_point), (_plot(Area=area), of_polygon)):
            if isinstance(due, str):
                (problem,) = _problems(tmp_path, record)
                assert problem.code == due, area
                assert "e-0" not in problem.message, area
            else:
                (plot,) = _plots(tmp_path, record)
                assert plot["properties"]["Area"] == due, area
    (plot,) = _plots(tmp_path, _point(Area=120), cattle=True)
    assert plot["properties"]["Area"] == 120


def test_what_is_said_of_an_area_that_is_no_number() -> None:
    for area, written in (
        ("1234567,5", "1234567.5"),
        ("some", "4"),
        ("0.00001", "0.00001"),
    ):
        (reading,) = read_plots(source(_point(Area=area)).features(), EudrOptions(), PlotClock(1))
        (warning,) = [each for each in reading.warnings if each.code == "area_text"]
        assert warning.message.endswith(f"The file has {written}."), area


def test_a_plot_of_less_than_a_square_meter(tmp_path: Path) -> None:
    ring = square_ring(10, 50, 2e-6)
    (plot,) = _plots(tmp_path, _plot(geometry={"type": "Polygon", "coordinates": [ring]}))
    assert plot["properties"]["Area"] == 0.0001


def test_all_problems_are_told_but_not_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = [_plot(n, ProducerCountry="XX") for n in range(5)]
    assert len(_problems(tmp_path, *records)) == 5
    monkeypatch.setattr(writer, "IN_ERROR", 3)
    monkeypatch.setattr(checking, "BATCH_RECORDS", 1)
    features = (each for record in records for each in source(record).features())
    with pytest.raises(InvalidPlots) as raised:
        write_eudr(features, tmp_path)
    assert len(raised.value.problems) == 3
    assert len(list(features)) == 1  # of those after them, one was read


def test_a_division_keeps_the_bounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    records = [_plot(n, geometry=square(3 * n), ProducerName=f"P{n}") for n in range(10)]
    features = [each for record in records for each in source(record).features()]
    for bound, most, code in (
        ("FILE_BYTES", 1_000, "too_large"),
        ("FILE_PRODUCERS", 3, "too_many_producers"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(writer, bound, most)
            (problem,) = _problems(tmp_path, *records)
            assert (problem.code, problem.record_id) == (code, None)
            assert "divide=true" in problem.message
            assert len(_plots(tmp_path, *records[:3], variant=2)) == 3
            with write_eudr(features, tmp_path, EudrOptions(divide=True, variant=2)) as file:
                archive = zipfile.ZipFile(file)
                parts = [archive.read(name) for name in archive.namelist()]
        assert archive.namelist()[:2] == ["plots-1.geojson", "plots-2.geojson"]
        found = [each for part in parts for each in json.loads(part)["features"]]
        names = [each["properties"]["ProducerName"] for each in found]
        assert names == [f"P{n}" for n in range(10)]
        for part in parts:
            assert faults_of(part, variant=2) == []
            of_part = {each["properties"]["ProducerName"] for each in json.loads(part)["features"]}
            assert len(part) <= most if bound == "FILE_BYTES" else len(of_part) <= most


def test_nothing_to_write(tmp_path: Path) -> None:
    with pytest.raises(CannotWrite, match="no plots to write"):
        write_eudr([], tmp_path)

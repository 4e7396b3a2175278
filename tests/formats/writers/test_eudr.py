"""Files for the Information System of the EUDR."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from app.formats.writers import eudr
from app.formats.writers.eudr import EudrOptions
from app.formats.writers.source import CannotWrite
from app.geometry import geodesic_area
from tests.formats.writers.sources import Record, project, read_with_gdal, source, write
from tests.make.geometry import multi_square, square, square_ring

HOLED = {
    "type": "Polygon",
    "coordinates": [square_ring(size=1.0), square_ring(10.2, 50.2, 0.3)[::-1]],
}


def _text(folder: Path, *records: Record, **options: Any) -> str:
    return write(source(*records), "eudr", folder, options=EudrOptions(**options)).read_text()


def _plots(folder: Path, *records: Record, **options: Any) -> list[dict[str, Any]]:
    return json.loads(_text(folder, *records, **options))["features"]


def _problems(folder: Path, *records: Record, **options: Any) -> tuple[tuple[str, str], ...]:
    with pytest.raises(CannotWrite) as raised:
        _text(folder, *records, **options)
    return raised.value.problems


def test_a_plot(tmp_path: Path) -> None:
    (plot,) = _plots(tmp_path, project(geometry=square()), producer_country="de")
    hectares = geodesic_area([square_ring()]) / 10_000
    assert plot["properties"] == {
        "ProducerCountry": "DE",
        "ProductionPlace": "Forest 1",
        "Area": pytest.approx(hectares, abs=1e-4),
    }
    assert set(plot) == {"type", "properties", "geometry"}


def test_coordinates_have_six_decimals(tmp_path: Path) -> None:
    ring = [[10, 50], [10.1234567, 50], [10.1, 50.25], [10, 50]]
    text = _text(tmp_path, project(geometry={"type": "Polygon", "coordinates": [ring]}))
    assert (
        '"coordinates":[[[10.000000,50.000000],[10.123457,50.000000],[10.100000,50.250000],'
        "[10.000000,50.000000]]]"
    ) in text
    assert read_with_gdal(tmp_path / "projects.eudr.geojson").geometries[0].is_valid


def test_heights_are_left_out(tmp_path: Path) -> None:
    ring = [[*position, 300] for position in square_ring()]
    (plot,) = _plots(tmp_path, project(geometry={"type": "Polygon", "coordinates": [ring]}))
    assert {len(position) for position in plot["geometry"]["coordinates"][0]} == {2}


def test_each_part_is_a_plot_with_an_area_of_its_own(tmp_path: Path) -> None:
    geometry = multi_square((1, 1), (3, 50))
    plots = _plots(tmp_path, project(geometry=geometry, metadata={"Area": 5}))
    areas = [plot["properties"]["Area"] for plot in plots]
    parts = geometry["coordinates"]
    assert areas == pytest.approx([geodesic_area(part) / 10_000 for part in parts], abs=1e-4)
    assert {plot["geometry"]["type"] for plot in plots} == {"Polygon"}


def test_projects_without_a_geometry_are_left_out(tmp_path: Path) -> None:
    assert (
        _plots(tmp_path, project(), project(2, geometry=square()))[0]["properties"][
            "ProductionPlace"
        ]
        == "Forest 2"
    )


def test_projects_none_of_which_has_a_boundary_are_refused(tmp_path: Path) -> None:
    with pytest.raises(CannotWrite, match=r"^None of the projects has a boundary\.$"):
        _text(tmp_path, project(), project(2))


def test_properties_come_from_the_metadata(tmp_path: Path) -> None:
    metadata = {
        "producername": "Green Woods",
        "PRODUCERCOUNTRY": "at",
        "ProductionPlace": "North slope",
        "area": 3.5,
        "secret": "x",
    }
    options = {"producer_name": "Somebody", "producer_country": "DE"}
    first, second = _plots(
        tmp_path,
        project(geometry=square(), metadata=metadata),
        project(2, geometry=square()),
        **options,
    )
    assert first["properties"] == {
        "ProducerName": "Green Woods",
        "ProducerCountry": "AT",
        "ProductionPlace": "North slope",
        "Area": 3.5,
    }
    assert second["properties"]["ProducerName"] == "Somebody"
    assert second["properties"]["ProducerCountry"] == "DE"


def test_values_of_another_type_are_no_answer(tmp_path: Path) -> None:
    metadata = {"ProducerName": 5, "ProductionPlace": "", "Area": "5 ha"}
    (plot,) = _plots(tmp_path, project(geometry=square(), metadata=metadata))
    assert "ProducerName" not in plot["properties"]
    assert plot["properties"]["ProductionPlace"] == "Forest 1"
    assert plot["properties"]["Area"] > 1000


def test_a_country_that_is_none(tmp_path: Path) -> None:
    record = project(geometry=square(), metadata={"ProducerCountry": "Germany"})
    ((record_id, message),) = _problems(tmp_path, record)
    assert record_id == record["id"]
    assert "two letters" in message


def test_holes_are_told_and_not_cut(tmp_path: Path) -> None:
    ((record_id, message),) = _problems(tmp_path, project(geometry=HOLED))
    assert record_id == project()["id"]
    assert message.startswith("Part 0 has holes")
    assert "holes=ignore" in message


def test_holes_are_left_out_on_request(tmp_path: Path) -> None:
    (plot,) = _plots(tmp_path, project(geometry=HOLED), ignore_holes=True)
    assert len(plot["geometry"]["coordinates"]) == 1
    hectares = geodesic_area(HOLED["coordinates"][:1]) / 10_000
    assert plot["properties"]["Area"] == pytest.approx(hectares, abs=1e-4)


def test_positions_that_are_the_same_after_rounding_are_one(tmp_path: Path) -> None:
    ring = [[10, 50], [10.1, 50], [10.10000001, 50], [10.1, 50.1], [10, 50]]
    (plot,) = _plots(tmp_path, project(geometry={"type": "Polygon", "coordinates": [ring]}))
    assert len(plot["geometry"]["coordinates"][0]) == 4


TINY = square_ring(10, 50, 2e-7)
# Its two spikes lie beside each other, and on each other once they are rounded.
SPIKES = [
    [0, 0], [1, 0], [1, 1], [0.5, 1], [0.5, 0.5], [0.5000001, 0.5], [0.5000003, 1], [0, 1], [0, 0],
]  # fmt: skip


@pytest.mark.parametrize("ring", [TINY, SPIKES])
def test_a_plot_that_rounding_breaks_is_told(ring: Any, tmp_path: Path) -> None:
    record = project(geometry={"type": "Polygon", "coordinates": [ring]})
    ((_, message),) = _problems(tmp_path, record)
    assert "six decimals" in message


def test_all_problems_are_told_but_not_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = [project(n, geometry=HOLED) for n in range(5)]
    assert len(_problems(tmp_path, *records)) == 5
    monkeypatch.setattr(eudr, "EUDR_PROBLEMS", 3)
    assert len(_problems(tmp_path, *records)) == 3
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_would_be_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(eudr, "EUDR_BYTES", 1_000)
    with pytest.raises(CannotWrite, match="25 MB"):
        _text(tmp_path, *(project(n, geometry=square()) for n in range(10)))


def test_markup_in_names(tmp_path: Path) -> None:
    name = 'Wald "Süd" \\ 🌲 </script>'
    (plot,) = _plots(tmp_path, project(geometry=square(), name=name))
    assert plot["properties"]["ProductionPlace"] == name
    assert not re.search(r"[\x00-\x09]", _text(tmp_path, project(geometry=square())))

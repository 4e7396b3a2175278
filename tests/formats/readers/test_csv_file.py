"""CSV files as spreadsheets and programs write them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from app.formats.crs import read_crs
from app.formats.features import FileInvalid, Layer
from app.formats.readers import csv_file
from app.formats.readers.csv_file import CsvReader
from tests.formats.readers.reading import features, geometry_of, only_feature, refusal
from tests.processor_time import takes_at_most

POINT = {"type": "Point", "coordinates": [10.5, 43.5]}


def csv(folder: Path, text: str, encoding: str = "utf-8") -> Path:
    path = folder / "upload"
    path.write_bytes(text.encode(encoding))
    return path


def test_a_row_is_a_feature(tmp_path: Path) -> None:
    reader = CsvReader(csv(tmp_path, "name,wkt,trees\nA,POINT (10.5 43.5),7\nB,,\n"))
    (layer,) = reader.layers
    assert layer == Layer(
        "upload", 2, ("name", "trees"), geometry_columns=("wkt",), encoding="utf-8"
    )
    first, second = features(reader)
    assert (first.number, first.geometry) == (1, POINT)
    assert first.properties == {"name": "A", "trees": 7}
    assert (second.number, second.geometry) == (2, None)
    assert second.properties == {"name": "B", "trees": None}
    assert reader.notes == []


def test_excel_in_german(tmp_path: Path) -> None:
    text = (
        "Nr;Name;Fläche;Breite;Länge\r\n"
        "007;Müller;43,50;43,5;10,5\r\n"
        '008;"Wald; ""alt"" –\r\nhinten";3,25;43,6;10,6\r\n;;;;\r\n'
    )
    path = csv(tmp_path, text, "cp1252")
    reader = CsvReader(path)
    first, second = features(reader)
    assert first.geometry == POINT
    assert first.properties == {"Nr": "007", "Name": "Müller", "Fläche": 43.5}
    assert second.properties["Name"] == 'Wald; "alt" –\r\nhinten'
    assert (reader.layers[0].encoding, reader.layers[0].is_guessed) == ("cp1252", True)


def test_delimiters_and_encodings(tmp_path: Path) -> None:
    for encoding in ("utf-8", "utf-8-sig", "utf-16"):
        for delimiter in (",", ";", "\t", "|"):
            text = "größe,lat,lon\n1,43.5,10.5\n".replace(",", delimiter)
            reader = CsvReader(csv(tmp_path, text, encoding))
            (feature,) = features(reader)
            assert (feature.geometry, feature.properties) == (POINT, {"größe": 1}), (
                encoding,
                delimiter,
            )
            assert reader.notes == [], (encoding, delimiter)


def test_commas_of_wkt_are_not_delimiters(tmp_path: Path) -> None:
    for text in (
        "wkt;note,a\nPOLYGON ((0 0,1 0,1 1,0 0));b\n",
        "wkt\nPOLYGON ((0 0,1 0,1 1,0 0))\n",
        'wkt\n"POLYGON ((0 0,1 0,1 1,0 0))"\n',
        'a,"wkt"\nx,"POLYGON ((0 0,1 0,1 1,0 0))"',
        'a, "wkt"\rx, "POLYGON ((0 0,1 0,1 1,0 0))"\r',
    ):
        found = geometry_of(CsvReader, csv(tmp_path, text))
        assert found == {"type": "Polygon", "coordinates": [[[0, 0], [1, 0], [1, 1], [0, 0]]]}, text


def test_geojson_in_a_column(tmp_path: Path) -> None:
    quoted = json.dumps(POINT).replace('"', '""')
    for text in (f'a,geojson\n1,"{quoted}"\n', f"a;geojson\n1;{json.dumps(POINT)}\n"):
        assert geometry_of(CsvReader, csv(tmp_path, text)) == POINT


def test_names_of_latitude_and_longitude(tmp_path: Path) -> None:
    for header in (
        *("lat;lon", "LATITUDE;Longitude", "y;x", "Breite;Länge", "breitengrad;laengengrad"),
        *("latitud;longitud", "_Location_latitude;_Location_longitude", "gps-Lat;gps-Long"),
        *("decimalLatitude;decimalLongitude", "POINT_Y;POINT_X", "lat_wgs84;lng wgs84"),
        *("northing;easting", "Hochwert;Rechtswert", "Breite;La\u0308nge", "lat;Long"),
        *("Latitude;geo_Longitude", "north;east", "Szerokość geograficzna;Długość geograficzna"),
        *("широта;долгота", "gps_latStdDecimalDegrees;gps_longStdDecimalDegrees", "纬度;经度"),
    ):
        reader = CsvReader(csv(tmp_path, f"name;{header}\nA;43.5;10,5\n"))
        (feature,) = features(reader)
        assert feature.geometry == POINT, header
        assert feature.properties == {"name": "A"}, header
        is_guess = header.split(";")[0].lower() in ("y", "point_y", "northing", "hochwert", "north")
        assert ["taken for longitude" in note for note in reader.notes] == [True] * is_guess, header
    box = CsvReader(csv(tmp_path, "name;west;south;east;north\nA;10;47;10.5;47.5\n"))
    assert [feature.geometry for feature in features(box)] == [None]


SQUARE = [[10.0, 47.0], [10.01, 47.0], [10.01, 47.01], [10.0, 47.01], [10.0, 47.0]]
POLYGON = {"type": "Polygon", "coordinates": [SQUARE]}
QUOTED = json.dumps(POLYGON).replace('"', '""')
WALK = "47.0 10.0 0.0 4.5;47.0 10.01 0.0 4.5;47.01 10.01 0.0 4.5"


def test_geometries_are_found_by_what_is_in_a_column(tmp_path: Path) -> None:
    for text, expected in (
        (f'plotId,external_id,Area,geo\n1,F-1,84.5,"{QUOTED}"\n', POLYGON),
        (f'system:index,name,.geo\n0,A,"{QUOTED}"\n', POLYGON),
        (f'name,geo\nA,"{{""type"": ""Feature"", ""geometry"": {QUOTED}}}"\n', POLYGON),
        (f'name,Centroid_lat,Centroid_lon,outline\nA,1,2,"{QUOTED}"\n', POLYGON),
        ('name,outline\nA,"POINT (1 2)"\nB,\n', {"type": "Point", "coordinates": [1, 2]}),
    ):
        assert features(CsvReader(csv(tmp_path, text)))[0].geometry == expected, text


def test_geometries_are_found_that_begin_late(tmp_path: Path) -> None:
    for name in ("geo", "outline"):
        rows = "".join(f"P{number},,\n" for number in range(500))
        text = f'name,note,{name}\n{rows}A,,"{QUOTED}"\nB,x,\n'
        reader = CsvReader(csv(tmp_path, text))
        assert [one.number for one in features(reader) if one.geometry] == [501], name
        assert reader.notes == [], name


def test_areas_and_lines_of_odk_and_kobo(tmp_path: Path) -> None:
    for name in ("plot", "geometry"):
        rows = (f"{WALK};47.01 10.0 0 3;47.0 10.0 0.0 4.5", WALK, "47.0 10.0 500.5 4.5", "")
        text = f"name,{name}\n" + "".join(f'A,"{row}"\n' for row in rows)
        reader = CsvReader(csv(tmp_path, text))
        area, line, point, none = (one.geometry for one in features(reader))
        assert area == POLYGON, name
        assert line == {"type": "LineString", "coordinates": SQUARE[:3]}, name
        assert point == {"type": "Point", "coordinates": [10, 47]}, name
        assert none is None, name
        assert reader.layers[0].crs == "EPSG:4326", name
        assert [note.split()[0] for note in reader.notes] == [f'"{name}"', "Heights"], name
    text = "name,phone,lat,lon\nA,099 999 54 54,47,10\nB,71 123 45 67,47,10\n"
    for one in features(CsvReader(csv(tmp_path, text))):
        assert one.geometry == {"type": "Point", "coordinates": [10, 47]}


def test_latitude_and_longitude_in_one_cell(tmp_path: Path) -> None:
    for header, cell in (
        *(("coordinates", "47, 10"), ("Location", "(47.005,10.005)"), ("GPS", "[47; 10]")),
        *(("where", "47.005, 10.005"), ("where", "10.005° E, 47.005° N")),
        *(("where", "47.005 10.005"), ("where", "E10.005 N47.005"), ("gps", "47,005; 10,005")),
        ("where", "47°00'18.0\"N, 10°00'18.0\"E"),
    ):
        quoted = cell.replace('"', '""')
        reader = CsvReader(csv(tmp_path, f'name,{header}\nA,"{quoted}"\nB,\n'))
        one, none = features(reader)
        longitude, latitude = one.geometry["coordinates"] if one.geometry else (0, 0)
        assert (round(longitude), round(latitude), none.geometry) == (10, 47, None), header
        assert "read as latitude and longitude" in reader.notes[0], header


def test_what_is_perhaps_no_place_stays_a_value(tmp_path: Path) -> None:
    for cell in (
        "10, 20",
        "3,5",
        "oak, beech",
        '{"coordinates": 1}',
        "97.005, 10.005",
        "12 30",
        "12.5 30.5",
    ):
        quoted = cell.replace('"', '""')
        feature = only_feature(CsvReader, csv(tmp_path, f'name,sizes\nA,"{quoted}"\n'))
        assert feature.geometry is None, cell
        assert feature.properties["sizes"] == cell, cell


def test_degrees_with_minutes_and_seconds(tmp_path: Path) -> None:
    for lat, lon, expected in (
        ("47°00'18\"N", "010°00'18\"E", [10.005, 47.005]),
        ("S 3° 30.0'", "W 60° 15'", [-60.25, -3.5]),
        ("-3 30 0 S", "60d 15m O", [-60.25, -3.5]),
        ("47.5°", "10º", [10, 47.5]),
        ("4.75E1", "1e+1", [10, 47.5]),
    ):
        row = ";".join(f'"{each}"' for each in (lat.replace('"', '""'), lon.replace('"', '""')))
        found = geometry_of(CsvReader, csv(tmp_path, f"name;lat;lon\nA;{row}\n"))
        assert found["coordinates"] == pytest.approx(expected), lat


def test_letters_in_the_next_columns_count(tmp_path: Path) -> None:
    text = "name,lat,NS,lon,EW\nA,33.45,S,70.65,W\nB,33 27 15.48,s,70 39 0.36,w\nC,,,,\n"
    one, other, none = features(CsvReader(csv(tmp_path, text)))
    assert one.geometry == {"type": "Point", "coordinates": [-70.65, -33.45]}
    assert other.geometry
    assert other.geometry["coordinates"] == pytest.approx([-70.6501, -33.4543])
    assert none.geometry is None
    text = "name,lat,aspect,lon,aspect 2\nA,43.5,S,10.5,NE\n"
    assert geometry_of(CsvReader, csv(tmp_path, text)) == POINT


def test_the_zone_of_utm_is_read_from_its_column(tmp_path: Path) -> None:
    for zone, longitude, latitude in (
        *(("32N", 9, 46.96), ("32T", 9, 46.96), ("UTM 33 N", 15, 46.96)),
        *(("32S", 9, -43.36), ("32G", 9, -43.36)),
    ):
        text = f"name,zone,easting,northing\nA,{zone},500000,5200000\nB,31N,500000,5200000\n"
        reader = CsvReader(csv(tmp_path, text))
        one, other = features(reader)
        assert one.geometry, zone
        assert other.geometry, zone
        assert one.geometry["coordinates"] == pytest.approx([longitude, latitude], abs=0.01), zone
        assert other.geometry["coordinates"][0] == pytest.approx(3, abs=0.01), zone
        assert one.properties == {"name": "A", "zone": zone}, zone
        assert not any("taken for longitude" in note for note in reader.notes), zone


def test_white_space_without_an_end_takes_no_time(tmp_path: Path) -> None:
    def read(number: int) -> None:
        spaces = " " * number
        rows = (f"{spaces}1,2{spaces}x", f"1°{spaces}x", f"1{spaces}2", f"32{spaces}")
        cells = "".join(f'"{row}","{row}","{row}"\n' for row in rows)
        features(CsvReader(csv(tmp_path, f"easting,northing,zone\n{cells}")))
        features(CsvReader(csv(tmp_path, f"lat,lon,gps\n{cells}")))
        features(CsvReader(csv(tmp_path, f"gps,a,b\n{cells}")))

    assert takes_at_most(200, lambda: read(100_000), lambda: read(2_000))


def test_a_zone_without_a_letter_leaves_the_system_open(tmp_path: Path) -> None:
    text = "name,zone,easting,northing\nA,32,500000,5200000\n"
    assert CsvReader(csv(tmp_path, text)).layers[0].crs is None


def test_a_column_named_like_geometries_that_has_none_is_not_used(tmp_path: Path) -> None:
    feature = only_feature(CsvReader, csv(tmp_path, "shape,lat,lon\ncircle,43.5,10.5\n"))
    assert feature.geometry == POINT
    assert feature.properties == {"shape": "circle"}


def test_without_a_geometry_there_is_a_note(tmp_path: Path) -> None:
    reader = CsvReader(csv(tmp_path, "name,lat\nA,1\n"))
    assert features(reader)[0].geometry is None
    assert reader.notes[0].startswith("No column has geometries")


def test_places_are_from_latitude_and_longitude_where_the_text_is_empty(tmp_path: Path) -> None:
    text = "id,lon,lat,wkt\na,,,POINT (1 2)\nb,10.5,43.5,\nc,,,\n"
    reader = CsvReader(csv(tmp_path, text))
    first, second, third = features(reader)
    assert [first.geometry, second.geometry, third.geometry] == [
        {"type": "Point", "coordinates": [1, 2]}, POINT, None,
    ]  # fmt: skip
    assert second.properties == {"id": "b"}
    assert reader.notes == ['Where "wkt" is empty, the place is from "lon" and "lat".']


def test_latitude_and_longitude_beside_a_full_column_of_text_are_values(tmp_path: Path) -> None:
    text = "id,lat,lon,wkt\na,43.5,10.5,POINT (1 2)\nb,,,\n"
    first, _ = features(CsvReader(csv(tmp_path, text)))
    assert first.geometry == {"type": "Point", "coordinates": [1, 2]}
    assert first.properties == {"id": "a", "lat": 43.5, "lon": 10.5}


def test_rows_that_all_end_before_the_header_does(tmp_path: Path) -> None:
    reader = CsvReader(csv(tmp_path, "name,lat,lon,note,more\nA,43.5,10.5\nB,43.5,10.5\n"))
    first, second = features(reader)
    assert (first.geometry, first.problems, second.geometry) == (POINT, (), POINT)
    assert first.properties == {"name": "A", "note": None, "more": None}
    assert reader.notes == [
        "All rows have 3 fields, and the header 5: the last columns were read as empty."
    ]


def test_some_rows_that_end_before_the_header_does_are_problems(tmp_path: Path) -> None:
    for rows in ("A,43.5\n", "A,43.5\nB,43.5,10.5\n"):
        first, *_ = features(CsvReader(csv(tmp_path, f"name,lat,lon\n{rows}")))
        assert "has 2 fields, and the header 3" in first.problems[0].message, rows


def test_a_system_that_is_not_known_is_none(tmp_path: Path) -> None:
    reader = CsvReader(csv(tmp_path, "name,wkt\nA,SRID=999999;POINT (500000 5200000)\n"))
    assert reader.layers[0].crs is None
    assert "is not a known coordinate reference system" in reader.notes[0]
    (feature,) = features(reader, crs="EPSG:25832")
    assert feature.geometry is not None
    assert feature.geometry["coordinates"] == pytest.approx([9, 46.95], abs=0.01)


def test_short_rows_of_a_wide_table_take_little_time(tmp_path: Path) -> None:
    def read(columns: int) -> None:
        header = ",".join(f"c{number}" for number in range(columns))
        rows = "1\n" * 1000
        features(CsvReader(csv(tmp_path, f"{header}\n{rows}2,3\n")))

    assert takes_at_most(4, lambda: read(400), lambda: read(4))


def test_each_system_of_the_rows_is_made_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []
    monkeypatch.setattr(csv_file, "read_crs", lambda text: made.append(text) or read_crs(text))
    rows = "A,SRID=32632;POINT (5e5 52e5)\nB,SRID=9998;POINT (5e5 52e5)\n"
    reader = CsvReader(csv(tmp_path, f"name,wkt\nA,SRID=25832;POINT (5e5 52e5)\n{3 * rows}"))
    assert len(features(reader) + features(reader)) == 14
    assert sorted(made) == ["EPSG:25832", "EPSG:32632", "EPSG:9998"]


def test_rows_may_be_in_so_many_systems(tmp_path: Path) -> None:
    codes = [*range(32601, 32604), *range(25828, 25839)]
    rows = [f"A,SRID={code};POINT (500000 5200000)\n" for code in codes]
    assert len(features(CsvReader(csv(tmp_path, f"name,wkt\n{''.join(rows[:-1])}")))) == 13
    refused = refusal(CsvReader, csv(tmp_path, f"name,wkt\n{''.join(rows)}"))
    assert refused == "The rows are in more than 10 coordinate systems. Split the file."


def test_rows_with_other_numbers_of_fields(tmp_path: Path) -> None:
    reader = CsvReader(csv(tmp_path, "a,lat,lon\n1,43.5,10.5,\n\n2,43.5\n3,1,2,x\n"))
    fine, short, long = features(reader)
    assert (fine.geometry, fine.problems) == (POINT, ())
    assert short.properties == {"a": 2}
    (problem,) = short.problems
    assert problem.message.startswith("Row 4: The row has 2 fields, and the header 3.")
    (problem,) = long.problems
    assert problem.message.startswith("Row 5: The row has 4 fields")


def test_a_problem_names_its_row(tmp_path: Path) -> None:
    for text, code, message in (
        ("lat,lon\n43.5,east\n", "not_a_number", 'Row 2: "lon" is not a number: "east".'),
        ("lat,lon\n43.5,12°74'E\n", "not_a_number", 'Row 2: "lon" is not a number: "12°74\'E".'),
        (
            "name,plot\nA,47 10 0 4;47 10.1 0 4\nB,47 10;47 x\n",
            "wrong_position",
            'Row 3: "47 x" is not a latitude and a longitude.',
        ),
        (
            "name,gps\n" + 100 * 'A,"47.5, 10.5"\n' + "B,hut\n",
            "wrong_position",
            'Row 102: "hut" is not a latitude and a longitude.',
        ),
        ("name,zone,x,y\nA,32N,5e5,52e5\nB,,5e5,52e5\n", "wrong_crs", ""),
        (
            "a;wkt\n0;POINT (1 2)\n1;POINT (43,5 9,1)\n",
            "unreadable",
            "Row 3: The geometry cannot be read: \"Expected number but encountered ','\". Write "
            "numbers in WKT with a point.",
        ),
        ("lat,lon\n43.5,nan\n", "not_a_number", "Row 2: "),
        ("lat,lon\n43.5,\n", "wrong_position", 'Row 2: "lon" is empty'),
        ("a,wkt\n1,POINT (1 x)\n", "unreadable", "Row 2: The geometry cannot be read"),
        ("a,wkt\n1,SRID=999999;POINT (1 2)\n", "wrong_crs", "Row 2: "),
    ):
        text = text.replace("a,wkt\n", "a,wkt\n0,SRID=4326;POINT (1 2)\n")
        reader = CsvReader(csv(tmp_path, text))
        (problem,) = features(reader)[-1].problems
        assert problem.code == code, text
        assert problem.message.startswith(
            message.replace("Row 2", f"Row {reader.layers[0].features + 1}")
        ), text


def test_heights_are_left_out_with_a_note(tmp_path: Path) -> None:
    reader = CsvReader(csv(tmp_path, "a,wkt\n1,POINT Z (10.5 43.5 312)\n"))
    assert features(reader)[0].geometry == POINT
    assert reader.notes == ["Heights and measures were left out."]


# The tower of Florence's town hall in UTM 32 north on ETRS89, as EPSG:25832.
UTM = ("681660.1", "4848905.3")


def in_florence(geometry: Any) -> bool:
    longitude, latitude = geometry["coordinates"]
    return 11.2 < longitude < 11.3 and 43.7 < latitude < 43.8


def test_coordinates_that_cannot_be_degrees_need_a_system(tmp_path: Path) -> None:
    for header in ("x,y", "lon,lat", "easting,northing"):
        reader = CsvReader(csv(tmp_path, f"name,{header}\nA,{','.join(UTM)}\n"))
        (layer,) = reader.layers
        assert (layer.crs, layer.accuracy) == (None, None), header
        assert in_florence(features(reader, crs="EPSG:25832")[0].geometry), header
        assert not any("taken for" in note for note in reader.notes), header
        with pytest.raises(FileInvalid):
            features(reader, crs="EPSG:999999")


def test_headings_name_the_system_by_its_code(tmp_path: Path) -> None:
    for header, end in (
        *(
            ("x_25832,y_25832", ""),
            ("Rechtswert 25832,Hochwert 25832", ""),
            ("E_25832,N_25832", ""),
        ),
        ("easting,northing,EN_EPSG", ",25832"),
    ):
        reader = CsvReader(csv(tmp_path, f"name,{header}\nA,{','.join(UTM)}{end}\n"))
        assert reader.layers[0].crs == "EPSG:25832", header
        assert in_florence(features(reader)[0].geometry), header
        assert not any("taken for" in note for note in reader.notes), header
    reader = CsvReader(csv(tmp_path, f"name,x_25832,y_25833\nA,{','.join(UTM)}\n"))
    assert reader.layers[0].crs is None
    reader = CsvReader(csv(tmp_path, f"name,x_2021,y_2021\nA,{','.join(UTM)}\n"))
    assert reader.geometry_choices == ({},)  # years


def test_a_few_rows_out_of_range_are_still_in_degrees(tmp_path: Path) -> None:
    reader = CsvReader(csv(tmp_path, "lat,lon\n43.5,10.5\n435,105\n43.5,10.5\n"))
    assert reader.layers[0].crs == "EPSG:4326"
    assert features(reader)[1].geometry == {"type": "Point", "coordinates": [105, 435]}


def test_the_system_of_ewkt_is_used(tmp_path: Path) -> None:
    text = f"a,wkt\n1,SRID=25832;POINT ({' '.join(UTM)})\n2,SRID=4326;POINT (10.5 43.5)\n"
    reader = CsvReader(csv(tmp_path, text))
    (layer,) = reader.layers
    assert layer.crs == "EPSG:25832"
    assert layer.accuracy is not None
    first, second = features(reader)
    assert in_florence(first.geometry)
    assert second.geometry == POINT
    one, _ = features(reader, crs="EPSG:32632")  # what a person says wins
    assert in_florence(one.geometry)
    assert reader.notes[-1].startswith("EPSG:32632 was used as you chose it, though the file says")


def test_rows_without_a_system_have_that_of_the_others(tmp_path: Path) -> None:
    point = f"POINT ({' '.join(UTM)})"
    reader = CsvReader(csv(tmp_path, f"a,wkt\n1,{point}\n2,SRID=25832;{point}\n"))
    assert all(in_florence(one.geometry) for one in features(reader))


def test_a_position_that_the_system_does_not_reach_is_a_problem(tmp_path: Path) -> None:
    reader = CsvReader(csv(tmp_path, "a,wkt\n1,SRID=25832;POINT (1e30 1e30)\n"))
    (problem,) = features(reader)[0].problems
    assert problem.code == "out_of_range"
    assert problem.message.startswith("Row 2: ")


def test_files_that_are_refused(tmp_path: Path) -> None:
    for text, message in (
        ("a,b\n", "no rows below its header"),
        ("a,b\n,\n", "no rows below its header"),
        ("1,2\n3,4\n", "must have the names of its columns"),
        ("1;2,5\n3;4\n", "must have the names of its columns"),
        ("1,POINT (1 2)\n3,POINT (3 4)\n", "must have the names of its columns"),
        ("name\nA\n", "a single column"),
        ('a,b\n1,"2\n3,4\n', "in line 2 of the file has a quote that is not closed"),
        ('a,b\n1,2\n"x"y,4\n', "in line 3 of the file has text after a closing quote"),
        ("a,b\n1,\0\n", "has a null character"),
        (",".join(map(str, range(501))) + ",x\n1\n", "more than 500 columns"),
        (f"a,{'b' * 1001}\n1,2\n", "has 1,001 characters"),
    ):
        assert message in refusal(CsvReader, csv(tmp_path, text)), text


def test_a_value_that_is_too_long_is_refused(tmp_path: Path) -> None:
    text = f"name,lat,lon\n{'x' * (1024 * 1024 + 1)},1,2\n"
    assert refusal(CsvReader, csv(tmp_path, text)).startswith(
        'The value of "name" in row 2 is longer'
    )


@pytest.mark.slow
def test_a_row_that_is_too_long_is_refused(tmp_path: Path) -> None:
    for text in ('a,b\n1,"' + ("x" * 1000 + "\n") * 34_000, "a,b\n1," + "x" * 34_000_000):
        assert "is longer than 32 MiB. Perhaps a quote" in refusal(CsvReader, csv(tmp_path, text))


def test_lines_as_long_as_what_is_read_at_once(tmp_path: Path) -> None:
    for end in ("\n", "\r\n", "\r"):
        for size in range(1024 * 1024 - 5, 1024 * 1024 - 1):
            path = csv(tmp_path, end.join(["a,b", f"1,{'x' * size}", "", "2,y", ""]))
            reader = CsvReader(path)
            assert reader.layers[0].features == 2, (end, size)
            assert [len(one.properties["b"]) for one in features(reader)] == [size, 1], (end, size)


def test_broken_utf_16_is_refused(tmp_path: Path) -> None:
    path = csv(tmp_path, "a,b\n1,2\n" * 10_000, "utf-16")
    path.write_bytes(path.read_bytes()[:-1])
    assert "is not UTF-16" in refusal(CsvReader, path)
    path.write_bytes(b"\xff\xfe\x00\xd8\x00\xd8")
    assert "is not UTF-16" in refusal(CsvReader, path)


def test_excels_line_about_the_delimiter(tmp_path: Path) -> None:
    text = "sep=|\r\na|lat,|lon\r\n1,5|43|10\r\nx|43|x\r\n"
    reader = CsvReader(csv(tmp_path, text, "utf-16"))
    assert features(reader)[0].properties == {"a": "1,5"}
    assert features(reader)[1].problems[0].message.startswith("Row 4: ")


def test_a_shorter_name_of_a_position_comes_first(tmp_path: Path) -> None:
    text = "start_lat,start_lon,lat,lon,x,y\n1,2,43.5,10.5,3,4\n"
    assert geometry_of(CsvReader, csv(tmp_path, text)) == POINT

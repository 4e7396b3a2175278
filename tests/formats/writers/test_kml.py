"""KML: types, geometries, and characters that XML cannot have."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from fastkml import validator

from app.formats.readers.kml import KmlReader
from app.formats.writers.kml import write_kml
from app.values.strict_json import dumps
from tests.formats.readers.reading import features
from tests.formats.writers.sources import Record, asset, project, read_layer, source, write
from tests.make.geometry import multi_square, square

_KML = {"k": "http://www.opengis.net/kml/2.2"}


def _document(*records: Record) -> Any:
    return ElementTree.fromstring(b"".join(write_kml(source(*records))))


def _schema(*records: Record) -> dict[str, str]:
    fields = _document(*records).iterfind(".//k:SimpleField", _KML)
    return {each.get("name"): each.get("type") for each in fields}


def test_a_file_fits_the_schema_of_kml(tmp_path: Path) -> None:
    hole = square()
    hole["coordinates"].append([[0.2, 0.2], [0.4, 0.2], [0.4, 0.4], [0.2, 0.2]])
    records = [
        project(geometry=hole, description="<b>&\x0b", metadata={"n": 1, "f": 0.5, "b": True}),
        project(2, geometry=multi_square((1, 1), (3, 3)), metadata={"a b/c": [], "ü": "x"}),
        project(3),
    ]
    path = tmp_path / "export.kml"
    path.write_bytes(b"".join(write_kml(source(*records))))
    assert validator.validate(file_to_validate=path)
    path.write_text(
        path.read_text().replace("<Placemark", "<Tree").replace("</Placemark", "</Tree")
    )
    with pytest.raises(AssertionError):
        validator.validate(file_to_validate=path)


def test_what_kml_has_an_element_for_is_there(tmp_path: Path) -> None:
    metadata = {
        "address": "1 Main Street", "phoneNumber": "0123", "snippet": "Old oaks",
        "begin": "2024-01", "end": "2025-01-02T03:04:05Z", "timestamp": "2024",
    }  # fmt: skip
    records = [
        project(description="words", geometry=square(), metadata=metadata),
        project(2, geometry=square(), metadata={"timestamp": "2024-05-01", "address": "<b>"}),
        project(3, geometry=square(), metadata={"timestamp": "yesterday", "snippet": "<i>"}),
    ]
    path = tmp_path / "export.kml"
    path.write_bytes(b"".join(write_kml(source(*records))))
    assert validator.validate(file_to_validate=path)
    shown = [
        [each.tag.rpartition("}")[2] for each in placemark][:-2]
        for placemark in ElementTree.parse(path).iterfind(".//k:Placemark", _KML)
    ]
    assert shown == [
        ["name", "address", "phoneNumber", "Snippet", "description", "TimeSpan"],
        ["name", "TimeStamp"],
        ["name"],
    ]
    found = [each.properties for each in features(KmlReader(path))]
    for record, properties in zip(records, found, strict=True):
        kept = json.loads(dumps(record["metadata"]))
        assert {name: properties[name] for name in kept} == kept


def test_data_is_typed_by_a_schema() -> None:
    metadata = {"n": 1, "big": 2**40, "huge": 2**62, "f": 0.5, "b": True, "t": "x", "j": []}
    schema = _schema(project(metadata=metadata))
    assert {name: schema[name] for name in metadata} == {
        "n": "int", "big": "double", "huge": "string", "f": "double", "b": "bool", "t": "string",
        "j": "string",
    }  # fmt: skip
    assert schema["area_hectares"] == "double"
    assert not {"name", "description"} & set(schema)


def test_a_placemark_has_the_name_and_the_description_of_a_project() -> None:
    placemark = _document(project(description="Old growth")).find(".//k:Placemark", _KML)
    assert placemark.get("id") == project()["id"]
    assert placemark.findtext("k:name", None, _KML) == "Forest 1"
    assert placemark.findtext("k:description", None, _KML) == "Old growth"


def test_heights_are_kept() -> None:
    document = _document(asset(location={"type": "Point", "coordinates": [1, 2, 300.5]}))
    assert document.findtext(".//k:coordinates", None, _KML) == "1,2,300.5"


def test_any_text_is_valid_xml() -> None:
    for name, read in (
        ("<script>&amp;\"'", "<script>&amp;\"'"),
        ("]]>", "]]>"),
        ("bell\a and \x1f", "bell\ufffd and \ufffd"),
        ("\ufffe\uffff", "\ufffd\ufffd"),
        ("two\r\nlines", "two\nlines"),
        ("𐀀🌲", "𐀀🌲"),
    ):
        document = _document(project(name=name, description=name, metadata={"t": name}))
        placemark = document.find(".//k:Placemark", _KML)
        assert placemark.findtext("k:name", None, _KML) == read, name
        for html in (
            placemark.findtext("k:description", None, _KML),
            placemark.find(".//k:SimpleData[@name='t']", _KML).text,
        ):
            assert _Viewer.shows(html) == read


class _Viewer(HTMLParser):
    """What a viewer shows of the HTML of a description."""

    def __init__(self) -> None:
        super().__init__()
        self.text, self.tags = "", list[str]()

    @classmethod
    def shows(cls, html: str) -> str:
        viewer = cls()
        viewer.feed(html)
        viewer.close()
        assert viewer.tags == []
        return viewer.text

    def handle_data(self, data: str) -> None:
        self.text += data

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.append(tag)

    def handle_comment(self, data: str) -> None:
        self.tags.append(data)


HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<!-- <b> -->",
    "&lt;b&gt; and &amp;lt; and &#60;b&#62;",
    "a <b",
    "AT&T & Söhne > 5 ha",
]


def test_a_viewer_shows_texts_and_our_reader_gives_the_same(tmp_path: Path) -> None:
    for text in HOSTILE:
        record = project(name=text, description=text, metadata={"t": text, "l": [text]})
        placemark = _document(record).find(".//k:Placemark", _KML)
        assert _Viewer.shows(placemark.findtext("k:description", None, _KML)) == text, text
        assert _Viewer.shows(placemark.find(".//k:SimpleData[@name='t']", _KML).text) == text, text
        (feature,) = features(KmlReader(write(source(record), "kml", tmp_path)))
        read = feature.properties
        assert (read["name"], read["description"], read["t"]) == (text, text, text), text
        assert json.loads(read["l"]) == [text], text


def test_texts_without_markup_stay_as_they_are_for_programs_that_show_text(tmp_path: Path) -> None:
    text = "AT&T & Söhne > 5 ha"
    record = project(description=text, metadata={"t": text})
    columns = read_layer(write(source(record), "kml", tmp_path)).columns
    assert columns["t"] == [text]


def test_html_of_other_programs_is_read_as_it_is(tmp_path: Path) -> None:
    path = write(source(project(description="<b>", metadata={"t": "<b>"})), "kml", tmp_path)
    path.write_bytes(path.read_bytes().replace(b"canopy-projects", b"others"))
    (feature,) = features(KmlReader(path))
    assert (feature.properties["description"], feature.properties["t"]) == ("&lt;b>", "&lt;b>")


def test_a_key_with_markup_is_valid_xml(tmp_path: Path) -> None:
    key = 'a"<b>&'
    layer = read_layer(write(source(project(metadata={key: 1})), "kml", tmp_path))
    assert layer.columns[key] == [1]


def test_keys_that_differ_in_case_are_both_there(tmp_path: Path) -> None:
    record = project(metadata={"region": 1, "Region": 2})
    columns = read_layer(write(source(record), "kml", tmp_path)).columns
    assert (columns["region"], columns["Region_2"]) == ([1], [2])

"""KML as programs write it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from app.formats.features import Layer
from app.formats.readers.kml import KmlReader
from app.policy.files import LAYERS
from tests.formats.readers.reading import features, only_feature, refusal
from tests.processor_time import takes_at_most

HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<kml xmlns="http://www.opengis.net/kml/2.2">'
POINT = "<Point><coordinates>10.5,43.5</coordinates></Point>"


def kml(folder: Path, content: str) -> Path:
    path = folder / "upload"
    path.write_text(f"{HEAD}<Document>{content}</Document></kml>")
    return path


def placemark(content: str = POINT, name: str = "A") -> str:
    return f"<Placemark><name>{name}</name>{content}</Placemark>"


def link(target: str) -> str:
    return f"<NetworkLink><Link><href>{target}</href></Link></NetworkLink>"


def properties(folder: Path, content: str) -> dict[str, Any]:
    return only_feature(KmlReader, kml(folder, content)).properties


def layers(folder: Path, content: str) -> list[tuple[str, int]]:
    return [(one.name, one.features) for one in KmlReader(kml(folder, content)).layers]


def test_one_folder_is_one_layer(tmp_path: Path) -> None:
    content = f"<name>Survey</name><Folder><name>Plots</name>{placemark()}{placemark()}</Folder>"
    reader = KmlReader(kml(tmp_path, content))
    assert reader.layers == (Layer("Plots", 2, ("name",)),)
    assert [one.number for one in features(reader)] == [1, 2]
    assert reader.notes == []


def test_each_folder_is_a_layer_and_all_of_them_are_one_more(tmp_path: Path) -> None:
    content = (
        f"<Folder><name>Plots</name>{placemark(name='P')}"
        f"<Folder><name>Trees</name>{placemark(name='T')}</Folder></Folder>{placemark(name='D')}"
    )
    reader = KmlReader(kml(tmp_path, f"<name>Survey</name>{content}"))
    assert [(one.name, one.features) for one in reader.layers] == [
        ("Plots", 1),
        ("Trees", 1),
        ("Survey", 1),
        ("All folders", 3),
    ]
    assert [one.properties for one in features(reader, "Trees")] == [{"name": "T"}]
    assert [one.properties for one in features(reader, "All folders")] == [
        {"name": "P", "folder": "Plots"},
        {"name": "T", "folder": "Plots / Trees"},
        {"name": "D", "folder": "Survey"},
    ]
    assert reader.layers[-1].columns == ("name", "folder")


def test_folders_of_the_same_name_are_told_apart_by_those_around_them(tmp_path: Path) -> None:
    plots = f"<Folder><name>Plots</name>{placemark()}</Folder>"
    content = f"<Folder><name>North</name>{plots}</Folder><Folder>{plots}{plots}</Folder>"
    names = [name for name, _ in layers(tmp_path, content)]
    assert names == ["North / Plots", "Plots", "Plots (2)", "All folders"]


def test_many_folders_are_one_layer(tmp_path: Path) -> None:
    content = "".join(f"<Folder><name>{n}</name>{placemark()}</Folder>" for n in range(LAYERS))
    reader = KmlReader(kml(tmp_path, content))
    assert [(one.name, one.features) for one in reader.layers] == [("All folders", LAYERS)]
    assert [one.properties["folder"] for one in features(reader)] == [*map(str, range(LAYERS))]
    assert "more than 99 folders" in reader.notes[0]


def test_a_placemark_without_a_document(tmp_path: Path) -> None:
    path = tmp_path / "upload"
    path.write_text(f"{HEAD}{placemark()}</kml>")
    assert KmlReader(path).layers == (Layer("Placemarks", 1, ("name",)),)


def test_placemarks_of_an_update_are_not_read(tmp_path: Path) -> None:
    update = f"<NetworkLinkControl><Update>{placemark()}</Update></NetworkLinkControl>"
    assert layers(tmp_path, f"{update}{placemark()}") == [("Placemarks", 1)]


def test_of_html_the_text_is_read(tmp_path: Path) -> None:
    """As Google Earth and ArcGIS write descriptions; what only looks like HTML stays."""
    path = tmp_path / "upload"
    html = (
        '<img src="files/p.jpg"/> planted&nbsp;2010<br>by hand <style>td {color: red}</style>'
        "<table><tr><td>Area</td><td>7.5 ha</td></tr><tr><td>Oak</td></tr></table>"
    )
    path.write_text(
        f"{HEAD}<Document><Placemark><description><![CDATA[{html}]]></description></Placemark>"
        "<Placemark><description>a &lt; b &amp; &lt;c&gt;</description></Placemark>"
        "</Document></kml>"
    )
    reader = KmlReader(path)
    one, other = (each.properties["description"] for each in reader.read_features(reader.layers[0]))
    assert one == "planted 2010\nby hand\nArea 7.5 ha\nOak"
    assert other == "a < b & <c>"
    assert reader.notes == ["Pictures of descriptions were left out."]


def test_texts_and_times_are_columns(tmp_path: Path) -> None:
    content = (
        "<name> Oak \n</name><description><![CDATA[<table><tr><td>7</td></tr></table>]]>"
        "</description><address>Main Street</address><phoneNumber/><styleUrl>#a</styleUrl>"
        "<TimeStamp><when>2024-05-01</when></TimeStamp>"
        "<TimeSpan><begin>2024</begin><end>2025</end></TimeSpan><Snippet>short</Snippet>"
    )
    assert properties(tmp_path, f"<Placemark>{content}</Placemark>") == {
        "name": "Oak",
        "description": "7",
        "address": "Main Street",
        "snippet": "short",
        "timestamp": "2024-05-01",
        "begin": "2024",
        "end": "2025",
    }


def test_data_of_a_schema_has_its_types(tmp_path: Path) -> None:
    kinds = ["int", "uint", "short", "double", "float", "bool", "string", "wrong"]
    values = ["-7", "+7", "x7", "1.50", "nan", "true", "1", "2"]
    fields = "".join(f'<SimpleField type="{kind}" name="{kind}"/>' for kind in kinds)
    data = "".join(
        f'<SimpleData name="{kind}">{value}</SimpleData>'
        for kind, value in zip(kinds, values, strict=True)
    )
    content = (
        f'<Placemark><ExtendedData><SchemaData schemaUrl="#s1">{data}</SchemaData></ExtendedData>'
        f'</Placemark><Schema name="trees" id="s1">{fields}</Schema>'
    )
    found = properties(tmp_path, content)
    assert found == {
        "int": -7,
        "uint": 7,
        "short": "x7",
        "double": 1.5,
        "float": "nan",
        "bool": True,
        "string": "1",
        "wrong": "2",
    }
    assert [type(value) for value in found.values()][:2] == [int, int]


def test_of_columns_of_one_name_the_element_counts_and_the_number_of_a_placemark_is_none(
    tmp_path: Path,
) -> None:
    def data(name: str) -> str:
        return f'<Data name="{name}"><value>data</value></Data>'

    content = (
        f'<Placemark id="p1"><name>A</name><ExtendedData>{data("name")}{data("id")}</ExtendedData>'
        "</Placemark>"
    )
    assert properties(tmp_path, content) == {"name": "A", "id": "data"}
    assert properties(tmp_path, '<Placemark id="p1"/>') == {}


def test_network_links_are_not_followed(tmp_path: Path) -> None:
    target = link("http://127.0.0.1:1/x.kml")
    reader = KmlReader(kml(tmp_path, f"{target}{placemark()}{target}"))
    assert len(features(reader)) == 1
    (note,) = reader.notes
    assert "NetworkLink" in note
    assert "NetworkLink" in refusal(KmlReader, kml(tmp_path, target))


def test_a_file_that_ends_early_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "upload"
    path.write_text(f"{HEAD}<Document>\n{placemark()}")
    assert refusal(KmlReader, path).startswith("Line 3 of the XML: no element found")


def test_too_many_columns_are_refused(tmp_path: Path) -> None:
    data = "".join(f'<Data name="c{number}"/>' for number in range(501))
    content = f"<Placemark><ExtendedData>{data}</ExtendedData></Placemark>"
    assert "more than 500 columns" in refusal(KmlReader, kml(tmp_path, content))


@pytest.mark.slow
def test_fields_of_schemas_are_bounded(tmp_path: Path) -> None:
    fields = "".join(f'<SimpleField name="{number}"/>' for number in range(50_001))
    content = f"<Schema id='s'>{fields}</Schema>{placemark()}"
    assert "too many fields" in refusal(KmlReader, kml(tmp_path, content))


def test_sw_maps(tmp_path: Path) -> None:
    """The layout of what SW Maps writes, with `gx:` prefixes that nothing declares."""
    content = (
        "<name>rtk setup</name><open>0</open><description>Exported using SW Maps</description>"
        '<Folder><name>Layer2</name><visibility>1</visibility><Style id="Layer2-PointStyle">'
        '<IconStyle><Icon><href>x.png</href></Icon><hotSpot x="0.5"/></IconStyle></Style>'
        "<Placemark><name>Layer2 2</name><description> <![CDATA[<h4>Layer: Layer2</h4>]]>"
        "</description><styleUrl>#Layer2-Style</styleUrl><gx:balloonVisibility>1"
        "</gx:balloonVisibility><Point><gx:drawOrder>1</gx:drawOrder>"
        "<coordinates>10.5,43.5,312.4</coordinates></Point></Placemark></Folder>"
    )
    reader = KmlReader(kml(tmp_path, content))
    (feature,) = features(reader)
    assert feature.geometry == {"type": "Point", "coordinates": [10.5, 43.5]}
    assert feature.properties == {"name": "Layer2 2", "description": "Layer: Layer2"}
    assert reader.notes == ["Heights were left out."]


def test_overlays_are_left_out_with_a_note(tmp_path: Path) -> None:
    content = f"<Folder><GroundOverlay><name>Photo</name></GroundOverlay></Folder>{placemark()}"
    reader = KmlReader(kml(tmp_path, content))
    assert len(features(reader)) == 1
    assert reader.notes == ["Images on the map (overlays) were left out."]


def test_long_names_of_folders_and_schemas_are_read_once(tmp_path: Path, subtests: Any) -> None:
    attributes = " ".join(f'a{number}=""' for number in range(2000))
    name = f"<Folder><name>{'a ' * 30_000}</name>"
    for what, long, short, other in (
        ("names of folders", name, "<Placemark/>", "</Folder><Folder><Placemark/></Folder>"),
        ("schemas", f"<Schema {attributes}>", "<SimpleField/>", f"</Schema>{placemark()}"),
    ):
        paths = []
        for times in (1, 1000):
            path = kml(tmp_path, long + times * short + other)
            paths.append(path.rename(tmp_path / f"{times}"))
        few, many = paths
        with subtests.test(what):
            assert takes_at_most(50, lambda: read_last(many), lambda: read_last(few))  # noqa: B023


def read_last(path: Path) -> None:
    """Read the last layer of a file, which has all of its folders."""
    features(KmlReader(path), -1)

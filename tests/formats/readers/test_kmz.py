"""KMZ: KML files in a zip file."""

from __future__ import annotations

import zipfile
from pathlib import Path

from app.formats.readers.kml import KmzReader
from tests.formats.readers.reading import features, refusal
from tests.formats.readers.test_kml import HEAD, link, placemark
from tests.processor_time import takes_at_most


def kmz(folder: Path, *members: tuple[str, str]) -> Path:
    path = folder / "upload"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return path


def test_the_kml_files_of_a_kmz_file(tmp_path: Path) -> None:
    for names, read in (
        (["doc.kml", "files/photo.jpg"], ["doc.kml"]),
        (["files/b.kml", "doc.kml"], ["doc.kml", "files/b.kml"]),
        (["a/b/c.kml", "a/Export.KML"], ["a/Export.KML", "a/b/c.kml"]),
        (["b.kml", "a.kml"], ["b.kml", "a.kml"]),
        (["a.kml", "deep/doc.kml"], ["deep/doc.kml", "a.kml"]),
    ):
        reader = KmzReader(kmz(tmp_path, *((n, f"{HEAD}{placemark(name=n)}</kml>") for n in names)))
        everything = reader.layers[-1].name
        assert [one.properties["name"] for one in features(reader, everything)] == read, names
        assert reader.notes == []
        reader.close()


def test_links_within_a_kmz_file_are_followed(tmp_path: Path) -> None:
    """GDAL, and so QGIS, writes each layer to a file of its own."""

    def layer(name: str, kind: str, *targets: str) -> tuple[str, str]:
        data = '<SchemaData schemaUrl="#s"><SimpleData name="n">1</SimpleData></SchemaData>'
        content = (
            f'<Document><name>{name}</name><Schema id="s"><SimpleField name="n" type="{kind}"/>'
            f"</Schema>{placemark(f'<ExtendedData>{data}</ExtendedData>')}</Document>"
        )
        return f"layers/{name}.kml", f"{HEAD}{content}{''.join(map(link, targets))}</kml>"

    doc = f"{HEAD}<Document>{link('layers/a%20b.kml?x#y')}{link('./layers/c.kml')}</Document></kml>"
    reader = KmzReader(
        kmz(
            tmp_path,
            ("doc.kml", doc),
            layer("a b", "int", "c.kml"),
            layer("c", "string", "../doc.kml"),
        )
    )
    assert [(one.name, one.features) for one in reader.layers] == [
        ("a b", 1),
        ("c", 1),
        ("All folders", 2),
    ]
    assert [one.properties for one in features(reader, "a b")] == [{"name": "A", "n": 1}]
    assert [one.properties["n"] for one in features(reader, "All folders")] == [1, "1"]
    assert reader.notes == []
    reader.close()


def test_other_links_of_a_kmz_file_are_not_followed(tmp_path: Path) -> None:
    for target in ("", "http://127.0.0.1:1/b.kml", "../b.kml", "/etc/passwd", "[", "b.kmz"):
        content = f"{HEAD}{placemark()}{link(target)}</kml>"
        reader = KmzReader(kmz(tmp_path, ("doc.kml", content), ("x.txt", "")))
        (note,) = reader.notes
        assert "NetworkLink" in note, target
        reader.close()


def test_a_kmz_file_without_kml_is_refused(tmp_path: Path) -> None:
    assert "no KML file" in refusal(KmzReader, kmz(tmp_path, ("a.txt", "")))


def test_a_kmz_file_with_broken_kml_is_refused(tmp_path: Path) -> None:
    assert "Line 1 of the XML" in refusal(KmzReader, kmz(tmp_path, ("doc.kml", "<kml>")))


def test_links_do_not_search_all_files(tmp_path: Path) -> None:
    paths = []
    photos = [(f"{number}.jpg", "") for number in range(2000)]
    for times in (1, 1000):
        document = f"{HEAD}<Document>{times * link('a.kml')}{placemark()}</Document></kml>"
        path = kmz(tmp_path, ("doc.kml", document), *photos)
        paths.append(path.rename(tmp_path / f"{times}"))
    few, many = paths
    assert takes_at_most(3, lambda: KmzReader(many).close(), lambda: KmzReader(few).close())

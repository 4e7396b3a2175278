"""The trial with files of others, on files that are made here."""

from __future__ import annotations

import hashlib
import sys
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from tests.formats.readers.gdal import write
from tests.make.features import collection, feature
from tests.make.geometry import square
from trials.others import by_gdal
from trials.others.__main__ import main
from trials.others.imported import Imported
from trials.others.judging import differences, judge
from trials.others.table import (
    TABLE,
    VERDICTS,
    Entry,
    NotThere,
    fetched,
    read_table,
    write_table,
)

SQUARES = [square(10), square(20)]


def entry(content: bytes, path: str = "data/a.geojson", **values: Any) -> Entry:
    digest = hashlib.sha256(content).hexdigest()
    return Entry("someone/plots", "c" * 40, path, "MIT", len(content), digest, **values)


def placed(folder: Path, entry: Entry, content: bytes) -> None:
    path = folder / entry.repository / entry.path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def squares(tmp_path: Path) -> by_gdal.Read:
    path = tmp_path / "a.geojson"
    path.write_bytes(collection(*(feature(each, name=f"N{n}") for n, each in enumerate(SQUARES))))
    read = by_gdal.read_layer(path, "geojson", "a")
    assert read is not None
    return read


def imported(read: by_gdal.Read, **changes: Any) -> Imported:
    """What an import says that reads the same as GDAL, but for ``changes`` of its record."""
    features = [
        {"number": n, "name": f"N{n - 1}", "verdict": "new", "area_hectares": area / 10_000}
        for n, area in enumerate(read.areas(), start=1)
    ]
    counts = {"new": 2, "changed": 0, "same": 0, "rejected": 0, "without_boundary": 0}
    layer = {"name": "a", "columns": list(read.columns)}
    record = {
        "status": "ready", "message": None, "format": "geojson", "kind": "projects", "layer": "a",
        "layers": [layer], "mapping": {"name": "name"}, "notes": [], "faults": [],
        "counts": counts, "bbox": [10, 50, 20.1, 50.1],
    }  # fmt: skip
    return Imported(record | changes, features)


def test_the_table_has_what_is_needed_to_get_each_file() -> None:
    entries = read_table()
    assert len({each.name for each in entries}) == len(entries)
    assert len({each.repository for each in entries}) >= 40
    for each in entries:
        assert each.verdict in VERDICTS[:4]
        assert (each.verdict == "fine") is not bool(each.reason), each.name
        assert len(each.sha256) == 64
        assert len(each.commit) == 40
        assert each.says


def test_a_table_is_written_as_it_was_read(tmp_path: Path) -> None:
    copy = tmp_path / "files.jsonl"
    write_table(read_table(), copy)
    assert copy.read_text() == TABLE.read_text()


def test_the_same_is_fine(tmp_path: Path) -> None:
    read = squares(tmp_path)
    assert judge(entry(b""), imported(read), read).verdict == "fine"


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"counts": {"new": 1}}, "1 features, GDAL has 2"),
        ({"counts": {"without_boundary": 1}}, "1 places, GDAL has 2"),
        ({"bbox": [50, 10, 50.1, 20.1]}, "lies at"),
        ({"layers": [{"name": "a", "columns": []}]}, "columns are missing: name"),
    ],
)
def test_what_is_missing_is_a_loss(tmp_path: Path, changes: dict[str, Any], told: str) -> None:
    read = squares(tmp_path)
    if counts := changes.get("counts"):
        changes = {"counts": imported(read).record["counts"] | counts}
    (found,) = differences(imported(read, **changes), read)
    assert told in found
    assert judge(entry(b""), imported(read, **changes), read).verdict == "loses"


@pytest.mark.parametrize(
    ("change", "told"),
    [({"area_hectares": 7900.0}, "feature 2 has 79000000.0 m²"), ({"name": "Elm"}, "is called")],
)
def test_another_area_and_another_name_are_losses(
    tmp_path: Path, change: dict[str, Any], told: str
) -> None:
    read = squares(tmp_path)
    seen = imported(read)
    seen.features[1].update(change)
    (found,) = differences(seen, read)
    assert told in found


def test_a_refusal_is_as_the_table_says_until_it_says_something_else(tmp_path: Path) -> None:
    read = squares(tmp_path)
    seen = imported(read, status="failed", message="The file is too red.")
    judged = entry(
        b"", verdict="refused rightly", reason="red", says="failed: The file is too red."
    )
    assert judge(judged, seen, read)[::2] == ("refused rightly", "red")
    seen.record["message"] = "The file is too blue."
    assert judge(judged, seen, read).verdict == "refused badly"


@pytest.mark.parametrize("words", ["`geometry` is missing.", "properties.name is null."])
def test_words_for_programs_are_bad(tmp_path: Path, words: str) -> None:
    read = squares(tmp_path)
    seen = imported(read, status="failed", message=words)
    assert judge(entry(b""), seen, read).verdict == "refused badly"


def test_a_file_must_have_the_sum_of_the_table(tmp_path: Path) -> None:
    placed(tmp_path, entry(b"one"), b"two")
    with pytest.raises(NotThere, match="another sum"):
        fetched(entry(b"one"), tmp_path, tmp_path)


def test_a_path_cannot_lead_out_of_the_folder(tmp_path: Path) -> None:
    with pytest.raises(NotThere, match="leads out"):
        fetched(entry(b"", path="../../../a"), tmp_path / "files", tmp_path)


def test_what_is_not_there_is_downloaded_at_its_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = entry(b"plots", path="data/flächen 1.csv")
    placed(tmp_path / "served" / wanted.repository, replace(wanted, repository="c" * 40), b"plots")
    handler = partial(SimpleHTTPRequestHandler, directory=str(tmp_path / "served"))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        address = f"http://127.0.0.1:{server.server_port}/{{repository}}/{{commit}}/{{path}}"
        monkeypatch.setattr("trials.others.table._SOURCE", address)
        files = tmp_path / "files"
        assert fetched(wanted, files, tmp_path).read_bytes() == b"plots"
        with pytest.raises(NotThere, match="cannot be downloaded"):
            fetched(entry(b"", path="other.csv"), files, tmp_path)
        server.shutdown()
        thread.join()
    assert fetched(wanted, files, tmp_path).read_bytes() == b"plots"


@pytest.mark.slow
def test_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    files, shapes = tmp_path / "files", tmp_path / "shapes"
    shapes.mkdir()
    write(shapes / "a.shp", "ESRI Shapefile")
    parts = {each.suffix: each.read_bytes() for each in shapes.iterdir()}
    others = {f"b{suffix}": entry(parts[suffix]).sha256 for suffix in (".dbf", ".shx", ".prj")}
    rows = [
        (entry(good := collection(*map(feature, SQUARES)), says="2 read"), good),
        (entry(bad := b'{"type": "Topology"}', path="c.json"), bad),
        (entry(parts[".shp"], path="b.shp", others=others, says="24 read"), parts[".shp"]),
    ]
    for each, content in rows:
        placed(files, each, content)
    for name in others:
        (files / "someone/plots" / name).write_bytes(parts[Path(name).suffix])
    table = tmp_path / "files.jsonl"
    write_table([each for each, _ in rows], table)
    command = ["others", "--files", str(files), "--table", str(table)]
    monkeypatch.setattr(sys, "argv", command)
    assert main() == 1
    told = capsys.readouterr().out
    assert "WORSE      someone/plots/c.json" in told
    assert "3 files of 1 repositories" in told
    monkeypatch.setattr(sys, "argv", [*command, "--write"])
    assert main() == 1
    monkeypatch.setattr(sys, "argv", command)
    assert main() == 0
    assert "WORSE" not in capsys.readouterr().out.partition("files of")[2]

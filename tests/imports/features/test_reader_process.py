"""The process that reads a file: what it has of the worker's, and what is taken of its answers."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from app.formats.features import FileInvalid, Layer, SourceFeature
from app.formats.readers.opening import open_file
from app.imports.features import reader_process, reader_program
from app.imports.features.candidates import Candidate, ReadOptions, RejectedFeature
from app.imports.features.mapping import ColumnMapping
from app.imports.features.reader_process import ReaderProcess, TooCostly
from app.imports.features.reader_program import ReadLimits
from app.imports.features.typed_json import encode_value
from tests.make import square
from tests.make.features import collection, feature

_LIMITS = ReadLimits(45, 450 << 20, 180.0)
_CHOICES = ReadOptions("projects", ColumnMapping({"name": "name", "external_id": "code"}))
_CANDIDATE = {
    "number": 1, "name": "Alpine", "columns": {"external_id": "A"}, "area_m2": 1,
    "own_id": None, "is_numbered": False, "is_plot": False, "geometry": json.dumps(square()),
}  # fmt: skip
_LAYER = {
    "name": "a", "features": 1, "columns": ["b"], "crs": None, "accuracy": 0, "geometry": None,
}  # fmt: skip


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "forests.geojson"
    bow = {"type": "Polygon", "coordinates": [[[0, 0], [1, 1], [1, 0], [0, 1], [0, 0]]]}
    file.write_bytes(
        collection(feature(square(), name="Alpine", code="A", a=[1.5, None]), feature(bow, b=1))
    )
    return file


@pytest.fixture
def replace_program(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Let readers run some other code."""
    parents = []

    def replace(code: str) -> None:
        start = (
            "import itertools, json, os, signal, sys, time; sys.path.insert(0, sys.argv[1])\n"
            "from app.imports.features.reader_program import fork_readers\n"
            f"def read(*_):\n{textwrap.indent(code, ' ')}\n"
            "fork_readers(read)"
        )
        parents.append(reader_process._Parent())
        monkeypatch.setattr(reader_process, "START", start)
        monkeypatch.setattr(reader_process, "_parent", parents[-1])

    yield replace
    for parent in parents:
        parent.end()


def reading(path: Path, limits: ReadLimits | None = _LIMITS) -> ReaderProcess:
    return ReaderProcess(path, lambda: None, limits)


@pytest.mark.parametrize("limits", [_LIMITS, None])
def test_a_file_is_read(path: Path, limits: ReadLimits | None) -> None:
    with reading(path, limits) as process:
        opened = process.open()
        (layer,) = opened.layers
        scan = process.scan(layer, None, 10)
        names = process.repeated_names(layer, None, "name")
        ((item, bow),) = process.features(layer, None, _CHOICES)
        assert process.notes() == []
    assert (opened.format, layer.name, layer.columns) == (
        "geojson",
        "forests",
        ("name", "code", "a", "b"),
    )
    assert (scan.features, scan.columns["code"].filled, scan.columns["code"].samples) == (
        2,
        1,
        ["A"],
    )
    assert names == set()
    assert isinstance(item, Candidate)
    assert item.boundary is not None
    assert (item.name, item.external_id, item.boundary.positions) == ("Alpine", "A", 5)
    assert isinstance(bow, RejectedFeature)
    assert bow.problems[-1].code == "self_intersection"


def test_only_columns_that_are_imported_are_read_again(path: Path) -> None:
    reader, asked = open_file(path), list[set[str]]()

    def read_features(layer: Layer, _: str | None) -> Iterator[SourceFeature]:
        asked.append({*layer.columns})
        return iter(())

    reader.read_features = read_features  # type: ignore[method-assign]
    columns = "name", "code", "a", "b", "id"
    sent = [
        replace(reader.layers[0], columns=columns),
        ReadOptions("projects", ColumnMapping({"name": "name"}, ("a",))),
    ]
    layer, options = json.loads(encode_value(sent))
    file = reader_program._OpenFile(reader)
    assert [*reader_program._read_features(file, layer, None, options)] == [[]]
    assert [*reader_program._repeated_names(file, layer, None, "code", None)] == [[]]
    assert asked == [{"name", "a", "id"}, {"code"}]


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="of Linux")
def test_the_process_has_nothing_of_the_worker(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_KEY", "a secret of the worker's")
    leaked = os.open(path, os.O_RDONLY)
    os.set_inheritable(leaked, True)
    try:
        with reading(path) as process:
            process.open()
            process._pid = process._receive_number(5.0)  # its id is told first
            folder = Path(f"/proc/{process._pid}")
            status = dict(
                line.split(":", 1) for line in (folder / "status").read_text().splitlines()
            )
            environ = (folder / "environ").read_bytes()
            descriptors = {int(each.name) for each in (folder / "fd").iterdir()}
            niceness = os.getpriority(os.PRIO_PROCESS, process._pid)
    finally:
        os.close(leaked)
    assert environ == b"OPENBLAS_NUM_THREADS=1\0"
    assert leaked not in descriptors
    assert len(descriptors) <= 4  # standard input, output and errors, and the file
    assert status["NoNewPrivs"].strip() == "1"
    assert niceness > os.getpriority(os.PRIO_PROCESS, 0)


def test_the_program_has_no_code_that_reaches_others() -> None:
    code = "import app.imports.features.reader_program, sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    others = {"flask", "sqlalchemy", "redis", "psycopg", "config", "app.models", "app.api"}
    assert not others & {*done.stdout.decode().split()}


def test_what_takes_too_long_ends(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader_process, "POLL_SECONDS", 0.0)
    with reading(path, ReadLimits(45, 450 << 20, -1.0)) as process, pytest.raises(TooCostly):
        process.open()


@pytest.mark.parametrize(
    ("code", "expected", "message"),
    [
        ("os.kill(os.getpid(), signal.SIGXCPU)", TooCostly, "too long"),
        ("os.kill(os.getpid(), signal.SIGKILL)", TooCostly, "too much memory"),
        ("sys.exit(1)", FileInvalid, "An error in the service"),
    ],
)
def test_what_the_process_died_of_is_told(
    path: Path,
    code: str,
    expected: type[FileInvalid],
    message: str,
    replace_program: Callable[[str], None],
) -> None:
    replace_program(code)
    with reading(path) as process, pytest.raises(FileInvalid, match=message) as raised:
        process.open()
    assert raised.type is expected


@dataclass
class Answering:
    """Stands in for the processes: it gives one answer, whatever it is asked."""

    answer: bytes

    def fork(self, _: ReadLimits | None, source: int, target: int, control: int) -> None:
        os.write(target, len(self.answer).to_bytes(4) + self.answer)


def answered(monkeypatch: pytest.MonkeyPatch, answer: bytes) -> None:
    monkeypatch.setattr(reader_process, "_parent", Answering(answer))


def test_an_answer_of_another_shape_fails(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for answer in (
        b"",
        b"pickle",
        b"[" * 10_000,
        b"null",
        b"[true]",
        b"[true, null]",
        b'["true", {"format": "geojson", "layers": []}]',
        b'[true, {"format": "else", "layers": []}]',
        b'[true, {"format": "geojson", "layers": {}}]',
        json.dumps([True, {"format": "geojson", "layers": [_LAYER | {"name": 1}]}]).encode(),
        json.dumps([True, {"format": "geojson", "layers": [_LAYER | {"features": "1"}]}]).encode(),
        json.dumps([True, {"format": "geojson", "layers": [_LAYER | {"columns": [1]}]}]).encode(),
        json.dumps([True, {"format": "csv", "layers": [_LAYER | {"crs": "x" * 20_001}]}]).encode(),
        b"[false, 5, true]",
        b'[false, "a message"]',
    ):
        answered(monkeypatch, answer)
        with reading(path) as process, pytest.raises(FileInvalid, match="An error in the service"):
            process.open()


def test_an_answer_without_an_end_is_not_waited_for(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader_process, "ANSWER_BYTES", 100)
    answered(monkeypatch, b"x" * 101)
    with reading(path) as process, pytest.raises(TooCostly):
        process.open()


@pytest.mark.skipif(sys.platform != "linux", reason="macOS has other limits")
def test_the_process_cannot_raise_its_limits(path: Path) -> None:
    with reading(path) as process:
        process.open()
        process._pid = process._receive_number(5.0)
        pid = process._pid
        data = resource.prlimit(pid, resource.RLIMIT_DATA)
        assert data[0] == data[1] != resource.RLIM_INFINITY
        assert resource.prlimit(pid, resource.RLIMIT_CPU) == (45, 46)


@pytest.mark.parametrize(
    ("bound", "most", "expected"),
    [
        ("FEATURES", 3, "each point counts as one"),
        ("ANSWERS_BYTES", 2000, "too much memory"),
        ("TOTAL_WAIT_SECONDS", 0.5, "too long"),
    ],
)
def test_answers_without_an_end_are_not_taken(
    path: Path,
    bound: str,
    most: float,
    expected: str,
    replace_program: Callable[[str], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with reading(path) as process:
        layer = process.open().layers[0]
    code = (
        "os.read(0, 4)\n"
        "for n in itertools.count(1):\n"
        f"  answer = json.dumps([True, [{_CANDIDATE!r} | {{'number': n}}]]).encode()\n"
        "  os.write(1, len(answer).to_bytes(4) + answer); time.sleep(0.1)"
    )
    replace_program(code)
    monkeypatch.setattr(reader_process, bound, most)
    with reading(path) as process, pytest.raises(FileInvalid, match=expected):
        for _, _ in zip(range(50), process.features(layer, None, _CHOICES), strict=False):
            pass


def test_an_answer_in_drops_is_not_waited_for(
    path: Path, replace_program: Callable[[str], None]
) -> None:
    replace_program("for _ in range(50): os.write(1, b'\\0\\0\\1'); time.sleep(0.1)")
    with reading(path, ReadLimits(45, 450 << 20, 0.5)) as process, pytest.raises(TooCostly):
        process.open()


def test_long_texts_are_not_taken(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answered(monkeypatch, json.dumps([False, "x" * 10_000, False]).encode())
    with reading(path) as process, pytest.raises(FileInvalid) as raised:
        process.open()
    assert len(str(raised.value)) == 2000
    answered(monkeypatch, json.dumps([True, ["x" * 3000, *"y" * 200]]).encode())
    with reading(path) as process:
        assert process.notes() == ["x" * 2000, *"y" * 99]


def test_a_feature_of_another_shape_fails(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with reading(path) as process:
        layer = process.open().layers[0]

    def features(change: dict[str, Any]) -> Any:
        answered(monkeypatch, json.dumps([True, [_CANDIDATE | change]]).encode())
        with reading(path) as process:
            return next(process.features(layer, None, _CHOICES))

    (item,) = features({})
    assert isinstance(item, Candidate)
    changes: list[dict[str, Any]] = [
        {"number": "1"},
        {"number": 0},
        {"name": "x" * 201},
        {"columns": {"description": "x" * 20_000}},
        {"geometry": "{}"},
        {"geometry": '{"type": "Polygon", "coordinates": [[["a", 0]]]}'},
        {"name": 1},
        {"own_id": 1},
        {"is_numbered": 0},
        {"is_plot": 0},
        {"is_plot": True},  # points were not to become plots
        {"columns": {"account_id": "acct_other"}},
        {"columns": []},
        {"area_m2": "1"},
        {"geometry": '"x"'},
        {"geometry": '{"type":"Point","coordinates":["a",0]}'},
        {"problems": [{"code": 1}], "name": "a", "geometry": None, "is_plot": False},
    ]
    for change in changes:
        with pytest.raises(FileInvalid, match="An error in the service"):
            features(change)


def test_a_parent_that_died_is_started_again(path: Path) -> None:
    with reading(path) as process:
        process.open()
    assert reader_process._parent._process is not None
    reader_process._parent._process.kill()
    reader_process._parent._process.wait()
    with reading(path) as process:
        assert process.open().format == "geojson"


def test_readers_end_with_what_they_were_asked_for(path: Path) -> None:
    with reading(path) as process:
        process.open()
        pid = process._pid = process._receive_number(5.0)
        assert pid is not None
        os.kill(pid, 0)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_points_of_a_feature_may_not_copy_long_values_without_end(tmp_path: Path) -> None:
    options = ReadOptions("assets", ColumnMapping({}))
    for points, fits in ((20, True), (22, False)):
        path = tmp_path / "trees.geojson"
        geometry = {"type": "MultiPoint", "coordinates": [[10, 47]] * points}
        path.write_bytes(collection(feature(geometry, a="x" * 1_000_000)))
        with ReaderProcess(path, lambda: None, _LIMITS) as process:
            (layer,) = process.open().layers
            if fits:
                assert sum(map(len, process.features(layer, None, options))) == points
            else:
                with pytest.raises(FileInvalid, match="more than 20 MiB"):
                    list(process.features(layer, None, options))

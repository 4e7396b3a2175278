"""The program that reads a file for ``reader_process``.

The file comes from a stranger, and so does the cost of reading it, and perhaps the code that this
process runs in the end. So each file is read in a process of its own, forked from one that has
loaded this program and nothing else: it has none of the worker's memory, descriptors or
environment, opens no connection, and can gain no privileges.

A question comes on standard input, and its answers go to standard output: each is JSON, with its
length in four bytes before it. An answer is ``[true, …]``, or ``[false, a message, whether reading
took too much]``.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import resource
import signal
import socket
import sys
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from functools import partial
from itertools import islice
from pathlib import Path
from struct import Struct
from typing import Any, Final, NamedTuple, NoReturn

from app.formats.features import FileInvalid, FormatReader, Layer, SourceFeature
from app.formats.readers.opening import open_file
from app.geometry.timed import processor_seconds
from app.geometry.timed_program import read_message, write_message
from app.imports.features.candidates import (
    Candidate,
    ReadOptions,
    RejectedFeature,
    check_feature,
    cut_name,
    feature_name,
    stored_values,
)
from app.imports.features.corners import JoinedCorners
from app.imports.features.geometries import Note, by_kind, kind_of, points_of
from app.imports.features.mapping import ColumnMapping, LayerScan
from app.imports.features.producers import Producers
from app.imports.features.text_changes import TextChanges
from app.policy.files import NAMES_LENGTH
from app.policy.imports import BATCH_BYTES, BATCH_FEATURES, PROBLEMS
from app.values.batching import batched_by_bytes
from app.values.text import fold

TOO_LARGE: Final = "Reading this file takes too much memory. Split it into several files."
TOO_SLOW: Final = "Reading this file takes too long. Simplify it, or split it into several files."
LIMITS: Final = Struct("!qq")  # seconds and bytes of ``ReadLimits``, as a request has them
NUMBER: Final = Struct("!i")  # a process id, an exit code
_LOOKED_AT: Final = ("shp", "gpkg")  # of other formats all of the file would be read
_LOOKS: Final = 20  # features
_DIVIDED: Final = "A feature of several points became as many assets, with numbers in their names."
_NICENESS: Final = 5  # requests come first
_NO_NEW_PRIVILEGES: Final = 38  # PR_SET_NO_NEW_PRIVS of prctl, on Linux


class OpenOptions(NamedTuple):
    """How a person wants a file to be read. ``swap``: x and y change places. ``corners_by``: points
    are corners of areas (``JoinedCorners``); None: they are points. ``geometry``: the columns with
    the geometries (``FormatReader.choose_geometry``)."""

    swap: bool = False
    corners_by: str | None = None
    geometry: Mapping[str, str] = {}


NO_OPTIONS: Final = OpenOptions()


class ReadLimits(NamedTuple):
    """What reading a file may take: seconds of processor time, bytes of memory, and the seconds
    that the worker waits for one answer, however long the program is held up."""

    seconds: int
    memory: int
    wait_seconds: float


def fork_readers(read: Callable[[int, int], None]) -> None:
    """Fork a process that calls ``read`` for each request on the socket that is standard input,
    until that is closed.

    A request is the two numbers of ``LIMITS`` with three descriptors: the standard input and output
    of the new process, and a socket, to which its id is sent, and its exit code when it has ended.
    """
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # leaves nothing to wait for
    gc.freeze()
    with socket.socket(fileno=0) as requests:
        while True:
            message, descriptors, _, _ = socket.recv_fds(requests, LIMITS.size, 3)
            if not message:
                return
            if not os.fork():
                requests.close()
                _fork_reader(descriptors, partial(read, *LIMITS.unpack(message)))
            for descriptor in descriptors:
                os.close(descriptor)


def _fork_reader(descriptors: list[int], read: Callable[[], None]) -> NoReturn:
    """Fork a reader, wait for it and send its exit code."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    code = 1
    try:
        child = os.fork()
        if child:
            with socket.socket(fileno=descriptors.pop()) as control:
                control.sendall(NUMBER.pack(child))
                _, status = os.waitpid(child, 0)
                control.sendall(NUMBER.pack(os.waitstatus_to_exitcode(status)))
        else:
            for number, descriptor in enumerate(descriptors[:2]):
                os.dup2(descriptor, number)
            for descriptor in descriptors:
                os.close(descriptor)
            read()
        code = 0
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else 1
    except Exception:
        traceback.print_exc()
    finally:
        os._exit(code)


def answer_questions(seconds: int, memory: int) -> None:
    """Answer questions until there are no more, within ``ReadLimits``; 0 seconds: without any."""
    _restrict()
    if seconds:
        _bound_resources(seconds, memory)
    with suppress(BrokenPipeError):  # the worker has died
        _Answers(seconds or float("inf")).run()


class _Answers:
    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._reader: FormatReader | None = None

    def run(self) -> None:
        while question := read_message(sys.stdin.fileno()):
            name, *arguments = json.loads(question)
            try:
                for answer in self._answers(name, arguments):
                    _send([True, answer])
                    # The system does not count what GEOS took in another process.
                    if processor_seconds() > self._seconds:
                        _send([False, TOO_SLOW, True])
                        break
            except FileInvalid as error:
                _send([False, str(error), False])
            except MemoryError:
                _send([False, TOO_LARGE, True])

    def _answers(self, name: str, arguments: list[Any]) -> Iterator[Any]:
        if name == "open":
            path, ways = arguments
            self._reader = reader = _read_as(open_file(Path(path)), OpenOptions(**ways))
            layers = list(reader.layers)
            if sum(len(name) for layer in layers for name in layer.columns) <= NAMES_LENGTH:
                layers = [replace(layer, geometry=_geometry(reader, layer)) for layer in layers]
            yield {"format": reader.format, "layers": list(map(asdict, layers))}
        elif self._reader is not None:
            yield from _ANSWERS[name](self._reader, *arguments)


def _read_as(reader: FormatReader, ways: OpenOptions) -> FormatReader:
    reader.is_swapped = ways.swap
    if ways.geometry:
        reader.choose_geometry(ways.geometry)
    return reader if ways.corners_by is None else JoinedCorners(reader, ways.corners_by)


def _send(answer: list[Any]) -> None:
    write_message(sys.stdout.fileno(), json.dumps(answer).encode())


def _geometry(reader: FormatReader, layer: Layer) -> str | None:
    """What the first features of a layer are, where it is one of several, and looking is cheap."""
    if reader.format not in _LOOKED_AT or len(reader.layers) < 2:
        return None
    notes, found = list(reader.notes), None
    with suppress(FileInvalid):
        features = islice(reader.read(layer), _LOOKS)
        found = next((kind_of(one.geometry) for one in features if one.geometry), None)
    reader.notes[:] = notes  # those of the features come when all are read
    return found


def _layer(value: Mapping[str, Any]) -> Layer:
    lists = {name: tuple(value[name]) for name in ("columns", "geometry_columns")}
    return Layer(**{**value, **lists})


def _scan(
    reader: FormatReader, layer: dict[str, Any], crs: str | None, most: int | None
) -> Iterator[Any]:
    scan = LayerScan()
    for feature in reader.read(_layer(layer), crs):
        scan.add(feature)
        if most is not None and scan.features > most:
            raise FileInvalid(
                f"The layer {layer['name']!r} has more than {most:,} features. Split the file into "
                "several."
            )
    for use in scan.columns.values():
        use.last = None  # it may be long
    yield asdict(scan)


def _repeated_names(
    reader: FormatReader,
    layer: dict[str, Any],
    crs: str | None,
    column: str | None,
    of_points: bool | None,
) -> Iterator[list[str]]:
    names = Counter(
        fold(cut_name(feature_name(feature.properties, column)))
        for feature in reader.read(_layer(layer), crs)
        if of_points in (None, kind_of(feature.geometry or {}) == "points")
    )
    yield [name for name, number in names.items() if number > 1]


def _features(
    reader: FormatReader, layer: dict[str, Any], crs: str | None, choices: dict[str, Any]
) -> Iterator[list[Any]]:
    chosen = ReadOptions(**{**choices, "mapping": ColumnMapping(**choices["mapping"])})
    features = reader.read(_layer(layer), crs)
    producers = Producers()
    features = map(producers.counted, features)
    if chosen.kind == "assets" or chosen.points_as_plots:
        features = _single_points(features, reader.note, is_mixed=chosen.points_as_plots)
    prepared = (check_feature(feature, chosen, reader.note) for feature in features)
    changes = TextChanges()
    # Lists that are short enough for one transaction: other writers wait for it.
    for batch in batched_by_bytes(prepared, _geometry_bytes, BATCH_BYTES, BATCH_FEATURES):
        for item in batch:
            changes.add(item)
        yield list(map(_as_json, batch))
    for note in (*changes.notes(chosen), *producers.notes()):
        reader.note(note)
    yield []


def _single_points(
    features: Iterator[SourceFeature], note: Note, *, is_mixed: bool
) -> Iterator[SourceFeature]:
    """Yield a feature for each point of one that has several, numbered behind its name; where
    points and areas are read, also for all else of a collection with points."""
    number = 0
    for feature in features:
        geometry = feature.geometry or {}
        others, points = by_kind(geometry) if is_mixed else (None, points_of(geometry))
        if len(points) + (others is not None) < 2 or feature.problems:
            number += 1
            one = points[0] if is_mixed and points else feature.geometry
            yield replace(feature, number=number, geometry=one)
            continue
        note(_DIVIDED)
        if others is not None:
            number += 1
            yield replace(feature, number=number, geometry=dict(others))
        for part, point in enumerate(points, start=1):
            number += 1
            yield replace(feature, number=number, geometry=point, part=part)


def _as_json(item: Candidate | RejectedFeature) -> dict[str, Any]:
    if isinstance(item, RejectedFeature):
        return asdict(replace(item, problems=item.problems[:PROBLEMS]))
    geometry = item.boundary or item.location
    values = stored_values(item)
    return {
        "number": item.number,
        "values": values,
        "geometry": None if geometry is None else geometry.text,
    }


def _notes(reader: FormatReader) -> Iterator[list[str]]:
    yield reader.notes


_ANSWERS: Final[dict[str, Callable[..., Iterator[Any]]]] = {
    "scan": _scan,
    "repeated_names": _repeated_names,
    "features": _features,
    "notes": _notes,
}


def _geometry_bytes(item: Candidate | RejectedFeature) -> int:
    if isinstance(item, RejectedFeature):
        return len(item.shape or "")
    return 0 if item.boundary is None else len(item.boundary.text)


def _restrict() -> None:
    """Let other processes come first, and gain no privileges, where the system can do that."""
    os.nice(_NICENESS)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)


def _bound_resources(seconds: int, memory: int) -> None:
    """Let this process fail when it takes too much, whatever it runs. Linux only; macOS has other
    limits."""
    data = _memory_in_use() + memory
    for kind, soft, most in (
        (resource.RLIMIT_DATA, data, data),
        (resource.RLIMIT_CPU, seconds, seconds + 1),  # so that the signal says which limit it was
        (resource.RLIMIT_CORE, 0, 0),
    ):
        _, hard = resource.getrlimit(kind)
        with suppress(ValueError, OSError):
            allowed = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.setrlimit(kind, (min(soft, allowed), allowed))


def _memory_in_use() -> int:
    """The bytes of data of this process."""
    with suppress(OSError):
        fields = Path("/proc/self/statm").read_text().split()
        return int(fields[5]) * os.sysconf("SC_PAGE_SIZE")
    return 0

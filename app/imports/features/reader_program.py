"""The program that reads a file for ``reader_process``.

The file comes from a stranger: it may be costly to read, or make the process run its code. So each
file is read in a separate process, forked from one that has loaded only this program: it has none
of the worker's memory, descriptors or environment, opens no connection, and can gain no privileges.

Questions come on standard input, answers go to standard output, both as JSON after its length in
four bytes. An answer is ``[true, value]`` or ``[false, message, is too costly]``.
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
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from struct import Struct
from typing import Any, Final, NamedTuple, NoReturn

from app.formats.encodings import TWICE, WESTERN, Guess, likely_encodings
from app.formats.features import (
    AS_IN_FILE,
    AsRead,
    FileInvalid,
    FormatReader,
    Layer,
    Letters,
    SourceFeature,
)
from app.formats.positions import first_position, is_degrees
from app.formats.readers.opening import open_file
from app.geometry.countries import country_at
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
from app.imports.features.corners import joined_corners
from app.imports.features.double_encoding import DoubleEncodedReader
from app.imports.features.geometries import Note, geometry_kind, points_of, split_points
from app.imports.features.layer_notes import TextChanges
from app.imports.features.mapping import LayerScan, shorten_value
from app.imports.features.typed_json import decode_value, encode_value
from app.policy.files import COPIED_BYTES, NAMES_LENGTH
from app.policy.imports import BATCH_BYTES, BATCH_FEATURES, OPTIONS, SAMPLES
from app.values.batching import batched_by_bytes
from app.values.folding import fold_text

TOO_LARGE: Final = "Reading this file takes too much memory. Split it into several files."
TOO_SLOW: Final = "Reading this file takes too long. Simplify it, or split it into several files."
LIMITS: Final = Struct("!qq")  # seconds and bytes of ``ReadLimits`` in a request
NUMBER: Final = Struct("!i")  # a process id, an exit code
_RANDOM_ACCESS: Final = ("shp", "gpkg")  # a few features are read without the rest of the file
_SAMPLED_FEATURES: Final = 20
# Columns that are looked at whether or not they are imported.
_READ: Final = frozenset({"id", "project_id"})
_DIVIDED: Final = "A feature of several points became as many assets, with numbers in their names."
_NICENESS: Final = 5  # requests come first
_NO_NEW_PRIVILEGES: Final = 38  # PR_SET_NO_NEW_PRIVS of prctl, on Linux


class OpenOptions(NamedTuple):
    """How to open a file. ``swap``: x and y change places. ``corners_by``: points are corners of
    areas (``joined_corners``); None: they are points. ``geometry``: the columns with the geometries
    (``FormatReader.choose_geometry``). ``encoding``: of the texts; None: the file's, or the usual
    one where the shapes are by the system ``crs``, else in ``countries``. ``letters`` and
    ``zone_letter``: what letters with two meanings mean."""

    swap: bool = False
    corners_by: str | None = None
    geometry: Mapping[str, str] = {}
    encoding: str | None = None
    crs: str | None = None
    countries: Sequence[str] = ()
    letters: Mapping[str, str] | None = None
    zone_letter: str | None = None


NO_OPTIONS: Final = OpenOptions()


@dataclass(frozen=True, slots=True)
class OpenedFile:
    """The format and the layers of a file. ``guesses``: what a guessed encoding may be, the
    likeliest first. ``choices``: the columns with the geometries, and others that can be meant."""

    format: str
    layers: tuple[Layer, ...]
    guesses: tuple[Guess, ...] = ()
    choices: tuple[dict[str, str], ...] = ()


class ReadLimits(NamedTuple):
    """Limits of reading a file: seconds of processor time, bytes of memory, and seconds that the
    worker waits for one answer."""

    seconds: int
    memory: int
    wait_seconds: float


def fork_readers(read: Callable[[int, int], None]) -> None:
    """Fork a process that calls ``read`` for each request on the socket that is standard input,
    until that is closed.

    A request is the two numbers of ``LIMITS`` with three descriptors: standard input and output of
    the new process, and a socket for its process id and, at the end, its exit code.
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
            # The worker may not have waited for the end.
            with suppress(BrokenPipeError), socket.socket(fileno=descriptors.pop()) as control:
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
    """Answer questions until standard input is closed. 0 seconds: without limits."""
    _restrict_process()
    if seconds:
        _limit_resources(seconds, memory)
    with suppress(BrokenPipeError):  # the worker has died
        _QuestionLoop(seconds or float("inf")).run()


class _OpenFile(NamedTuple):
    reader: FormatReader
    corners_by: str | None = None

    def read_features(self, layer: Layer, crs: str | None) -> Iterator[SourceFeature]:
        if self.corners_by is None:
            return self.reader.read_features(layer, crs)
        return joined_corners(self.reader, layer, crs, self.corners_by)


class _QuestionLoop:
    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._file: _OpenFile | None = None

    def run(self) -> None:
        while question := read_message(sys.stdin.fileno()):
            name, *arguments = json.loads(question)
            try:
                for answer in self._answers(name, arguments):
                    _send_answer([True, answer])
                    # RLIMIT_CPU does not count GEOS, which runs in another process.
                    if processor_seconds() > self._seconds:
                        _send_answer([False, TOO_SLOW, True])
                        break
            except FileInvalid as error:
                _send_answer([False, str(error), False])
            except MemoryError:
                _send_answer([False, TOO_LARGE, True])

    def _answers(self, name: str, arguments: list[Any]) -> Iterator[Any]:
        if name == "open":
            path, options = arguments
            reader, guesses = _opened(Path(path), OpenOptions(*options))
            self._file = _OpenFile(reader, OpenOptions(*options).corners_by)
            layers = reader.layers
            if sum(len(name) for layer in layers for name in layer.columns) <= NAMES_LENGTH:
                layers = tuple(
                    replace(layer, geometry=_first_geometry_kind(reader, layer)) for layer in layers
                )
            yield OpenedFile(reader.format, layers, tuple(guesses), reader.geometry_choices)
        elif self._file is not None:
            yield from _ANSWERS[name](self._file, *arguments)


def _opened(path: Path, options: OpenOptions) -> tuple[FormatReader, list[Guess]]:
    """Open a file, and guess its encoding if it does not say it and nobody has."""
    given = None if options.encoding == TWICE else options.encoding
    letters = Letters((options.letters or {}).get("O"), options.zone_letter)
    how = AsRead(given, letters=letters)
    reader = open_file(path, how)
    if not reader.unknown or options.encoding:
        return _with_options(reader, options), []
    reader.is_swapped = options.swap
    countries = _countries(reader, options.crs) or options.countries
    guesses = likely_encodings(reader.unknown, countries)[:OPTIONS]
    if guesses[0].name != WESTERN:
        reader.close()
        reader = open_file(path, how._replace(guess=guesses[0].name))
    return _with_options(reader, options), [
        Guess(each.name, [shorten_value(text) for text in dict.fromkeys(each.samples)][:SAMPLES])
        for each in guesses
    ]


def _countries(reader: FormatReader, crs: str | None) -> set[str]:
    """The countries of the first shapes of a file, as far as they are known."""
    features = (each for layer in reader.layers for each in _first_features(reader, layer, crs))
    positions = filter(None, (first_position(feature.geometry) for feature in features))
    found = {country_at(*position) for position in positions if is_degrees(position)}
    return {country for country in found if country}


def _first_features(reader: FormatReader, layer: Layer, crs: str | None) -> list[SourceFeature]:
    """A few features of a layer, as far as they can be read, without notes on them."""
    notes, features = list(reader.notes), list[SourceFeature]()
    with suppress(FileInvalid):
        features += islice(reader.read_features(layer, crs), _SAMPLED_FEATURES)
    reader.notes[:] = notes  # they are complete when all features are read
    return features


def _with_options(reader: FormatReader, options: OpenOptions) -> FormatReader:
    reader.is_swapped = options.swap
    if options.geometry:
        reader.choose_geometry(options.geometry)
    if options.encoding == TWICE:
        reader = DoubleEncodedReader(reader)
    return reader


def _send_answer(answer: list[Any]) -> None:
    write_message(sys.stdout.fileno(), encode_value(answer))


def _first_geometry_kind(reader: FormatReader, layer: Layer) -> str | None:
    """The kind of the first geometry of a layer, where a file has several layers and this is
    cheap."""
    if reader.format not in _RANDOM_ACCESS or len(reader.layers) < 2:
        return None
    geometries = (feature.geometry for feature in _first_features(reader, layer, AS_IN_FILE))
    return next((geometry_kind(geometry) for geometry in geometries if geometry), None)


def _scan_import_layer(
    file: _OpenFile, sent_layer: Any, crs: str | None, max_features: int | None
) -> Iterator[LayerScan]:
    scan, layer = LayerScan(), decode_value(Layer, sent_layer)
    for feature in file.read_features(layer, crs):
        scan.add(feature)
        if max_features is not None and scan.features > max_features:
            raise FileInvalid(
                f"The layer {layer.name!r} has more than {max_features:,} features. Split the "
                "file into several."
            )
    for use in scan.columns.values():
        use.last, use.seen = None, {}  # they may be long
    scan.secret = [name for name, use in scan.columns.items() if use.is_secret]
    for name in scan.secret:
        del scan.columns[name]
    yield scan


def _repeated_names(
    file: _OpenFile, layer: Any, crs: str | None, column: str | None, of_points: bool | None
) -> Iterator[list[str]]:
    named = replace(decode_value(Layer, layer), columns=(column or "",))
    names = Counter(
        fold_text(cut_name(feature_name(feature.properties, column)))
        for feature in file.read_features(named, crs)
        if of_points in (None, geometry_kind(feature.geometry or {}) == "points")
    )
    yield [name for name, number in names.items() if number > 1]


def _read_features(
    file: _OpenFile, layer: Any, crs: str | None, sent_options: Any
) -> Iterator[list[Any]]:
    options: ReadOptions = decode_value(ReadOptions, sent_options)
    changes, note = TextChanges(), file.reader.note
    read: Layer = decode_value(Layer, layer)
    columns = [name for name in read.columns if name in _READ or options.imports(name)]
    read = replace(read, columns=tuple(columns))
    features = file.read_features(read, crs)
    if options.kind == "assets" or options.points_as_plots:
        features = _single_points(features, note, is_mixed=options.points_as_plots)
    checked = (check_feature(feature, options, note) for feature in features)
    # Each list fits into one transaction.
    for batch in batched_by_bytes(checked, _geometry_bytes, BATCH_BYTES, BATCH_FEATURES):
        for feature in batch:
            changes.add(feature)
        yield list(map(_sent_feature, batch))
    for change in changes.notes(options):
        note(change)
    yield []


def _single_points(
    features: Iterator[SourceFeature], note: Note, *, is_mixed: bool
) -> Iterator[SourceFeature]:
    """Yield a numbered feature for each point of a feature with several.

    Args:
        is_mixed: points and areas are read, so the rest of a collection is a feature too.

    Raises:
        FileInvalid: the values of features that become many are too long.
    """
    number, copied = 0, 0
    for feature in features:
        geometry = feature.geometry or {}
        others, points = split_points(geometry) if is_mixed else (None, points_of(geometry))
        if len(points) + (others is not None) < 2 or feature.problems:
            number += 1
            single = points[0] if is_mixed and points else feature.geometry
            yield replace(feature, number=number, geometry=single)
            continue
        note(_DIVIDED)
        copied += len(points) * len(json.dumps(feature.properties))
        if copied > COPIED_BYTES:
            raise FileInvalid(
                "Each point of a feature becomes an asset with all of its values, which would be "
                f"more than {COPIED_BYTES // 2**20} MiB. Divide the file, or shorten the values."
            )
        if others is not None:
            number += 1
            yield replace(feature, number=number, geometry=dict(others))
        for part, point in enumerate(points, start=1):
            number += 1
            yield replace(feature, number=number, geometry=point, part=part)


def _sent_feature(feature: Candidate | RejectedFeature) -> RejectedFeature | dict[str, Any]:
    if isinstance(feature, RejectedFeature):
        return feature
    return {"number": feature.number, "geometry": feature.geometry, **stored_values(feature)}


def _reader_notes(file: _OpenFile) -> Iterator[list[str]]:
    yield file.reader.notes


_ANSWERS: Final[dict[str, Callable[..., Iterator[Any]]]] = {
    "scan": _scan_import_layer,
    "repeated_names": _repeated_names,
    "features": _read_features,
    "notes": _reader_notes,
}


def _geometry_bytes(feature: Candidate | RejectedFeature) -> int:
    return len(feature.geometry or "")


def _restrict_process() -> None:
    """Lower the priority, and give up gaining privileges on Linux."""
    os.nice(_NICENESS)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)


def _limit_resources(seconds: int, memory: int) -> None:
    """Let the system end this process when it exceeds its limits. Linux only."""
    data = _memory_in_use() + memory
    for kind, soft, hard in (
        (resource.RLIMIT_DATA, data, data),
        (resource.RLIMIT_CPU, seconds, seconds + 1),  # SIGXCPU first: it says which limit it was
        (resource.RLIMIT_CORE, 0, 0),
    ):
        _, present_hard = resource.getrlimit(kind)
        with suppress(ValueError, OSError):
            allowed = hard if present_hard == resource.RLIM_INFINITY else min(hard, present_hard)
            resource.setrlimit(kind, (min(soft, allowed), allowed))


def _memory_in_use() -> int:
    """The bytes of data of this process; 0 if the system does not say."""
    with suppress(OSError):
        pages = int(Path("/proc/self/statm").read_text().split()[5])
        return pages * os.sysconf("SC_PAGE_SIZE")
    return 0

"""Reading a file in a separate process (``reader_program``), with limits of memory, processor time
and wall clock. It answers questions one by one, and is killed at the end.

Its answers are checked as if a stranger had sent them.
"""

from __future__ import annotations

import atexit
import json
import logging
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from types import TracebackType
from typing import Any, Final, TypeVar

import orjson

from app.formats.features import FileInvalid, Layer
from app.geometry import read_point
from app.geometry.problems import Problem
from app.geometry.timed_program import write_message
from app.imports.features.candidates import (
    Candidate,
    ReadOptions,
    RejectedFeature,
    imported_columns,
    stored_candidate,
)
from app.imports.features.mapping import ColumnUse, LayerScan
from app.imports.features.reader_program import (
    LIMITS,
    NO_OPTIONS,
    NUMBER,
    TOO_LARGE,
    TOO_SLOW,
    OpenOptions,
    ReadLimits,
)
from app.policy.bounds import METADATA_BYTES, NAME_LENGTH
from app.policy.files import (
    ANSWER_BYTES,
    ANSWERS_BYTES,
    CRS_LENGTH,
    FEATURES,
    FORMATS_IN,
    NAMES_LENGTH,
    TOTAL_WAIT_SECONDS,
)
from app.policy.imports import SAMPLE_LENGTH

log = logging.getLogger(__name__)

T = TypeVar("T")

_POLL_SECONDS: Final = 2.0
_PIECE_BYTES: Final = 1024 * 1024
_OPERATOR_ANSWER_BYTES: Final = 128 * 1024 * 1024
_MESSAGE_LENGTH: Final = 2000
_NOTES: Final = 100
_END_SECONDS: Final = 5.0
_TOO_MANY: Final = (
    f"The layer has more than {FEATURES:,} features, where each point counts as one. Split the "
    "file into several."
)
_BROKEN: Final = "An error in the service kept it from reading this file. Its log says more."
_ROOT: Final = Path(__file__).parents[3]
_START: Final = (
    "import sys; sys.path.insert(0, sys.argv[1]);"
    " from app.imports.features.reader_program import answer_questions, fork_readers;"
    " fork_readers(answer_questions)"
)
_SCAN_COUNTS: Final = (
    *("features", "unreadable", "areas", "lines", "points", "nearly_closed"),
    *("collected_points", "in_degrees", "not_degrees", "in_swapped_degrees"),
)
_ENVIRONMENT: Final = {"OPENBLAS_NUM_THREADS": "1"}

Batch = list[Candidate | RejectedFeature]


class TooCostly(FileInvalid):
    """Reading the file exceeds its limits of time or memory."""


@dataclass(frozen=True, slots=True)
class OpenedFile:
    """The format and the layers of a file."""

    format: str
    layers: tuple[Layer, ...]


class _Parent:
    """The process that forks readers. It starts with the first file, and ends with the last process
    that has its socket."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._requests: socket.socket | None = None
        self._owner = 0

    def fork(self, limits: ReadLimits | None, *descriptors: int) -> None:
        """Fork a reader with the descriptors that ``fork_readers`` expects."""
        message = LIMITS.pack(*((0, 0) if limits is None else limits[:2]))
        with self._lock:
            if self._requests is not None:
                with suppress(OSError):  # it was killed
                    socket.send_fds(self._requests, [message], descriptors)
                    return
                self.end()
            self._requests = self._start()
            socket.send_fds(self._requests, [message], descriptors)

    def _start(self) -> socket.socket:
        requests, standard_input = socket.socketpair()
        with standard_input:
            self._process = subprocess.Popen(  # noqa: S603 - our own program
                [sys.executable, "-I", "-c", _START, str(_ROOT)],
                stdin=standard_input.fileno(),
                stdout=subprocess.DEVNULL,
                env=_ENVIRONMENT,
            )
        self._owner = os.getpid()
        return requests

    def end(self) -> None:
        """End the process if this one started it."""
        if self._requests is not None:
            self._requests.close()
            self._requests = None
        process, self._process = self._process, None
        if process is not None and self._owner == os.getpid():
            process.kill()
            process.wait()


_parent: Final = _Parent()
atexit.register(_parent.end)


class ReaderProcess:
    """The process that reads one file. Every method raises FileInvalid if the file cannot be read,
    and TooCostly if reading it exceeds the limits."""

    def __init__(self, path: Path, on_wait: Callable[[], None], limits: ReadLimits | None) -> None:
        """Start the process.

        Args:
            on_wait: called repeatedly while an answer takes long.
            limits: None for a file of the operator.
        """
        self._path = path
        self._on_wait = on_wait
        endless = float("inf")
        self._max_seconds = endless if limits is None else limits.wait_seconds
        self._max_bytes = _OPERATOR_ANSWER_BYTES if limits is None else ANSWER_BYTES
        self._max_features = endless if limits is None else FEATURES
        # For all answers together.
        self._left_seconds = endless if limits is None else TOTAL_WAIT_SECONDS
        self._left_bytes = endless if limits is None else ANSWERS_BYTES
        source, questions = os.pipe()
        answers, target = os.pipe()
        self._questions, self._answers = questions, answers
        self._control, control = socket.socketpair()
        self._pid: int | None = None
        self._code: int | None = None
        _parent.fork(limits, source, target, control.fileno())
        for descriptor in (source, target, control.detach()):
            os.close(descriptor)

    def __enter__(self) -> ReaderProcess:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        """End the process."""
        for descriptor in (self._questions, self._answers):
            os.close(descriptor)
        with self._control, suppress(ProcessLookupError):
            # A process that has not started yet ends by itself: it finds no question.
            if self._exit_code(0.0) is None and self._pid is not None:
                os.kill(self._pid, signal.SIGKILL)
                self._exit_code(_END_SECONDS)

    def _exit_code(self, seconds: float) -> int | None:
        """The exit code, negative for a signal; None: the process has not ended in time."""
        if self._pid is None:
            self._pid = self._receive_number(seconds)
        if self._code is None:
            self._code = self._receive_number(seconds)
        return self._code

    def _receive_number(self, seconds: float) -> int | None:
        self._control.settimeout(seconds)
        with suppress(OSError):  # nothing was sent
            if message := self._control.recv(NUMBER.size):
                return int(NUMBER.unpack(message)[0])
        return None

    def open(self, options: OpenOptions = NO_OPTIONS) -> OpenedFile:
        """Recognize the format, and find the layers."""
        return self._ask(_opened, "open", str(self._path.absolute()), options._asdict())

    def scan(self, layer: Layer, crs: str | None, max_features: int | None) -> LayerScan:
        """Scan how the columns of a layer are used. ``max_features``: None: any number."""
        return self._ask(_scan, "scan", asdict(layer), crs, max_features)

    def repeated_names(
        self, layer: Layer, crs: str | None, column: str | None, of_points: bool | None = None
    ) -> set[str]:
        """The folded names of several features.

        Args:
            of_points: count only points (True), or only others (False).
        """
        return set(self._ask(_texts, "repeated_names", asdict(layer), crs, column, of_points))

    def features(self, layer: Layer, crs: str | None, options: ReadOptions) -> Iterator[Batch]:
        """Yield checked features of a layer, in lists that fit into one transaction."""
        sent_options = asdict(options) | {"ignored": list(options.ignored)}
        self._send("features", asdict(layer), crs, sent_options)
        features, last = 0, 0
        while batch := self._receive(lambda value: _batch(value, options)):
            features += len(batch)
            numbers = [last, *(feature.number for feature in batch)]
            if features > self._max_features:
                raise FileInvalid(_TOO_MANY)
            if any(later <= number for number, later in pairwise(numbers)):
                log.error("the reader process sent features out of order")
                raise FileInvalid(_BROKEN)
            last = numbers[-1]
            yield batch

    def notes(self) -> list[str]:
        """The notes on the layer, after its features were read."""
        notes = self._ask(_texts, "notes")
        return [note[:_MESSAGE_LENGTH] for note in notes[:_NOTES]]

    def _ask(self, read: Callable[[Any], T], *question: Any) -> T:
        self._send(*question)
        return self._receive(read)

    def _send(self, *question: Any) -> None:
        with suppress(BrokenPipeError):  # ``_receive`` says why the process died
            write_message(self._questions, json.dumps(question).encode())

    def _receive(self, read: Callable[[Any], T]) -> T:
        """Return what ``read`` makes of the JSON of the next answer."""
        began = time.monotonic()
        end = began + min(self._max_seconds, self._left_seconds)
        length = int.from_bytes(self._read(4, end))
        self._left_bytes -= length
        if length > self._max_bytes or self._left_bytes < 0:
            raise TooCostly(TOO_LARGE)
        answer = self._read(length, end)
        self._left_seconds -= time.monotonic() - began
        try:
            is_valid, value, *rest = json.loads(answer)
            if is_valid is True:
                return read(value)
            message, is_costly = _typed(str, value)[:_MESSAGE_LENGTH], _typed(bool, *rest)
        except (ArithmeticError, LookupError, RecursionError, TypeError, ValueError):
            log.exception("the reader process sent an invalid answer")
            raise FileInvalid(_BROKEN) from None
        raise TooCostly(message) if is_costly else FileInvalid(message)

    def _read(self, size: int, end: float) -> bytes:
        source, parts = self._answers, bytearray()
        while len(parts) < size:
            is_ready = select.select([source], [], [], _POLL_SECONDS)[0]
            if time.monotonic() > end:
                raise TooCostly(TOO_SLOW)
            if not is_ready:
                self._on_wait()
                continue
            part = os.read(source, min(size - len(parts), _PIECE_BYTES))
            if not part:
                raise self._failure()
            parts += part
        return bytes(parts)

    def _failure(self) -> FileInvalid:
        """The error for a process that ended without an answer."""
        code = self._exit_code(_END_SECONDS)
        if code == -signal.SIGXCPU:
            return TooCostly(TOO_SLOW)
        if code is not None and code < 0:
            return TooCostly(TOO_LARGE)
        return FileInvalid(_BROKEN)  # an exception, or only its pipe was closed


def _typed(kind: type[T], value: Any) -> T:
    """Return the value. Raises TypeError if it is of another type."""
    if type(value) is not kind:
        raise TypeError
    return value


def _text(value: Any, max_length: int) -> str:
    """Return the text. Raises ValueError if it is too long."""
    if len(text := _typed(str, value)) > max_length:
        raise ValueError
    return text


def _optional(kind: type[T], value: Any) -> T | None:
    return None if value is None else _typed(kind, value)


def _texts(value: Any) -> list[str]:
    return [_typed(str, text) for text in _typed(list, value)]


def _opened(value: Any) -> OpenedFile:
    if value["format"] not in FORMATS_IN:
        raise ValueError
    return OpenedFile(value["format"], tuple(map(_layer, _typed(list, value["layers"]))))


def _layer(value: Any) -> Layer:
    accuracy = value["accuracy"]
    return Layer(
        name=_typed(str, value["name"]),
        features=_typed(int, value["features"]),
        columns=tuple(_texts(value["columns"])),
        crs=None if value["crs"] is None else _text(value["crs"], CRS_LENGTH),
        accuracy=None if accuracy is None else float(accuracy),
        geometry=_optional(str, value["geometry"]),
        geometry_columns=tuple(_texts(value["geometry_columns"])),
    )


def _scan(value: Any) -> LayerScan:
    columns = {
        name: ColumnUse(
            _typed(int, use["filled"]),
            use["first"],
            _typed(bool, use["varies"]),
            _typed(int, use["whole"]),
            _typed(int, use["measured"]),
            _typed(int, use["runs"]),
            samples=[_text(sample, SAMPLE_LENGTH) for sample in _typed(list, use["samples"])],
        )
        for name, use in _typed(dict, value["columns"]).items()
    }
    _text("".join(columns), NAMES_LENGTH)
    numbers = {name: _typed(int, value[name]) for name in _SCAN_COUNTS}
    far = value["far"]
    return LayerScan(
        columns=columns,
        far=None if far is None else (float(far[0]), float(far[1])),
        box=_box(value["box"]),
        upright=_box(value["upright"]),
        turned=_box(value["turned"]),
        **numbers,
    )


def _box(value: Any) -> tuple[float, float, float, float] | None:
    if value is None:
        return None
    west, south, east, north = map(float, value)
    return west, south, east, north


def _batch(value: Any, options: ReadOptions) -> Batch:
    return [
        _rejected(feature, options) if "problems" in feature else _candidate(feature, options)
        for feature in _typed(list, value)
    ]


def _rejected(value: Any, options: ReadOptions) -> RejectedFeature:
    problems = tuple(map(_problem, _typed(list, value["problems"])))
    name, shape = _text(value["name"], NAME_LENGTH), _optional(str, value["shape"])
    is_plot = _is_plot(value, options)
    return RejectedFeature(_typed(int, value["number"]), name, problems, shape, is_plot)


def _is_plot(value: Any, options: ReadOptions) -> bool:
    if (is_plot := _typed(bool, value["is_plot"])) and not options.points_as_plots:
        raise ValueError
    return is_plot


def _problem(value: Any) -> Problem:
    coordinates = value["coordinates"]
    return Problem(
        code=_text(value["code"], NAME_LENGTH),
        message=_typed(str, value["message"]),
        part=_optional(int, value["part"]),
        ring=_optional(int, value["ring"]),
        position=_optional(int, value["position"]),
        coordinates=None if coordinates is None else list(map(float, coordinates)),
        field=_typed(str, value["field"]),
    )


def _candidate(value: Any, options: ReadOptions) -> Candidate:
    values, text = value["values"], _optional(str, value["geometry"])
    _text(values["name"], NAME_LENGTH)
    _optional(str, values["own_id"])
    _typed(bool, values["is_numbered"])
    kind = "assets" if _is_plot(values, options) else options.kind
    if not set(_typed(dict, values["columns"])) <= imported_columns(kind):
        raise ValueError
    for column in values["columns"].values():
        if isinstance(column, str):
            _text(column, METADATA_BYTES)  # the limit of the longest text
    candidate = stored_candidate(_typed(int, value["number"]), values, text)
    if candidate.location is not None:
        read_point(orjson.loads(candidate.location.text))
    return candidate

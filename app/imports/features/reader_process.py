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
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from itertools import chain
from pathlib import Path
from types import TracebackType
from typing import Any, Final, TypeVar

from app.formats.encodings import NAMES
from app.formats.features import FileInvalid, Layer
from app.geometry.timed_program import write_message
from app.imports.features.candidates import (
    Candidate,
    ReadOptions,
    RejectedFeature,
    imported_columns,
)
from app.imports.features.mapping import LayerScan
from app.imports.features.reader_program import (
    LIMITS,
    NO_OPTIONS,
    NUMBER,
    TOO_LARGE,
    TOO_SLOW,
    OpenedFile,
    OpenOptions,
    ReadLimits,
)
from app.imports.features.typed_json import decode_value, encode_value, typed_value
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
from app.policy.request_limits import METADATA_BYTES, NAME_LENGTH

log = logging.getLogger(__name__)

T = TypeVar("T")

_decode_texts: Final[Callable[[Any], list[str]]] = partial(decode_value, list[str])

POLL_SECONDS: Final = 2.0
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
START: Final = (
    "import sys; sys.path.insert(0, sys.argv[1]);"
    " from app.imports.features.reader_program import answer_questions, fork_readers;"
    " fork_readers(answer_questions)"
)
_ENVIRONMENT: Final = {"OPENBLAS_NUM_THREADS": "1"}

Batch = list[Candidate | RejectedFeature]


class TooCostly(FileInvalid):
    """Reading the file exceeds its limits of time or memory."""


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
                [sys.executable, "-I", "-c", START, str(_ROOT)],
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
        return self._ask(_decode_opened_file, "open", str(self._path.absolute()), options)

    def scan(self, layer: Layer, crs: str | None, max_features: int | None) -> LayerScan:
        """Scan how the columns of a layer are used. ``max_features``: None: any number."""
        return self._ask(_decode_scan, "scan", layer, crs, max_features)

    def repeated_names(
        self, layer: Layer, crs: str | None, column: str | None, of_points: bool | None = None
    ) -> set[str]:
        """The folded names of several features.

        Args:
            of_points: count only points (True), or only others (False).
        """
        return set(self._ask(_decode_texts, "repeated_names", layer, crs, column, of_points))

    def features(self, layer: Layer, crs: str | None, options: ReadOptions) -> Iterator[Batch]:
        """Yield checked features of a layer, in lists that fit into one transaction."""
        self._send("features", layer, crs, options)
        features, last = 0, 0
        while batch := self._receive(partial(_decode_batch, options, last)):
            features, last = features + len(batch), batch[-1].number
            if features > self._max_features:
                raise FileInvalid(_TOO_MANY)
            yield batch

    def notes(self) -> list[str]:
        """The notes on the layer, after its features were read."""
        notes = self._ask(_decode_texts, "notes")
        return [note[:_MESSAGE_LENGTH] for note in notes[:_NOTES]]

    def _ask(self, read: Callable[[Any], T], *question: Any) -> T:
        self._send(*question)
        return self._receive(read)

    def _send(self, *question: Any) -> None:
        with suppress(BrokenPipeError):  # ``_receive`` says why the process died
            write_message(self._questions, encode_value(question))

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
            message, is_costly = decode_value(tuple[str, bool], [value, *rest])
        except (ArithmeticError, LookupError, RecursionError, TypeError, ValueError):
            log.exception("the reader process sent an invalid answer")
            raise FileInvalid(_BROKEN) from None
        raise (TooCostly if is_costly else FileInvalid)(message[:_MESSAGE_LENGTH])

    def _read(self, size: int, end: float) -> bytes:
        source, parts = self._answers, bytearray()
        while len(parts) < size:
            is_ready = select.select([source], [], [], POLL_SECONDS)[0]
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


def _check_length(text: str, max_length: int) -> None:
    if len(text) > max_length:
        raise ValueError


def _decode_opened_file(value: Any) -> OpenedFile:
    file: OpenedFile = decode_value(OpenedFile, value)
    encodings = {guess.name for guess in file.guesses} | {each.encoding for each in file.layers}
    if file.format not in FORMATS_IN or not encodings <= {None, *NAMES}:
        raise ValueError
    for layer in file.layers:
        _check_length(layer.crs or "", CRS_LENGTH)
    _check_length("".join(name for each in file.choices for name in each.values()), NAMES_LENGTH)
    _check_samples(guess.samples for guess in file.guesses)
    return file


def _decode_scan(value: Any) -> LayerScan:
    scan: LayerScan = decode_value(LayerScan, value)
    _check_length("".join((*scan.columns, *scan.secret)), NAMES_LENGTH)
    _check_samples(use.samples for use in scan.columns.values())
    return scan


def _check_samples(samples: Iterable[Iterable[str]]) -> None:
    for sample in chain.from_iterable(samples):
        _check_length(sample, SAMPLE_LENGTH)


def _decode_batch(options: ReadOptions, last: int, value: Any) -> Batch:
    """Features with numbers after the last one of the batch before."""
    features = [_decode_feature(each, options) for each in typed_value(list, value)]
    for feature in features:
        if feature.number <= last:
            raise ValueError
        last = feature.number
    return features


def _decode_feature(value: Any, options: ReadOptions) -> Candidate | RejectedFeature:
    kind = RejectedFeature if "problems" in value else Candidate
    feature: Candidate | RejectedFeature = decode_value(kind, value)
    _check_length(feature.name, NAME_LENGTH)
    if feature.is_plot and not options.points_as_plots:
        raise ValueError
    if isinstance(feature, RejectedFeature):
        for problem in feature.problems:
            _check_length(problem.code, NAME_LENGTH)
        return feature
    columns = imported_columns("assets" if feature.is_plot else options.kind)
    if not feature.columns.keys() <= columns:
        raise ValueError
    feature.bounds  # noqa: B018 - raises an error if the geometry is malformed
    for column in feature.columns.values():
        if isinstance(column, str):
            _check_length(column, METADATA_BYTES)  # the limit of the longest text
    return feature

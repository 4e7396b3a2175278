"""Reading a file in a separate process, with bounds of memory, processor time and wall clock.

The file comes from a stranger, and so does the cost of reading it. The process is forked, asked for
one thing after the other, and killed at the end. It opens no connection, neither to the database
nor to anywhere else.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import resource
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from types import TracebackType
from typing import Any, Final

from app.formats.features import FileInvalid, FormatReader, Layer
from app.formats.readers.opening import open_file
from app.geometry.timed import processor_seconds
from app.imports.features.candidates import Candidate, Choices, Rejected, feature_name, prepare
from app.imports.features.mapping import LayerScan
from app.policy.files import READ_MEMORY_BYTES, READ_SECONDS, WAIT_SECONDS
from app.policy.imports import BATCH_BYTES, BATCH_FEATURES
from app.values.batching import batched_by_bytes
from app.values.text import fold

_POLL_SECONDS: Final = 2.0
_FORK: Final = multiprocessing.get_context("fork")
_TOO_LARGE: Final = "Reading this file takes too much memory. Split it into several files."
_BROKEN: Final = "An error in the service kept it from reading this file. Its log says more."
_TOO_SLOW: Final = "Reading this file takes too long. Simplify it, or split it into several files."

Batch = list[Candidate | Rejected]


@dataclass(frozen=True, slots=True)
class Opened:
    """The format and the layers of a file."""

    format: str
    layers: tuple[Layer, ...]


class ReaderProcess:
    """The process that reads one file. Every method raises FileInvalid if the file cannot be read,
    or reading it takes too much."""

    def __init__(self, path: Path, on_wait: Callable[[], None], *, is_bounded: bool) -> None:
        """Start the process.

        Args:
            on_wait: called again and again while an answer takes long.
            is_bounded: False for a file of the operator, which may take any time.
        """
        self._on_wait = on_wait
        self._connection, theirs = _FORK.Pipe()
        self._seconds = WAIT_SECONDS if is_bounded else float("inf")
        arguments = (path, theirs, self._connection, is_bounded)
        self._process = _FORK.Process(target=_serve, args=arguments, name="reader", daemon=True)
        self._process.start()
        theirs.close()

    def __enter__(self) -> ReaderProcess:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        """End the process."""
        self._process.kill()
        self._process.join()
        self._connection.close()

    def open(self) -> Opened:
        """Recognize the file, and find its layers."""
        opened: Opened = self._ask("open")
        return opened

    def scan(self, layer: Layer, crs: str | None, most: int | None) -> LayerScan:
        """Scan how the columns of a layer are used.

        Args:
            most: the most features that it may have; None: any number.
        """
        scan: LayerScan = self._ask("scan", layer, crs, most)
        return scan

    def repeated_names(self, layer: Layer, crs: str | None, column: str | None) -> set[str]:
        """The names that several features have, as ``fold`` makes them."""
        found: set[str] = self._ask("repeated_names", layer, crs, column)
        return found

    def features(self, layer: Layer, crs: str | None, choices: Choices) -> Iterator[Batch]:
        """Yield the features of a layer, checked, in lists that are short enough for one
        transaction."""
        self._send("features", layer, crs, choices)
        while batch := self._receive():
            yield batch

    def notes(self) -> list[str]:
        """The notes on what was left out, after the features were read."""
        notes: list[str] = self._ask("notes")
        return notes

    def _ask(self, *question: Any) -> Any:
        self._send(*question)
        return self._receive()

    def _send(self, *question: Any) -> None:
        with suppress(BrokenPipeError):  # what the process died of shows when it is to answer
            self._connection.send(question)

    def _receive(self) -> Any:
        end = time.monotonic() + self._seconds
        while not self._connection.poll(_POLL_SECONDS):
            if time.monotonic() > end:
                raise FileInvalid(_TOO_SLOW)
            self._on_wait()
        try:
            is_valid, value = self._connection.recv()
        except (EOFError, ConnectionResetError):
            self._process.join(WAIT_SECONDS)
            raise FileInvalid(_cause(self._process.exitcode)) from None
        if not is_valid:
            raise FileInvalid(value)
        return value


def _cause(exit_code: int | None) -> str:
    """The reason why the process ended before it had answered."""
    if exit_code == -signal.SIGXCPU:
        return _TOO_SLOW
    return _BROKEN if exit_code == 1 else _TOO_LARGE  # an exception; a signal


def _serve(path: Path, connection: Connection, theirs: Connection, is_bounded: bool) -> None:
    """Answer questions until this process is killed."""
    theirs.close()  # so that this process notices that the other one has died
    gc.disable()  # it would touch, and so copy, all the memory that the two share
    if is_bounded:
        _bound_resources()
    reader: FormatReader | None = None
    with suppress(EOFError, ConnectionError):  # the other one has died
        while True:
            name, *arguments = connection.recv()
            try:
                if name == "open":
                    reader = open_file(path)
                    connection.send((True, Opened(reader.format, reader.layers)))
                elif reader is not None:
                    for answer in _ANSWERS[name](reader, *arguments):
                        connection.send((True, answer))
                        # The system does not count what GEOS took in another process.
                        if is_bounded and processor_seconds() > READ_SECONDS:
                            raise FileInvalid(_TOO_SLOW)
            except FileInvalid as error:
                connection.send((False, str(error)))
            except MemoryError:
                connection.send((False, _TOO_LARGE))


def _scan(
    reader: FormatReader, layer: Layer, crs: str | None, most: int | None
) -> Iterator[LayerScan]:
    scan = LayerScan()
    for feature in reader.read(layer, crs):
        scan.add(feature.properties)
        if most is not None and scan.features > most:
            raise FileInvalid(
                f"The layer {layer.name!r} has more than {most:,} features. Split the file into "
                "several."
            )
    yield scan


def _repeated_names(
    reader: FormatReader, layer: Layer, crs: str | None, column: str | None
) -> Iterator[set[str]]:
    names = Counter(
        fold(feature_name(feature.properties, column)) for feature in reader.read(layer, crs)
    )
    yield {name for name, number in names.items() if number > 1}


def _features(
    reader: FormatReader, layer: Layer, crs: str | None, choices: Choices
) -> Iterator[Sequence[Candidate | Rejected]]:
    prepared = (prepare(feature, choices) for feature in reader.read(layer, crs))
    # Lists that are short enough for one transaction: other writers wait for it.
    yield from batched_by_bytes(prepared, _boundary_bytes, BATCH_BYTES, BATCH_FEATURES)
    yield []


def _notes(reader: FormatReader) -> Iterator[list[str]]:
    yield reader.notes


_ANSWERS: Final[dict[str, Callable[..., Iterator[Any]]]] = {
    "scan": _scan,
    "repeated_names": _repeated_names,
    "features": _features,
    "notes": _notes,
}


def _boundary_bytes(item: Candidate | Rejected) -> int:
    boundary = item.boundary if isinstance(item, Candidate) else None
    return 0 if boundary is None else len(boundary.text)


def _bound_resources() -> None:
    """Let this process fail when it takes too much. Linux only; macOS has other limits."""
    data = _memory_in_use() + READ_MEMORY_BYTES
    for kind, most in (
        (resource.RLIMIT_DATA, data),
        (resource.RLIMIT_CPU, READ_SECONDS),
        (resource.RLIMIT_CORE, 0),
    ):
        _, hard = resource.getrlimit(kind)
        with suppress(ValueError, OSError):
            allowed = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.setrlimit(kind, (allowed, hard))


def _memory_in_use() -> int:
    """The bytes of data of this process, shared or not."""
    with suppress(OSError):
        fields = Path("/proc/self/statm").read_text().split()
        return int(fields[5]) * os.sysconf("SC_PAGE_SIZE")
    return 0

"""Files for the EUDR: GeoJSON as the Information System of Regulation (EU) 2023/1115 reads it, a
Feature for each plot, in the order of producers; or a table of plots for simplified declarations.
``app.policy.eudr`` has what the system takes, ``plots`` what is written of a record.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from sqlite3 import Connection
from typing import IO, Final

from app.eudr.checking import PlotClock, read_plots
from app.eudr.plots import NO_OPTIONS, EudrOptions, Finding, Plot
from app.formats.writers.delimited import csv_line
from app.formats.writers.features import Feature
from app.formats.writers.source import CannotWrite
from app.formats.writers.temporary import new_database, new_file
from app.policy.eudr import (
    FILE_BYTES,
    FILE_PRODUCERS,
    FILE_SECONDS,
    IN_ERROR,
    PLACES,
    SIMPLIFIED,
)

_BEGINNING: Final = b'{"type":"FeatureCollection","features":[\n'
_BETWEEN: Final = b",\n"
_END: Final = b"\n]}\n"
_HEADINGS: Final = csv_line(SIMPLIFIED)
_IN_ORDER: Final = "SELECT {} FROM plots ORDER BY producer, country, place, is_point, id, part"
_INVALID: Final = "The Information System would not take these plots as they are. See details."
_NO_PLOTS: Final = "There are no plots to write. Draw a boundary, or choose other projects."


class InvalidPlots(CannotWrite):
    """The Information System would not take the plots: the first ``problems`` say why."""

    def __init__(self, problems: list[Finding]) -> None:
        super().__init__(_INVALID)
        self.problems = problems


def write_eudr(
    features: Iterable[Feature], folder: Path, options: EudrOptions = NO_OPTIONS
) -> IO[bytes]:
    """Write the file, or a zip of files with ``divide``.

    Args:
        features: projects, and assets that are plots kept as points, in any order.
        folder: where it is written.

    Returns:
        The file, at its beginning.

    Raises:
        InvalidPlots: the system would not take them.
        CannotWrite: there are no plots.
        OSError: there is no room for it.
    """
    problems: list[Finding] = []
    with plot_store(folder) as store:
        for record in read_plots(features, options, PlotClock(FILE_SECONDS)):
            problems += record.problems[: IN_ERROR - len(problems)]
            if len(problems) == IN_ERROR:
                break
            if not problems:
                store.add(record.plots)
        if not problems:
            problems = whole_problems(store, store.files(options), options)
        if problems:
            raise InvalidPlots(problems)
        if not store.features:
            raise CannotWrite(_NO_PLOTS)
        with new_file(folder) as file:
            if options.simplified:
                file.writelines([_HEADINGS, *store.plots()])
            elif options.divide:
                _write_zip(file, store)
            else:
                file.writelines(_file_pieces(store.plots()))
    return file


class EudrFile:
    """The number of ``features``, ``producers`` and ``bytes`` of a file."""

    def __init__(
        self, around: int = len(_BEGINNING) + len(_END), between: int = len(_BETWEEN)
    ) -> None:
        self.features = 0
        self.producers = 0
        self.bytes = around
        self._between = between
        self._last: tuple[str, str] | None = None

    def takes(self, producer: tuple[str, str], size: int) -> bool:
        """True if it has room for a plot."""
        is_large = self.bytes + self._between + size > FILE_BYTES
        is_new = producer != self._last
        return not self.features or not (is_large or (is_new and self.producers == FILE_PRODUCERS))

    def add(self, producer: tuple[str, str], size: int) -> None:
        """Count a plot, after those of the producers before it."""
        self.bytes += size + (self._between if self.features else 0)
        self.features += 1
        self.producers += producer != self._last
        self._last = producer


def whole_problems(store: PlotStore, files: list[EudrFile], options: EudrOptions) -> list[Finding]:
    """The problems of files as a whole."""
    if options.simplified:
        return store.crowded()
    problems = []
    advice = "Add divide=true for several files, or filter the plots."
    for file in files:
        if file.producers > FILE_PRODUCERS:
            number = f"{file.producers:,} producers, and a file takes {FILE_PRODUCERS:,}"
            problems.append(Finding("too_many_producers", f"There are {number}. {advice}"))
        if file.bytes > FILE_BYTES:
            size = f"{file.bytes / 10**6:.1f} MB, and {FILE_BYTES // 10**6} are taken"
            problems.append(Finding("too_large", f"The file would have {size}. {advice}"))
    return problems


class PlotStore:
    """Plots on the disk, which are read in their order: producer, country, place, polygons before
    points, id and part."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.features = 0
        self.points = 0
        connection.execute(
            "CREATE TABLE plots (producer TEXT, country TEXT, place TEXT, is_point INTEGER,"
            " id TEXT, part INTEGER, text BLOB,"
            " PRIMARY KEY (producer, country, place, is_point, id, part)) WITHOUT ROWID"
        )

    def add(self, plots: list[Plot]) -> None:
        """Add the plots of a record."""
        rows = [plot[:-1] for plot in plots]
        self._connection.executemany("INSERT INTO plots VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
        self.features += len(plots)
        self.points += sum(plot.is_point for plot in plots)

    def plots(self) -> Iterator[bytes]:
        """Yield the texts, in order."""
        for (text,) in self._connection.execute(_IN_ORDER.format("text")):
            yield text

    def crowded(self) -> list[Finding]:
        """A problem for each producer with more places than a simplified declaration takes."""
        rows = self._connection.execute(
            "SELECT producer, country, count(*) FROM plots GROUP BY producer, country"
            " HAVING count(*) > ? ORDER BY producer, country",
            (PLACES,),
        )
        return [
            Finding(
                "too_many_places",
                f"“{producer}” in {country} has {number:,} plots, and a simplified declaration "
                f"takes {PLACES} of a producer. Filter the plots.",
            )
            for producer, country, number in rows
        ]

    def files(self, options: EudrOptions) -> list[EudrFile]:
        """The file with the plots, or the files that they are divided into, each within the
        limits."""
        rows = self._connection.execute(_IN_ORDER.format("producer, country, length(text)"))
        files: list[EudrFile] = []
        for producer, country, size in rows:
            is_full = options.divide and files and not files[-1].takes((producer, country), size)
            if not files or is_full:
                files.append(EudrFile(*((len(_HEADINGS), 0) if options.simplified else ())))
            files[-1].add((producer, country), size)
        return files

    def producers(self) -> int:
        """The number of producers by name and country, or of countries if there are more: a
        producer is of one country."""
        rows = self._connection.execute(
            "SELECT max((SELECT count(*) FROM (SELECT DISTINCT producer, country FROM plots"
            " WHERE producer != '')), (SELECT count(DISTINCT country) FROM plots"
            " WHERE country != ''))"
        )
        return int(rows.fetchone()[0])


@contextmanager
def plot_store(folder: Path) -> Iterator[PlotStore]:
    """A store in a folder, which is deleted when the block ends. Raises OSError."""
    with new_database(folder) as (connection, file), file:
        yield PlotStore(connection)


def _file_pieces(plots: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the text of a file."""
    yield _BEGINNING
    for number, plot in enumerate(plots):
        yield _BETWEEN + plot if number else plot
    yield _END


def _write_zip(file: IO[bytes], store: PlotStore) -> None:
    plots = store.plots()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:  # quickly
        for number, part in enumerate(store.files(EudrOptions(divide=True)), start=1):
            with archive.open(f"plots-{number}.geojson", "w") as entry:
                for piece in _file_pieces(islice(plots, part.features)):
                    entry.write(piece)

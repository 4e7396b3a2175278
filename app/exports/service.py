"""Exports: files with the projects or assets that match the filters of a list."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import IO, Any, Final, NamedTuple

from flask import Flask

from app.audit.entries import changes_of_new, write_read_entry
from app.audit.targets import Target
from app.downloads.files import ExportedFile, no_room, sized, whole_file
from app.exports.records import EudrReader, read_in_short_queries, scan_records
from app.formats.writers.eudr import NO_OPTIONS, write_eudr
from app.formats.writers.eudr_plots import EudrOptions
from app.formats.writers.features import FEATURE_TYPES, Feature
from app.formats.writers.formats import STREAMED, WHOLE
from app.formats.writers.source import CannotWrite, FeatureSource, blocks
from app.http.errors import BadRequest, Detail
from app.policy.files import FORMATS_OUT
from app.values import clock
from app.values.clock import format_value
from app.values.text import slugify

FORMATS: Final[dict[str, tuple[str, ...]]] = {
    "projects": tuple(name for name in FORMATS_OUT if name != "gpx"),
    "assets": tuple(FORMATS_OUT),
}

_EUDR_PROJECT_OPTIONS: Final = ("boundaries", "points")


class Export(NamedTuple):
    """The kind, format and filters of an export.

    Args:
        kind: one of ``FEATURE_TYPES``.
        format: one of the kind's ``FORMATS``.
        filters: as the schema of the list loads them; for assets also ``project_id``; ``within``:
            the ids of the projects that the credential may see.
        boundaries, points: include boundaries, and plots kept as points, in a file of projects for
            the EUDR.
    """

    kind: str
    format: str
    account_id: str
    filters: Mapping[str, Any] = {}
    eudr: EudrOptions = NO_OPTIONS
    boundaries: bool = True
    points: bool = False

    @property
    def media_type(self) -> str:
        return "application/zip" if self.eudr.divide else FORMATS_OUT[self.format][0]

    @property
    def extension(self) -> str:
        return "zip" if self.eudr.divide else FORMATS_OUT[self.format][1]


def export_of(kind: str, account_id: str, values: dict[str, Any]) -> Export:
    """The export for a query, as its schema loads it."""
    filters = dict(values)
    eudr = {name: filters.pop(name) for name in EudrOptions._fields if name in filters}
    project_options = {name: filters.pop(name) for name in _EUDR_PROJECT_OPTIONS if name in filters}
    format_name = filters.pop("format")
    return Export(kind, format_name, account_id, filters, EudrOptions(**eudr), **project_options)


def write_export(
    export: Export,
    app: Flask,
    on_batch: Callable[[int], None] = lambda _: None,
    *,
    at_once: bool = False,
) -> ExportedFile:
    """The file of an export. Most formats are written while their pieces are read; others are
    written to an unnamed file before this returns.

    Args:
        app: provides a context for each query, so that the pieces need none.
        on_batch: called with the number of records of each batch; an error that it raises ends the
            export.
        at_once: write every format before returning.

    Raises:
        BadRequest: the records cannot be written in this format.
        ServiceUnavailable: there is no room for the file.
    """
    if export.format == "eudr":
        features = features_for_eudr(export, app, on_batch)
        return sized(_whole_file(partial(write_eudr, features, options=export.eudr), app))
    source = _source(export, app, on_batch)
    if write := STREAMED.get(export.format):
        pieces = blocks(write(source))
        return whole_file(pieces, app) if at_once else ExportedFile(pieces, None)
    return sized(_whole_file(partial(WHOLE[export.format], source), app))


def features_for_eudr(
    export: Export, app: Flask, on_batch: Callable[[int], None] = lambda _: None
) -> Iterator[Feature]:
    """The features of a file for the EUDR."""
    reader = EudrReader(export.account_id, app, on_batch)
    filters = dict(export.filters)
    if export.kind == "assets":
        return reader.plots(filters)
    return reader.projects(filters, boundaries=export.boundaries, points=export.points)


def export_filename(slug: str, export: Export) -> str:
    """The name of a file, such as ``green-woods-projects-2026-11-22.geojson``."""
    content = f"{export.kind}-eudr" if export.format == "eudr" else export.kind
    if country := export.filters.get("country"):
        content += f"-{country.lower()}"
    return f"{slugify(slug)}-{content}-{clock.now().date()}.{export.extension}"


def _whole_file(write: Callable[[Path], IO[bytes]], app: Flask) -> IO[bytes]:
    try:
        return write(Path(app.instance_path))
    except CannotWrite as error:
        details = [
            Detail(problem.record_id or "format", problem.message, problem.code)
            for problem in error.problems
        ]
        details = details or [Detail("format", str(error))]
        raise BadRequest(str(error), details=details) from None
    except OSError:
        raise no_room() from None


def _source(export: Export, app: Flask, on_batch: Callable[[int], None]) -> FeatureSource:
    def read(*, metadata_only: bool) -> Iterator[Any]:
        scan = partial(
            scan_records,
            export.kind,
            export.account_id,
            dict(export.filters),
            metadata_only=metadata_only,
        )
        return read_in_short_queries(app, scan, on_batch)

    return FeatureSource(
        FEATURE_TYPES[export.kind],
        lambda: read(metadata_only=False),
        lambda: (text for text in read(metadata_only=True) if text is not None),
    )


def log_export(export: Export, account_name: str) -> None:
    """Log an export in the audit log, before the file is sent."""
    values = {name: _as_json(value) for name, value in export.filters.items() if value is not None}
    write_read_entry(
        f"{export.kind.removesuffix('s')}.exported",
        Target("account", export.account_id, account_name),
        account_id=export.account_id,
        changes=changes_of_new({**values, "format": export.format}),
    )


def _as_json(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else format_value(value)

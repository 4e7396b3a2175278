"""Exports: files with all projects or all assets that match the filters of a list."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import IO, Any, Final, NamedTuple

from flask import Flask

from app.audit.entries import created, record_read
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

_OF_PROJECTS: Final = ("boundaries", "points")  # what a file for the EUDR has of projects


class Export(NamedTuple):
    """The kind, format and filters of an export.

    Args:
        kind: one of ``FEATURE_TYPES``.
        format: one of the kind's ``FORMATS``.
        filters: those of the list, as its schema loads them; for assets also ``project_id``, and
            ``within``: the ids of the projects that it is limited to.
        boundaries, points: what a file for the EUDR has of projects: their boundaries, and their
            plots kept as points.
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
    """The export that a query asks for.

    Args:
        values: the query, as its schema loads it.
    """
    filters = dict(values)
    own = {name: filters.pop(name) for name in EudrOptions._fields if name in filters}
    of_projects = {name: filters.pop(name) for name in _OF_PROJECTS if name in filters}
    format_name = filters.pop("format")
    return Export(kind, format_name, account_id, filters, EudrOptions(**own), **of_projects)


def write_export(
    export: Export,
    app: Flask,
    on_batch: Callable[[int], None] = lambda _: None,
    *,
    at_once: bool = False,
) -> ExportedFile:
    """The file of an export. Most formats are written while the pieces are read; the others are
    written before this returns, to a file that nobody else sees.

    Args:
        app: provides a context for each query, so that the pieces need none.
        on_batch: called with the number of records read since the last call. It can raise an error
            to end the export.
        at_once: write all formats before returning.

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
    """The records that a file for the EUDR is written of."""
    reader = EudrReader(export.account_id, app, on_batch)
    filters = dict(export.filters)
    if export.kind == "assets":
        return reader.plots(filters)
    return reader.projects(filters, boundaries=export.boundaries, points=export.points)


def export_filename(slug: str, export: Export) -> str:
    """The name of the file of an account, such as ``green-woods-projects-2026-11-22.geojson``."""
    what = f"{export.kind}-eudr" if export.format == "eudr" else export.kind
    if country := dict(export.filters).get("country"):
        what += f"-{country.lower()}"
    return f"{slugify(slug)}-{what}-{clock.now().date()}.{export.extension}"


def _whole_file(write: Callable[[Path], IO[bytes]], app: Flask) -> IO[bytes]:
    try:
        return write(Path(app.instance_path))
    except CannotWrite as error:
        details = [
            Detail(each.record_id or "format", each.message, each.code) for each in error.problems
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
    """Record in the audit log that somebody exports a file, before it is sent."""
    values = {name: _plain(value) for name, value in export.filters.items() if value is not None}
    record_read(
        f"{export.kind.removesuffix('s')}.exported",
        Target("account", export.account_id, account_name),
        account_id=export.account_id,
        changes=created({**values, "format": export.format}),
    )


def _plain(value: Any) -> Any:
    """Return the value of a filter as it is in JSON."""
    return list(value) if isinstance(value, tuple) else format_value(value)

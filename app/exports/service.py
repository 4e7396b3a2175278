"""Exports: files with the projects or assets that match the filters of a list."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import IO, Any, Final, NamedTuple

from flask import Flask

from app.assets.listing import asset_query, scan_assets
from app.audit.entries import changes_of_new, write_read_entry
from app.audit.targets import Target
from app.downloads.files import ExportedFile, exported_file, no_room_error, whole_file
from app.eudr.plots import NO_OPTIONS, EudrOptions, pop_options
from app.eudr.records import PlotReader
from app.eudr.writer import InvalidPlots, write_eudr
from app.formats.writers.features import FEATURE_TYPES, Feature
from app.formats.writers.formats import STREAMED, WHOLE
from app.formats.writers.source import CannotWrite, FeatureSource, byte_blocks
from app.http.errors import BadRequest, Detail
from app.lists.scanning import OnBatch, Reader, in_short_queries
from app.policy.files import EUDR_FORMATS, FORMATS_OUT
from app.policy.request_limits import LIST_IDS
from app.projects.listing import project_query, scan_projects
from app.values import clock
from app.values.clock import format_value
from app.values.text import slugify

FORMATS: Final[dict[str, tuple[str, ...]]] = {
    "projects": tuple(name for name in FORMATS_OUT if name != "gpx"),
    "assets": tuple(name for name in FORMATS_OUT if name != "eudr_simplified"),
}


class Export(NamedTuple):
    """The kind, format and filters of an export.

    Args:
        kind: one of ``FEATURE_TYPES``.
        format: one of the kind's ``FORMATS``.
        filters: those of the list, as its schema loads them; for assets also ``project_id``, and
            ``within``: the ids of the projects that it is limited to.
    """

    kind: str
    format: str
    account_id: str
    filters: Mapping[str, Any] = {}
    eudr: EudrOptions = NO_OPTIONS

    @property
    def media_type(self) -> str:
        return "application/zip" if self.eudr.divide else FORMATS_OUT[self.format][0]

    @property
    def extension(self) -> str:
        return "zip" if self.eudr.divide else FORMATS_OUT[self.format][1]


def export_of(kind: str, account_id: str, values: dict[str, Any]) -> Export:
    """The export for a query, as its schema loads it."""
    filters = dict(values)
    format_name = filters.pop("format")
    options = pop_options(filters)._replace(simplified=format_name == "eudr_simplified")
    return Export(kind, format_name, account_id, filters, options)


def write_export(
    export: Export,
    app: Flask,
    on_batch: OnBatch = lambda _: None,
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
    if export.format in EUDR_FORMATS:
        features = features_for_eudr(export, app, on_batch)
        return exported_file(_whole_file(partial(write_eudr, features, options=export.eudr), app))
    source = _export_source(export, app, on_batch)
    if write := STREAMED.get(export.format):
        pieces = byte_blocks(write(source))
        return whole_file(pieces, app) if at_once else ExportedFile(pieces, None)
    return exported_file(_whole_file(partial(WHOLE[export.format], source), app))


def features_for_eudr(
    export: Export, app: Flask, on_batch: OnBatch = lambda _: None
) -> Iterator[Feature]:
    """The records that a file for the EUDR is written of."""
    reader = PlotReader(export.account_id, app, on_batch)
    if export.kind == "assets":
        return reader.assets(export.filters)
    return reader.projects(export.filters, export.eudr)


def export_filename(slug: str, export: Export) -> str:
    """The name of a file, such as ``green-woods-projects-2026-11-22.geojson``."""
    content = export.kind
    if export.format in EUDR_FORMATS:
        content += f"-{export.format.replace('_', '-')}"
    if country := export.filters.get("country"):
        content += f"-{country.lower()}"
    return f"{slugify(slug)}-{content}-{clock.now().date()}.{export.extension}"


def _whole_file(write: Callable[[Path], IO[bytes]], app: Flask) -> IO[bytes]:
    try:
        return write(Path(app.instance_path))
    except InvalidPlots as error:
        details = [
            Detail(problem.record_id or "format", problem.message, problem.code)
            for problem in error.problems
        ]
        raise BadRequest(str(error), details=details) from None
    except CannotWrite as error:
        raise BadRequest(str(error), details=[Detail("format", str(error), "invalid")]) from None
    except OSError:
        raise no_room_error() from None


def _export_source(export: Export, app: Flask, on_batch: OnBatch) -> FeatureSource:
    def read(*, metadata_only: bool) -> Iterator[Any]:
        scan = partial(_scan_records, export, metadata_only=metadata_only)
        return in_short_queries(app, scan, on_batch)

    return FeatureSource(
        FEATURE_TYPES[export.kind],
        lambda: read(metadata_only=False),
        lambda: (text for text in read(metadata_only=True) if text is not None),
    )


def _scan_records(export: Export, read: Reader, *, metadata_only: bool) -> Iterator[list[Any]]:
    """Yield the records of an export, or the JSON text of their metadata, in batches."""
    filters = dict(export.filters)
    if export.kind == "projects":
        query = project_query(**filters)
        return scan_projects(read, export.account_id, query, metadata_only=metadata_only)
    project_id = filters.pop("project_id", None)
    query = asset_query(**filters)
    return scan_assets(
        read, export.account_id, query, project_id=project_id, metadata_only=metadata_only
    )


def log_export(export: Export, account_name: str) -> None:
    """Log an export in the audit log, before the file is sent."""
    values = {name: _as_json(value) for name, value in export.filters.items() if value is not None}
    if len(values.get("ids", ())) > LIST_IDS:
        values["ids"] = f"{len(values['ids']):,} of {export.kind} and plots"
    write_read_entry(
        f"{export.kind.removesuffix('s')}.exported",
        Target("account", export.account_id, account_name),
        account_id=export.account_id,
        changes=changes_of_new({**values, "format": export.format}),
    )


def _as_json(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else format_value(value)

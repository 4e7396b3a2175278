"""Exports: files with all projects or all assets that match the filters of a list."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import IO, Any, Final, NamedTuple, ParamSpec, TypeVar

from flask import Flask

from app.assets.listing import asset_query, scan_assets
from app.audit.entries import created, record_read
from app.audit.targets import Target
from app.db.replica import read_from_replica
from app.downloads.files import ExportedFile, no_room, sized, whole_file
from app.formats.writers.eudr import NO_OPTIONS, EudrOptions, write_eudr
from app.formats.writers.features import FEATURE_TYPES
from app.formats.writers.formats import STREAMED, WHOLE
from app.formats.writers.source import CannotWrite, FeatureSource, blocks
from app.http.errors import BadRequest, Detail
from app.lists.scanning import Reader
from app.policy.files import FORMATS_OUT
from app.projects.listing import project_query, scan_projects
from app.values import clock, processor_clock
from app.values.clock import format_value
from app.values.text import slugify

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")

FORMATS: Final[dict[str, tuple[str, ...]]] = {
    "projects": tuple(name for name in FORMATS_OUT if name != "gpx"),
    "assets": tuple(name for name in FORMATS_OUT if name != "eudr"),
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


def export_of(kind: str, account_id: str, values: dict[str, Any]) -> Export:
    """The export that a query asks for.

    Args:
        values: the query, as its schema loads it.
    """
    filters = dict(values)
    eudr = EudrOptions(
        filters.pop("producer_name", None),
        filters.pop("producer_country", None),
        filters.pop("holes", None) == "ignore",
    )
    return Export(kind, filters.pop("format"), account_id, filters, eudr)


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
    source = _source(export, app, on_batch)
    if write := STREAMED.get(export.format):
        pieces = blocks(write(source))
        return whole_file(pieces, app) if at_once else ExportedFile(pieces, None)
    return sized(_whole_file(export, source, Path(app.instance_path)))


def filename(slug: str, kind: str, format_name: str) -> str:
    """The name of the file of an account, such as ``green-woods-projects-2026-11-22.geojson``."""
    what = f"{kind}-eudr" if format_name == "eudr" else kind
    return f"{slugify(slug)}-{what}-{clock.now().date()}.{FORMATS_OUT[format_name][1]}"


def _whole_file(export: Export, source: FeatureSource, folder: Path) -> IO[bytes]:
    write = WHOLE.get(export.format) or partial(write_eudr, options=export.eudr)
    try:
        return write(source, folder)
    except CannotWrite as error:
        details = [Detail(record_id, message) for record_id, message in error.problems]
        details = details or [Detail("format", str(error))]
        raise BadRequest(str(error), details=details) from None
    except OSError:
        raise no_room() from None


def _source(export: Export, app: Flask, on_batch: Callable[[int], None]) -> FeatureSource:
    def read(*, metadata_only: bool) -> Iterator[Any]:
        return in_short_queries(app, partial(_scan, export, metadata_only), on_batch)

    return FeatureSource(
        FEATURE_TYPES[export.kind],
        lambda: read(metadata_only=False),
        lambda: (text for text in read(metadata_only=True) if text is not None),
    )


def _scan(export: Export, metadata_only: bool, reader: Reader) -> Iterator[list[Any]]:
    filters = dict(export.filters)
    if export.kind == "projects":
        query = project_query(**filters)
        return scan_projects(reader, export.account_id, query, metadata_only=metadata_only)
    project_id = filters.pop("project_id", None)
    query = asset_query(**filters)
    return scan_assets(
        reader, export.account_id, query, project_id=project_id, metadata_only=metadata_only
    )


def in_short_queries(
    app: Flask, scan: Callable[[Reader], Iterable[list[T]]], on_batch: Callable[[int], None]
) -> Iterator[T]:
    """Yield the records of a scan, which holds no connection between two queries.

    Args:
        app: provides a context for each query.
        on_batch: called with the number of records of each batch.
    """

    def read(query: Callable[P, R], *args: P.args, **values: P.kwargs) -> R:
        with app.app_context():
            return read_from_replica(partial(query, *args, **values))

    for batch in scan(read):
        processor_clock.restart()  # some formats have no piece before all batches are read
        on_batch(len(batch))
        yield from batch


def record_export(export: Export, account_name: str) -> None:
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

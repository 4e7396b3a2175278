"""``bin/canopy export``: projects or assets as a file for other programs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO, Any, Final

import click
from marshmallow import ValidationError

from app.account.lookup import find_account
from app.assets.listing import asset_query, list_assets
from app.cli.context import database_command, running_app
from app.cli.output import (
    CommandError,
    account_option,
    confirm_action,
    output_file,
    output_option,
    show_record,
    yes_option,
)
from app.cli.progress import ProgressBar
from app.db.transactions import transaction
from app.exports.schemas import AssetExportQuerySchema, ProjectExportQuerySchema
from app.exports.service import Export, export_of, log_export, write_export
from app.formats.writers.formats import READ_TWICE
from app.http.errors import BadRequest
from app.policy import eudr
from app.policy.fields import ASSET, PROJECT, filters_of
from app.policy.files import FORMATS_OUT
from app.projects.listing import list_projects, project_query
from app.projects.summaries import summarize_project

_OPTIONS: Final = {"project_id": "project", "boundaries": "no-boundaries"}  # by field
_SHOWN: Final = 10  # problems in a message
_FORMATS: Final = {
    f".{extension.rpartition('.')[2]}": name  # the first of several
    for name, (_, extension) in reversed(FORMATS_OUT.items())
} | {".json": "geojson"}


def _filter_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add an option for each filter of projects and of assets, as the API describes it."""
    described = AssetExportQuerySchema().fields | ProjectExportQuerySchema().fields
    for name, each in {**filters_of(ASSET), **filters_of(PROJECT)}.items():
        kind = click.Choice(("true", "false")) if each.sign == "has" else None
        text = described[name].metadata["description"].replace("`", "")
        option = click.option(f"--{name.replace('_', '-')}", name, type=kind, help=text)
        command = option(command)
    return command


@click.command("export")
@account_option
@output_option
@click.option(
    "--format",
    "format_name",
    type=click.Choice(tuple(FORMATS_OUT)),
    help="By default, what the ending of FILE says.",
)
@click.option("--assets", is_flag=True, help="Export assets instead of projects.")
@click.option("--project", "project_id", metavar="ID", help="Only assets of this project.")
@_filter_options
@click.option("--search", metavar="TEXT", help="Only records with this in their texts.")
@click.option("--bbox", metavar="W,S,E,N", help="Only records in this bounding box.")
@click.option("--producer-name", metavar="NAME", help="Of plots whose metadata has none (eudr).")
@click.option("--producer-key", metavar="KEY", help="The key of the metadata with it (eudr).")
@click.option("--producer-country", metavar="CC", help="Likewise, two letters (eudr).")
@click.option("--holes", type=click.Choice(eudr.HOLES), help="What becomes of holes (eudr).")
@click.option(
    "--variant",
    type=click.Choice([str(number) for number in eudr.VARIANTS]),
    help="1: for one producer, 2: for several (eudr).",
)
@click.option("--points", is_flag=True, help="With plots that are kept as points (eudr).")
@click.option("--no-boundaries", is_flag=True, help="Without boundaries (eudr).")
@click.option("--divide", is_flag=True, help="A zip of files within the bounds (eudr).")
@click.option("--cattle", is_flag=True, help="Points may have more than 4 hectares (eudr).")
@yes_option
@database_command(
    "export --account green-woods --output forests.gpkg",
    "export --account green-woods --output forests.csv --status active",
    "export --account green-woods --assets --format gpx --output stations.gpx",
    "export --account green-woods --format eudr --producer-country DE --output plots.geojson",
    "export --account green-woods --format geojsonl --output - | gzip > forests.geojsonl.gz",
)
def export_records_command(
    account: str,
    path: Path,
    format_name: str | None,
    assets: bool,
    project_id: str | None,
    no_boundaries: bool,
    yes: bool,
    as_json: bool,
    **filters: str | bool | None,
) -> None:
    """Export projects or assets to a file.

    The formats are those of GET /v1/exports: geojson, geojsonl, csv, kml, gpkg (GeoPackage), shp (a
    zipped shapefile), gpx for assets, eudr for the EU Deforestation Regulation, and
    eudr_simplified, a table for simplified declarations. Only the owner of FILE can read it. FILE
    is complete or not there.

    For everything that an account has in one archive, use bin/canopy account export.
    """
    row = find_account(account)
    options = {name: value for name, value in filters.items() if value is not False} | {
        "boundaries": False if no_boundaries else None,
        "project_id": project_id,
        "format": _export_format(path, format_name),
    }
    request = _export_from_options(
        row.id, "assets" if assets or project_id else "projects", options
    )
    if project_id:
        summarize_project(row.id, project_id)  # raises an error if there is none
    with transaction():
        log_export(request, row.name)
    is_file = str(path) != "-"
    if is_file and path.is_dir():
        raise CommandError(f"{path} is a folder; name a file.")
    if is_file and path.exists():
        confirm_action(f"Replace {path}?", yes=yes, as_json=as_json)
    with _problems_as_message(), output_file(path) as file:
        records = _write_export(request, file, quiet=as_json)
    if is_file:
        size = path.stat().st_size
        record = {"file": str(path.absolute()), "format": request.format, "records": records}
        show_record(record | {"bytes": size}, as_json=as_json)


def _export_format(path: Path, option: str | None) -> str:
    """Return the format, by the option or the file name. Raises UsageError if neither tells."""
    name = option or _FORMATS.get(path.suffix.lower())
    if name is None:
        endings = ", ".join(sorted(_FORMATS))
        raise click.UsageError(f"Set --format, or let FILE end in one of: {endings}.")
    return name


def _export_from_options(account_id: str, kind: str, options: dict[str, Any]) -> Export:
    """Return the export for these options. Raises UsageError for an invalid option, or one of the
    other kind."""
    schema = AssetExportQuerySchema() if kind == "assets" else ProjectExportQuerySchema()
    try:
        values = schema.load({name: value for name, value in options.items() if value is not None})
    except ValidationError as error:
        messages: dict[str, Any] = error.normalized_messages()  # type: ignore[no-untyped-call]
        name, (message, *_) = next(iter(messages.items()))
        option = _OPTIONS.get(name, name).replace("_", "-")
        if name not in schema.fields:
            message = f"{kind.capitalize()} have no such filter."
        raise click.UsageError(f"--{option}: {message}") from None
    return export_of(kind, account_id, values)


def _write_export(request: Export, file: IO[bytes], *, quiet: bool) -> int:
    """Write the file. Returns the number of records."""
    passes = 2 if request.format in READ_TWICE else 1
    number = 0
    with ProgressBar("Exporting", quiet=quiet) as bar:
        if bar.is_shown:
            bar.start(passes * _count_records(request))

        def on_batch(size: int) -> None:
            nonlocal number
            number += size
            bar.advance(size)

        with closing(write_export(request, running_app(), on_batch).pieces) as pieces:
            file.writelines(pieces)
    return number // passes


@contextmanager
def _problems_as_message() -> Iterator[None]:
    """Turn the error about records that the format cannot have into a message."""
    try:
        yield
    except BadRequest as error:
        lines = [
            detail.message if detail.field == "format" else f"{detail.field}: {detail.message}"
            for detail in error.details
            if detail.message != error.message
        ]
        more = f"… and {len(lines) - _SHOWN} more." if len(lines) > _SHOWN else ""
        lines = [error.message, *lines[:_SHOWN], more]
        raise CommandError("\n       ".join(filter(None, lines))) from None


def _count_records(request: Export) -> int:
    """Return the number of records to export."""
    filters = dict(request.filters)
    if request.kind == "projects":
        query = project_query(**filters, per_page=1)
        return list_projects(request.account_id, query, boundaries=False)[1]
    project_id = filters.pop("project_id", None)
    return list_assets(request.account_id, project_id, asset_query(**filters, per_page=1))[1]

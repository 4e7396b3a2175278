"""``bin/canopy import``: projects or assets from a file."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import click
from marshmallow import ValidationError

from app.account.lookup import find_account
from app.auth.operator import operator_of
from app.auth.principal import Principal
from app.cli.context import in_database
from app.cli.import_output import Outcomes
from app.cli.import_questions import ask_question, is_terminal, open_question, with_answer
from app.cli.import_steps import own_step
from app.cli.output import (
    CommandError,
    account_option,
    add_examples,
    json_option,
    print_text,
    show_json,
)
from app.cli.progress import ProgressBar
from app.db.transactions import transaction
from app.formats.encodings import NAMES, encoding_name
from app.imports import listing, service
from app.imports.applying import apply_features
from app.imports.feature_rows import count_states, delete_features, feature_numbers
from app.imports.features.targets import import_targets
from app.imports.leases import LeasedImport, lease_import
from app.imports.listing import all_features
from app.imports.preview import prepare_preview
from app.imports.questions import required_question
from app.policy.files import FORMATS_IN
from app.policy.imports import FILENAME_LENGTH, POINTS, WORKING, ZONE_LETTERS
from app.values.schemas import Name


class NumberList(click.ParamType[list[int]]):
    """Numbers from 1, separated by commas."""

    name = "numbers"

    def convert(self, value: Any, param: Any, ctx: Any) -> list[int]:
        texts = [text.strip() for text in value.split(",")] if value else []
        if not all(text.isascii() and text.isdecimal() and len(text) < 10 for text in texts):
            self.fail(f"{value!r} is no list of numbers, such as 3,17.", param, ctx)
        return sorted(set(map(int, texts)))


class FeatureName(click.ParamType[tuple[str, str]]):
    """The number of a feature and its name."""

    name = "name"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[str, str]:
        number, sign, name = value.partition("=")
        if not (sign and re.fullmatch("[1-9][0-9]{0,8}", number)):
            self.fail(f"{value!r} is no number and name, such as 1=Brice.", param, ctx)
        try:
            return number, Name().deserialize(name)
        except ValidationError as error:
            self.fail(" ".join(map(str, error.messages)), param, ctx)


class EncodingOption(click.ParamType[str]):
    """The name of an encoding."""

    name = "encoding"

    def convert(self, value: Any, param: Any, ctx: Any) -> str:
        name = encoding_name(value)
        return name or self.fail(f"{value!r} is none of: {', '.join(NAMES)}.", param, ctx)


_COLUMNS: Final = {
    **{name: name for name in ("external_id", "geometry", "latitude", "longitude")},
    "name": "name_property",
}
_MATCHES: Final = ("external_id", "name", "none")
_FORMATS: Final = ", ".join(FORMATS_IN.values())
_HELP: Final = f"""\
Import projects from a file.

Each feature becomes a project. FILE can be: {_FORMATS}; it is recognized by its content, and - is
standard input. A column external_id becomes the project's external id, a column description its
description; all others become metadata. With --project, the features become assets of that project,
and the columns external_id, type and status are read.

A project that already has the name and boundary of a feature is left unchanged, so you can import a
file again. A feature with the name of a project but another boundary becomes a new project, with a
number appended to the name. With --update, a feature updates the boundary, metadata and name of the
project that it matches instead; metadata that is not in the file stays. Two boundaries are equal if
each position agrees within 0.0000001 degrees.

Invalid features are rejected and listed, and the rest is imported; the exit code is then 1.
"""


@click.command("import")
@click.argument(
    "path",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path),
)
@account_option
@click.option("--project", "project_id", metavar="ID", help="Import assets, into this project.")
@click.option(
    "--points-as-plots/--no-points-as-plots",
    default=None,
    help="Make points plots, of the project that --project names or of a new one, and areas "
    "projects; or reject the points.",
)
@click.option(
    "--points",
    type=click.Choice(POINTS),
    help="Make points assets of the project that --project names, of the only track of a GPX file, "
    "or of a new one, and areas projects.",
)
@click.option("--layer", help="The layer to import; by default, the first.")
@click.option(
    "--name-property",
    metavar="COLUMN",
    help="The column with the names; by default, one that is usual for names.",
)
@click.option(
    "--external-id",
    metavar="COLUMN",
    help="The column with your own ids; external_id by default.",
)
@click.option(
    "--attribute",
    "attributes",
    multiple=True,
    metavar="COLUMN",
    help="A column for the metadata; can be repeated. By default, all others.",
)
@click.option(
    "--crs",
    metavar="CODE",
    help="The coordinate system, such as EPSG:25832, whatever the file says.",
)
@click.option(
    "--encoding",
    type=EncodingOption(),
    help="The encoding of texts of CSV and shapefiles, such as cp1250, whatever the file says.",
)
@click.option("--swap", is_flag=True, help="Swap latitude and longitude in the whole file.")
@click.option(
    "--geometry",
    metavar="COLUMN",
    help="The column of a CSV file with the geometries; by default, one that looks like it.",
)
@click.option("--latitude", metavar="COLUMN", help="The column with the latitudes.")
@click.option("--longitude", metavar="COLUMN", help="The column with the longitudes.")
@click.option(
    "--letters",
    type=click.Choice(["O=east", "O=west"]),
    callback=lambda _ctx, _param, value: value and {"O": value.removeprefix("O=")},
    help="What the letter O means in written coordinates.",
)
@click.option(
    "--zone-letter",
    type=click.Choice(ZONE_LETTERS),
    help="What S behind a UTM zone means: the band from 32° to 40° north, or the south.",
)
@click.option("--close-lines", is_flag=True, help="Close lines and tracks, to get boundaries.")
@click.option(
    "--corners-by",
    metavar="COLUMN",
    help="Join points to a boundary for each value of a column, or all of them with ''.",
)
@click.option(
    "--without-boundaries", is_flag=True, help="Import features although none has a boundary."
)
@click.option(
    "--leave-out",
    "left_out",
    type=NumberList(),
    default="",
    metavar="NUMBERS",
    help="Features that are not imported, by their numbers, such as 3,17.",
)
@click.option(
    "--name",
    "names",
    type=FeatureName(),
    multiple=True,
    metavar="NUMBER=NAME",
    help="The name of a feature, by its number, such as 1=Brice; can be repeated.",
)
@click.option("--update", is_flag=True, help="Update the projects or assets that features match.")
@click.option(
    "--match",
    type=click.Choice(_MATCHES),
    help="How --update finds what a feature updates; external_id by default.",
)
@click.option("--dry-run", is_flag=True, help="Write nothing; show what would happen.")
@json_option
@add_examples(
    "import districts.zip --account green-woods --dry-run",
    "import districts.gpkg --account green-woods --layer districts --name-property DISTRICT",
    "import districts.geojson --account green-woods --external-id ID --update",
    "import stations.gpx --account green-woods --project proj_01k9zq3mgse2j7tbyw5c4r8nhd",
    "import - --account green-woods < districts.kml",
    text=_HELP,
)
@click.pass_context
@in_database
def import_file_command(
    ctx: click.Context,
    path: Path,
    account: str,
    attributes: Sequence[str],
    update: bool,
    match: str | None,
    dry_run: bool,
    as_json: bool,
    **options: Any,
) -> None:
    row = find_account(account)
    owner = operator_of(row)
    columns = {field: options.pop(option) for field, option in _COLUMNS.items()}
    mapping: dict[str, Any] = {field: column for field, column in columns.items() if column}
    is_of_assets = options["project_id"] and not (options["points_as_plots"] or options["points"])
    choices = options | {
        "kind": "assets" if is_of_assets else "projects",
        "filename": path.name[:FILENAME_LENGTH],
        "mapping": mapping | ({"metadata": list(attributes)} if attributes else {}),
        "match": _match_option(update, match),
        "names": dict(options["names"]),
    }
    with _on_disk(path) as file:
        outcomes = _run_import(owner, file, choices, dry_run=dry_run, quiet=as_json)
    warnings = [*outcomes.warnings(), *outcomes.plan_warnings(row.slug, row.plan)]
    if as_json:
        show_json(outcomes.document(row.id, warnings))
    else:
        outcomes.show(row.name, row.slug)
        for warning in warnings:
            print_text(f"\nWarning: {warning}", err=True)
    if outcomes.of("rejected"):
        ctx.exit(1)


def _match_option(update: bool, match: str | None) -> str:
    """Return how features match projects, by the options."""
    if not update:
        if match not in (None, "none"):
            raise click.UsageError("--match says which projects --update updates; add --update.")
        return "none"
    if match == "none":
        raise click.UsageError("--update needs --match external_id or --match name.")
    return match or "external_id"


@contextmanager
def _on_disk(path: Path) -> Iterator[Path]:
    """Yield a file that can be read several times: the content of a pipe is copied."""
    if path.is_file():
        yield path
        return
    with click.open_file(str(path), "rb") as file, tempfile.NamedTemporaryFile() as copy:
        shutil.copyfileobj(file, copy)
        copy.flush()
        yield Path(copy.name)


def _run_import(
    owner: Principal, path: Path, choices: dict[str, Any], *, dry_run: bool, quiet: bool
) -> Outcomes:
    """Read the file, again after each answer, and write its features unless it is a dry run."""
    answered: set[str] = set()
    while True:
        result = _run_once(owner, path, choices, answered, dry_run=dry_run, quiet=quiet)
        if isinstance(result, Outcomes):
            return result
        answered.add(result["code"])
        choices = with_answer(choices, ask_question(result))


def _run_once(
    owner: Principal,
    path: Path,
    choices: dict[str, Any],
    answered: Collection[str],
    *,
    dry_run: bool,
    quiet: bool,
) -> Outcomes | dict[str, Any]:
    """Read the file, and write its features unless it is a dry run. Returns the outcomes, or a
    question to ask first.

    Args:
        answered: codes of the questions not to ask again.
    """
    with transaction():
        row = service.create_import(owner, upload_id=None, **choices)
        import_id, leased = row.id, lease_import(row)
    try:
        _read_file(owner, leased, path, quiet=quiet)
        record = listing.read_import(owner, import_id)
        if record["status"] == "failed":
            raise CommandError(record["message"])
        question = required_question(record["questions"])
        if is_terminal() and not quiet:
            others = (other for other in record["questions"] if other["code"] not in answered)
            if question := question or next(others, None):
                return question
        elif question:
            raise open_question(question)
        numbers = feature_numbers(owner.account_id, import_id)
        for option, field in (("--leave-out", "left_out"), ("--name", "names")):
            if unknown := set(map(int, choices[field])) - numbers:
                raise CommandError(f"{option}: the file has no feature {min(unknown)}.")
        if not dry_run:
            _apply_import(owner, import_id, record, quiet=quiet)
        record = listing.read_import(owner, import_id)
        return Outcomes(record, all_features(owner.account_id, import_id), dry_run)
    finally:
        _delete_unwritten(owner, import_id)


def _read_file(owner: Principal, leased: LeasedImport, path: Path, *, quiet: bool) -> None:
    with own_step(owner, leased), ProgressBar("Reading  ", quiet=quiet) as bar:
        prepare_preview(leased, path, transaction, max_features=None, progress=bar)


def _apply_import(owner: Principal, import_id: str, record: dict[str, Any], *, quiet: bool) -> None:
    with transaction():
        row = service.apply_import(owner, import_id)
        targets, leased = import_targets(row), lease_import(row)
    with own_step(owner, leased), ProgressBar("Importing", quiet=quiet) as bar:
        bar.start(record["counts"]["new"] + record["counts"]["changed"])
        match, seconds = record["match"], float("inf")
        apply_features(leased, owner, targets, match, transaction, bar, max_seconds=seconds)


def _delete_unwritten(owner: Principal, import_id: str) -> None:
    """Delete an import that has written nothing, unless a worker goes on with it."""
    with transaction():
        row = service.lock_import(owner, import_id)
        is_written = any(count_states(row.account_id, row.id).values())
        if row.status in (*WORKING, "applied") or is_written:
            return
        row.status = "canceled"  # so that nobody applies a part of it
    delete_features(owner.account_id, import_id, transaction)
    with transaction():
        service.delete_import(service.lock_import(owner, import_id))

"""``bin/canopy import``: projects from a GeoJSON file."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final, cast

import click

from app.account.operator import find_account
from app.account.service import read_account
from app.auth.operator import acting_for, first_owner
from app.cli.context import in_database
from app.cli.import_output import (
    Choices,
    document_of,
    plan_warning,
    show_outcomes,
    warnings_of,
)
from app.cli.output import CommandError, account_option, examples, json_option, show_json
from app.db.transactions import transaction
from app.projects.feature_text import feature_name, guess_external_id, guess_name_property
from app.projects.features import Outcome, PropertyMapping, batches, prepare
from app.projects.geojson_file import FileInvalid, FileScan, no_advance, read_features, scan_file
from app.projects.importing import Import, Match
from app.usage.service import statistics
from app.values.text import fold

_MATCHES: Final = ("external_id", "name", "none")
_SHOWN: Final = 20  # names of properties in a message


@click.command("import")
@click.argument(
    "path",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path),
)
@account_option
@click.option(
    "--name-property",
    metavar="PROPERTY",
    help="The property with the names; by default, one that is usual for names.",
)
@click.option(
    "--external-id",
    metavar="PROPERTY",
    help="The property with your own ids; external_id by default.",
)
@click.option(
    "--attribute",
    "attributes",
    multiple=True,
    metavar="PROPERTY",
    help="A property for the metadata; can be repeated. By default, all others.",
)
@click.option("--update", is_flag=True, help="Update the projects that features match.")
@click.option(
    "--match",
    type=click.Choice(_MATCHES),
    help="How --update finds a feature's project; external_id by default.",
)
@click.option("--dry-run", is_flag=True, help="Write nothing; show what would happen.")
@json_option
@examples(
    "import districts.geojson --account green-woods --dry-run",
    "import districts.geojson --account green-woods --name-property DISTRICT",
    "import districts.geojson --account green-woods --external-id ID --update",
    "import - --account green-woods < districts.geojson",
)
@click.pass_context
@in_database
def import_(
    ctx: click.Context,
    path: Path,
    account: str,
    name_property: str | None,
    external_id: str | None,
    attributes: Sequence[str],
    update: bool,
    match: str | None,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Import projects from a GeoJSON file.

    Each feature becomes a project. FILE is a FeatureCollection, or Features one after the other
    (newline-delimited GeoJSON), of any size; - is standard input. A property external_id becomes
    the project's external id, a property description its description; all others become metadata.

    A project that already has the name and boundary of a feature is left unchanged, so you can
    import a file again. A feature with the name of a project but another boundary becomes a new
    project, with a number appended to the name. With --update, a feature updates the boundary,
    metadata and name of the project that it matches instead; metadata that is not in the file
    stays. Two boundaries are equal if each position agrees within 0.0000001 degrees.

    Invalid features are rejected and listed, and the rest is imported; the exit code is then 1.
    """
    found = find_account(account)
    owner = acting_for(found, first_owner(found.id))
    try:
        with _opened(path) as file:
            scan = _scan(file, quiet=as_json)
            mapping = PropertyMapping(
                _name_property(scan, name_property),
                _external_id(scan, external_id),
                _attributes(scan, attributes),
            )
            choices = Choices(mapping, _match(mapping, update, match), dry_run)
            job = Import(owner, dry_run, choices.match)
            if choices.match == "name":
                job.repeated_names = _repeated_names(file, scan, mapping)
            outcomes = _run(job, file, scan, mapping, quiet=as_json)
    except FileInvalid as error:
        raise CommandError(str(error)) from None
    warnings = [*warnings_of(choices, outcomes), *_plan_warning(found.id, choices, outcomes)]
    if as_json:
        show_json(document_of(found.id, choices, outcomes, warnings))
    else:
        show_outcomes(found.name, choices, outcomes)
        for warning in warnings:
            click.echo(f"\nWarning: {warning}", err=True)
    if any(outcome.result == "rejected" for outcome in outcomes):
        ctx.exit(1)


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    """The file, which is read several times: a pipe is saved first, and deleted at the end."""
    with click.open_file(str(path), "rb") as opened:
        file = cast("BinaryIO", opened)
        if file.seekable():
            yield file
            return
        with tempfile.TemporaryFile() as saved:
            shutil.copyfileobj(file, saved)
            saved.seek(0)
            yield cast("BinaryIO", saved)


def _scan(file: BinaryIO, *, quiet: bool) -> FileScan:
    """Read the file once, before anything is written. Raises FileInvalid."""
    with _progress(file, "Checking ", quiet=quiet) as advance:
        return scan_file(file, advance)


def _repeated_names(file: BinaryIO, scan: FileScan, mapping: PropertyMapping) -> set[str]:
    """The names that several features have, as ``fold`` makes them."""
    file.seek(0)
    names: Counter[str] = Counter()
    for _, feature in read_features(file, scan):
        properties = feature.get("properties") if isinstance(feature, dict) else None
        if isinstance(properties, dict):
            names[fold(feature_name(properties, mapping.name))] += 1
    return {name for name, number in names.items() if number > 1}


def _run(
    job: Import, file: BinaryIO, scan: FileScan, mapping: PropertyMapping, *, quiet: bool
) -> list[Outcome]:
    """Import the features, and commit every batch of them."""
    file.seek(0)
    outcomes: list[Outcome] = []
    try:
        with _progress(file, "Importing", quiet=quiet) as advance:
            features = read_features(file, scan, advance)
            prepared = (prepare(number, value, mapping) for number, value in features)
            for batch in batches(prepared):
                with transaction():
                    outcomes += job.add(batch)
    except KeyboardInterrupt:
        message = f"Interrupted after {len(outcomes)} features. Run the command again for the rest."
        raise CommandError(message) from None
    return outcomes


def _plan_warning(account_id: str, choices: Choices, outcomes: Sequence[Outcome]) -> Iterator[str]:
    """Where something was written: that the account has more than its plan is meant for."""
    if choices.dry_run or not any(outcome.result in ("new", "changed") for outcome in outcomes):
        return
    account = read_account(account_id)
    hectares = statistics(account_id, account["plan"])["hectares"]
    if warning := plan_warning(account["slug"], account["plan"], hectares):
        yield warning


def _name_property(scan: FileScan, given: str | None) -> str:
    """The property with the names. Raises UsageError when it is not clear which it is."""
    if not scan.properties:
        raise CommandError("No feature in the file has properties, but a project needs a name.")
    if given is not None:
        return _known(scan, given)
    guess = guess_name_property(scan)
    if guess is None:
        raise click.UsageError(
            f"Which property holds the names? Set --name-property; {_listed(scan)}."
        )
    return guess


def _external_id(scan: FileScan, given: str | None) -> str:
    """The property with the external ids; empty when there is none."""
    return _known(scan, given) if given is not None else guess_external_id(scan) or ""


def _attributes(scan: FileScan, given: Sequence[str]) -> tuple[str, ...] | None:
    return tuple(_known(scan, name) for name in given) or None


def _match(mapping: PropertyMapping, update: bool, given: str | None) -> Match | None:
    """How features find the projects that they change; None: they change none."""
    if not update:
        if given not in (None, "none"):
            raise click.UsageError("--match says which projects --update updates; add --update.")
        return None
    if given == "none":
        raise click.UsageError("--update needs --match external_id or --match name.")
    if given != "name" and not mapping.external_id:
        raise click.UsageError(
            "No property holds external ids. Set --external-id, or use --match name."
        )
    return "name" if given == "name" else "external_id"


def _known(scan: FileScan, name: str) -> str:
    if name not in scan.properties:
        raise click.UsageError(f"No feature has the property {name!r}; {_listed(scan)}.")
    return name


def _listed(scan: FileScan) -> str:
    return f"the file has: {', '.join(list(scan.properties)[:_SHOWN])}"


@contextmanager
def _progress(file: BinaryIO, label: str, *, quiet: bool) -> Iterator[Callable[[int], None]]:
    """A bar over the bytes of the file on a terminal, and nothing elsewhere."""
    if quiet or not sys.stderr.isatty():
        yield no_advance
        return
    size = os.fstat(file.fileno()).st_size
    with click.progressbar(length=size, label=label, file=sys.stderr) as bar:
        yield bar.update


commands = [import_]

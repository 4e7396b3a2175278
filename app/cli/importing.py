"""``bin/canopy import``: projects from a GeoJSON file."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Final

import click

from app.account.operator import find_account
from app.auth.operator import acting_for, first_owner
from app.cli.context import in_database
from app.cli.output import (
    CommandError,
    account_option,
    examples,
    format_cell,
    json_option,
    show_json,
    show_table,
)
from app.db.transactions import transaction
from app.geometry import Problem
from app.projects.feature_text import guess_name_property
from app.projects.geojson_file import FileInvalid, FileScan, no_advance, read_features, scan_file
from app.projects.importing import Import, Outcome, batches, prepare

_PROBLEMS_SHOWN: Final = 3


@click.command("import")
@click.argument(
    "path", metavar="FILE", type=click.Path(exists=True, dir_okay=False, path_type=Path)
)
@account_option
@click.option(
    "--name-property",
    metavar="PROPERTY",
    help="The property that holds the names; found by its usual names when left out.",
)
@click.option("--dry-run", is_flag=True, help="Write nothing; say what would be done.")
@json_option
@examples(
    "import districts.geojson --account green-woods --dry-run",
    "import districts.geojson --account green-woods --name-property DISTRICT",
)
@click.pass_context
@in_database
def import_(
    ctx: click.Context,
    path: Path,
    account: str,
    name_property: str | None,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Import projects from a GeoJSON file.

    Each feature becomes a project. FILE is a FeatureCollection, or Features one after the other
    (newline-delimited GeoJSON), of any size. The other properties go into the description. A
    feature that is already present, with the same name and boundary, is skipped, so a file can be
    imported again; another one of the same name gets a number behind it. What is not valid is
    rejected and named, and the rest is imported: the exit code is then 1.
    """
    found = find_account(account)
    owner = acting_for(found, first_owner(found.id))
    job = Import(owner, dry_run)
    try:
        with path.open("rb") as file:
            scan = _scan(file, quiet=as_json)
            chosen = _name_property(scan, name_property)
            outcomes = _run(job, file, scan, chosen, quiet=as_json)
    except FileInvalid as error:
        raise CommandError(str(error)) from None
    if as_json:
        show_json(_document(found.id, chosen, dry_run, outcomes))
    else:
        _show(found.name, chosen, dry_run, outcomes)
    if any(outcome.result == "rejected" for outcome in outcomes):
        ctx.exit(1)


def _scan(file: BinaryIO, *, quiet: bool) -> FileScan:
    """Read the file once, before anything is written. Raises FileInvalid."""
    if not file.seekable():
        raise CommandError("FILE is read twice and cannot be a pipe; save it first.")
    with _progress(file, "Checking ", quiet=quiet) as advance:
        return scan_file(file, advance)


def _run(
    job: Import, file: BinaryIO, scan: FileScan, name_property: str, *, quiet: bool
) -> list[Outcome]:
    """Import the features, and commit every batch of them."""
    file.seek(0)
    outcomes: list[Outcome] = []
    try:
        with _progress(file, "Importing", quiet=quiet) as advance:
            features = read_features(file, scan, advance)
            prepared = (prepare(number, value, name_property) for number, value in features)
            for batch in batches(prepared):
                with transaction():
                    outcomes += job.add(batch)
    except KeyboardInterrupt:
        message = f"Interrupted after {len(outcomes)} features. Run it again for the rest."
        raise CommandError(message) from None
    return outcomes


def _name_property(scan: FileScan, given: str | None) -> str:
    """The property with the names. Raises UsageError when it is not clear which it is."""
    if not scan.properties:
        raise CommandError("No feature of the file has properties, and a project needs a name.")
    known = ", ".join(list(scan.properties)[:20])
    if given is None:
        guess = guess_name_property(scan)
        if guess is None:
            raise click.UsageError(
                f"Which property holds the names? Say it with --name-property; there are: {known}."
            )
        return guess
    if given not in scan.properties:
        raise click.UsageError(f"No feature has the property {given!r}; there are: {known}.")
    return given


@contextmanager
def _progress(file: BinaryIO, label: str, *, quiet: bool) -> Iterator[Callable[[int], None]]:
    """A bar over the bytes of the file on a terminal, and nothing elsewhere."""
    if quiet or not sys.stderr.isatty():
        yield no_advance
        return
    size = os.fstat(file.fileno()).st_size
    with click.progressbar(length=size, label=label, file=sys.stderr) as bar:
        yield bar.update


def _document(
    account_id: str, name_property: str, dry_run: bool, outcomes: Sequence[Outcome]
) -> dict[str, Any]:
    """What ``--json`` prints."""
    imported, present, rejected = _by_result(outcomes)
    return {
        "account_id": account_id,
        "name_property": name_property,
        "dry_run": dry_run,
        "summary": {
            "features": len(outcomes),
            "imported": len(imported),
            "already_present": len(present),
            "rejected": len(rejected),
            "hectares": _hectares(imported),
        },
        "imported": [
            {
                "feature": one.number,
                "name": one.name,
                "project_id": one.project_id,
                "area_hectares": None if one.area_m2 is None else one.area_m2 / 10_000,
            }
            for one in imported
        ],
        "already_present": [{"feature": one.number, "name": one.name} for one in present],
        "rejected": [
            {"feature": one.number, "name": one.name, "problems": one.problems} for one in rejected
        ],
    }


def _show(
    account_name: str, name_property: str, dry_run: bool, outcomes: Sequence[Outcome]
) -> None:
    imported, present, rejected = _by_result(outcomes)
    if imported:
        click.echo("Would import:" if dry_run else "Imported:")
        areas = [None if one.area_m2 is None else one.area_m2 / 10_000 for one in imported]
        rows = [(one.number, one.name, area) for one, area in zip(imported, areas, strict=True)]
        show_table(("feature", "name", "hectares"), rows)
        click.echo()
    if rejected:
        click.echo("Rejected (features count from 1; parts, rings and positions from 0):")
        for one in rejected:
            _show_rejected(one)
        click.echo()
    verb = "Would import" if dry_run else "Imported"
    click.echo(
        f"{verb} {len(imported)} of {len(outcomes)} features into {account_name}, "
        f"{format_cell(_hectares(imported))} ha; {len(present)} already present, "
        f"{len(rejected)} rejected. Names are from the property {name_property!r}."
    )


def _show_rejected(outcome: Outcome) -> None:
    click.echo(f"feature {outcome.number}  {outcome.name or '(no name)'}")
    for problem in outcome.problems[:_PROBLEMS_SHOWN]:
        click.echo(f"  {_place(problem)}{problem.message}")
    left = len(outcome.problems) - _PROBLEMS_SHOWN
    if left > 0:
        click.echo(f"  … and {left} more; --json names each.")


def _place(problem: Problem) -> str:
    """The coordinates of a problem; its message begins with part, ring and position."""
    if problem.coordinates is None:
        return ""
    longitude, latitude = problem.coordinates
    return f"at {longitude!r}, {latitude!r}: "


def _by_result(outcomes: Sequence[Outcome]) -> Iterator[list[Outcome]]:
    """The features that were imported, those already present, and those rejected."""
    for result in ("imported", "already_present", "rejected"):
        yield [outcome for outcome in outcomes if outcome.result == result]


def _hectares(outcomes: Sequence[Outcome]) -> float:
    return sum(outcome.area_m2 or 0 for outcome in outcomes) / 10_000


commands = [import_]

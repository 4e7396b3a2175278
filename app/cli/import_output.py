"""What ``bin/canopy import`` prints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import click

from app.cli.output import format_cell, show_table
from app.cli.plans import larger_plan
from app.geometry import Problem
from app.projects.features import Outcome, PropertyMapping
from app.projects.importing import Match

_RESULTS: Final = ("new", "changed", "same", "rejected")
_PROBLEMS_SHOWN: Final = 3
_PROPERTY: Final = "properties."


class Choices(NamedTuple):
    """How a file is imported."""

    mapping: PropertyMapping
    match: Match | None  # None: no project is changed
    dry_run: bool


def document_of(
    account_id: str, choices: Choices, outcomes: Sequence[Outcome], warnings: Sequence[str]
) -> dict[str, Any]:
    """What ``--json`` prints."""
    by_result = _by_result(outcomes)
    return {
        "account_id": account_id,
        "name_property": choices.mapping.name,
        "external_id_property": choices.mapping.external_id or None,
        "match": choices.match or "none",
        "dry_run": choices.dry_run,
        "summary": {
            "features": len(outcomes),
            **{result: len(found) for result, found in by_result.items()},
            "hectares": _total(by_result["new"]),
        },
        "warnings": list(warnings),
        "new": [
            {**_head(one), "project_id": one.project_id, "area_hectares": _hectares(one.area_m2)}
            for one in by_result["new"]
        ],
        "changed": [
            {
                **_head(one),
                "project_id": one.project_id,
                "area_hectares": _hectares(one.area_m2),
                "previous_area_hectares": _hectares(one.previous_area_m2),
                "changes": one.changes,
            }
            for one in by_result["changed"]
        ],
        "same": [{**_head(one), "project_id": one.project_id} for one in by_result["same"]],
        "rejected": [{**_head(one), "problems": one.problems} for one in by_result["rejected"]],
    }


def warnings_of(choices: Choices, outcomes: Sequence[Outcome]) -> Iterator[str]:
    """What was probably not meant, in a sentence or two each."""
    if number := sum(outcome.is_namesake for outcome in outcomes):
        yield _namesakes(number, dry_run=choices.dry_run)
    if number := sum(outcome.result == "same" and outcome.changes != () for outcome in outcomes):
        options = "--update" if choices.mapping.external_id else "--update --match name"
        yield (
            f"{_features_have(number)} the name and boundary of an existing project, but other "
            f"attributes. The project is left unchanged. To update it, import with {options}."
        )


def plan_warning(account: str, plan: str, hectares: dict[str, Any]) -> str | None:
    """A sentence if an account has more hectares than its plan is meant for.

    Args:
        account: its slug.
        hectares: ``current`` and ``limit``, as in its usage.
    """
    if hectares["limit"] is None or hectares["current"] <= hectares["limit"]:
        return None
    change = ""
    if larger := larger_plan(plan):
        change = f" Change it with: bin/canopy account update {account} --plan {larger}"
    return (
        f"{account} has {format_cell(hectares['current'])} ha now, more than the "
        f"{hectares['limit']:,} ha of its plan, {plan}. Nothing is blocked.{change}"
    )


def _features_have(number: int) -> str:
    return "1 feature has" if number == 1 else f"{number:,} features have"


def _namesakes(number: int, *, dry_run: bool) -> str:
    becomes = "becomes" if dry_run else "became"
    return (
        f"{_features_have(number)} the name of an existing project, but another boundary. Each "
        f"{becomes} a new project, with a number appended to the name. To update the existing "
        "projects instead, import with --update --match name."
    )


def show_outcomes(account_name: str, choices: Choices, outcomes: Sequence[Outcome]) -> None:
    """Print tables of what is new, changed and rejected, and a sentence about all of it."""
    by_result = _by_result(outcomes)
    _show_new(by_result["new"], dry_run=choices.dry_run)
    _show_changed(by_result["changed"], dry_run=choices.dry_run)
    _show_rejected(by_result["rejected"])
    verb = "Would import" if choices.dry_run else "Imported"
    number = len(by_result["new"]) + len(by_result["changed"])
    counts = ", ".join(f"{len(found):,} {result}" for result, found in by_result.items())
    click.echo(f"{verb} {number:,} of {len(outcomes):,} features into {account_name}: {counts}.")
    if by_result["new"]:
        cover = "would cover" if choices.dry_run else "cover"
        click.echo(f"New projects {cover} {format_cell(_total(by_result['new']))} ha.")
    mapping = choices.mapping
    ids = f", external ids from {mapping.external_id!r}" if mapping.external_id else ""
    click.echo(f"Names come from the property {mapping.name!r}{ids}.")


def _show_new(outcomes: Sequence[Outcome], *, dry_run: bool) -> None:
    if outcomes:
        click.echo("Would be new:" if dry_run else "New:")
        rows = [(one.number, one.name, _hectares(one.area_m2)) for one in outcomes]
        show_table(("feature", "name", "hectares"), rows)
        click.echo()


def _show_changed(outcomes: Sequence[Outcome], *, dry_run: bool) -> None:
    if outcomes:
        click.echo("Would change:" if dry_run else "Changed:")
        rows = [
            (
                one.number,
                one.name,
                _hectares(one.previous_area_m2),
                _hectares(one.area_m2),
                one.changes,
            )
            for one in outcomes
        ]
        show_table(("feature", "name", "hectares before", "hectares", "what"), rows)
        click.echo()


def _show_rejected(outcomes: Sequence[Outcome]) -> None:
    if not outcomes:
        return
    click.echo("Rejected (features are counted from 1; parts, rings and positions from 0):")
    for outcome in outcomes:
        click.echo(f"feature {outcome.number}  {outcome.name or '(no name)'}")
        for problem in outcome.problems[:_PROBLEMS_SHOWN]:
            click.echo(f"  {_place(problem)}{problem.message}")
        left = len(outcome.problems) - _PROBLEMS_SHOWN
        if left > 0:
            click.echo(f"  … and {left} more; --json lists all.")
    click.echo()


def _place(problem: Problem) -> str:
    """The coordinates of a problem, whose message begins with part, ring and position, or the
    property that has a value which is not valid."""
    if problem.code == "not_valid" and problem.field.startswith(_PROPERTY):
        return f"{problem.field.removeprefix(_PROPERTY)}: "
    if problem.coordinates is None:
        return ""
    longitude, latitude = problem.coordinates
    return f"at {longitude!r}, {latitude!r}: "


def _head(outcome: Outcome) -> dict[str, Any]:
    return {"feature": outcome.number, "name": outcome.name}


def _by_result(outcomes: Sequence[Outcome]) -> dict[str, list[Outcome]]:
    return {
        result: [outcome for outcome in outcomes if outcome.result == result] for result in _RESULTS
    }


def _hectares(area_m2: int | None) -> float | None:
    return None if area_m2 is None else area_m2 / 10_000


def _total(outcomes: Sequence[Outcome]) -> float:
    return sum(outcome.area_m2 or 0 for outcome in outcomes) / 10_000

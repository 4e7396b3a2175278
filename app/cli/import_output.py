"""The output of ``bin/canopy import``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from app.cli.import_questions import question_warning
from app.cli.output import format_cell, print_text, show_table
from app.cli.plans import larger_plan
from app.imports.record import country_words, overlap_words
from app.policy.imports import IMPORT_DAYS, PROBLEMS, VERDICTS
from app.values.command_name import canopy_command
from app.values.records import hectares

_PROBLEMS_SHOWN: Final = 3
_REJECTED_SHOWN: Final = 20
ROWS_SHOWN: Final = 200
_PROPERTY: Final = "properties."


@dataclass(frozen=True, slots=True)
class Outcomes:
    """The outcomes of the features of a file."""

    record: dict[str, Any]
    rows: Sequence[Any]
    dry_run: bool

    def of(self, verdict: str) -> list[Any]:
        """Return the rows with a verdict that are not left out."""
        return [row for row in self.rows if row.verdict == verdict and not row.left_out]

    def document(self, account_id: str, warnings: Sequence[str]) -> dict[str, Any]:
        """Return the document that ``--json`` prints."""
        mapping, counts = self.record["mapping"], self.record["counts"]
        return {
            "account_id": account_id,
            "import_id": None if self.dry_run else self.record["id"],
            "format": self.record["format"],
            "layer": self.record["layer"],
            "crs": self.record["crs"],
            "bbox": self.record["bbox"],
            "name_property": mapping.get("name"),
            "external_id_property": mapping.get("external_id"),
            "match": self.record["match"],
            "dry_run": self.dry_run,
            "summary": {
                "features": len(self.rows),
                **{name: counts[name] for name in (*VERDICTS, "left_out")},
                "hectares": _total_hectares(self.of("new")),
                "overlapping": counts["overlapping"],
                "overlapping_hectares": self.record["hectares"]["overlapping"],
            },
            "hectares": self.record["hectares"],
            "countries": self.record["countries"],
            "warnings": list(warnings),
            "new": [
                {
                    **_row_head(row),
                    "area_hectares": hectares(row.area_m2),
                    "overlaps": row.overlaps or [],
                }
                for row in self.of("new")
            ],
            "changed": [
                {
                    **_row_head(row),
                    "area_hectares": hectares(row.area_m2),
                    "previous_area_hectares": hectares(row.previous_area_m2),
                    "changes": row.changes,
                    "overlaps": row.overlaps or [],
                }
                for row in self.of("changed")
            ],
            "same": [_row_head(row) for row in self.of("same")],
            "rejected": [
                {"feature": row.number, "name": row.name, "problems": row.problems}
                for row in self.of("rejected")
            ],
            "left_out": [_row_head(row) for row in self.rows if row.left_out],
        }

    def warnings(self) -> Iterator[str]:
        """Yield warnings about what was left out or is probably not intended."""
        yield from self.record["notes"]
        for question in self.record["questions"]:
            yield question_warning(question)
        if number := sum(row.is_namesake for row in self.of("new")):
            yield _namesakes_sentence(number, dry_run=self.dry_run)
        if self.record["match"] != "none":
            return
        if number := sum(bool(row.changes) for row in self.of("same")):
            has_ids = self.record["mapping"].get("external_id")
            options = "--update" if has_ids else "--update --match name"
            yield (
                f"{_features_have(number)} the name and boundary of an existing project, but other "
                f"attributes. The project is left unchanged. To update it, import with {options}."
            )

    def plan_warnings(self, account: str, plan: str) -> Iterator[str]:
        """Yield a sentence if the account, by its slug, has more hectares than its plan is meant
        for."""
        areas = self.record["hectares"]
        limit = areas.get("limit")
        if limit is None or areas["account"] <= limit or areas["after"] == areas["before"]:
            return
        change = ""
        if larger := larger_plan(plan):
            update = canopy_command(f"account update {account} --plan {larger}")
            change = f" Change it with: {update}"
        number = f"{format_cell(areas['account'])} ha"
        has = f"would have {number}" if self.dry_run else f"has {number} now"
        yield (
            f"{account} {has}, more than the {limit:,} ha of its plan, {plan}. Nothing is blocked."
            f"{change}"
        )

    def show(self, account_name: str, account_slug: str) -> None:
        """Print tables of new, changed and rejected features, and a summary."""
        new, changed = self.of("new"), self.of("changed")
        rows: list[tuple[Any, ...]]
        rows = [(row.number, row.name, hectares(row.area_m2)) for row in new]
        self._table("Would be new:", "New:", ("feature", "name", "hectares"), rows)
        names = ("feature", "name", "hectares before", "hectares", "what")
        rows = [
            (
                row.number,
                row.name,
                hectares(row.previous_area_m2),
                hectares(row.area_m2),
                row.changes,
            )
            for row in changed
        ]
        self._table("Would change:", "Changed:", names, rows)
        rows = list(_overlap_rows(new + changed))
        names = ("feature", "name", "overlaps with", "hectares", "share")
        self._table("Would overlap:", "Overlaps:", names, rows)
        _show_rejected(self.of("rejected"))
        verb = "Would import" if self.dry_run else "Imported"
        counts = ", ".join(f"{self.record['counts'][name]:,} {name}" for name in VERDICTS)
        if left_out := self.record["counts"]["left_out"]:
            counts += f", {left_out:,} left out"
        number = f"{len(new) + len(changed):,} of {len(self.rows):,} features"
        print_text(f"{verb} {number} into {account_name}: {counts}.")
        if new and self.record["kind"] == "projects":
            cover = "would cover" if self.dry_run else "cover"
            print_text(f"New projects {cover} {format_cell(_total_hectares(new))} ha.")
        for words in overlap_words(self.record, lambda area: f"{format_cell(area)} ha"):
            print_text(f"{words}.")
        self._show_mapping()
        if not self.dry_run and new + changed:
            undo = canopy_command(f"undo-import {self.record['id']} --account {account_slug}")
            print_text(f"To undo this within {IMPORT_DAYS} days: {undo}")

    def _show_mapping(self) -> None:
        mapping, crs = self.record["mapping"], self.record["crs"]
        if name := mapping.get("name"):
            ids = mapping.get("external_id")
            and_ids = f", external ids from {ids!r}" if ids else ""
            print_text(f"Names come from the column {name!r}{and_ids}.")
        else:
            print_text(
                "No column looks like names, so the features are numbered. "
                "Choose one with --name-property."
            )
        if crs not in (None, "EPSG:4326"):
            print_text(f"Coordinates were transformed from {crs}.")
        if countries := country_words(self.record):
            print_text(f"{countries}.")
        if box := self.record["bbox"]:
            west, south, east, north = box
            print_text(
                f"The features lie between {west:.4f}, {south:.4f} and {east:.4f}, {north:.4f} "
                "(longitude, latitude)."
            )

    def _table(
        self,
        dry_run_title: str,
        title: str,
        names: Sequence[str],
        rows: Sequence[Sequence[Any]],
    ) -> None:
        if rows:
            print_text(dry_run_title if self.dry_run else title)
            show_table(names, rows[:ROWS_SHOWN])
            if len(rows) > ROWS_SHOWN:
                print_text(f"… and {len(rows) - ROWS_SHOWN:,} more; --json lists all.")
            print_text()


def _features_have(number: int) -> str:
    return "1 feature has" if number == 1 else f"{number:,} features have"


def _namesakes_sentence(number: int, *, dry_run: bool) -> str:
    becomes = "becomes" if dry_run else "became"
    return (
        f"{_features_have(number)} the name of an existing project, but another boundary. Each "
        f"{becomes} a new project, with a number appended to the name. To update the existing "
        "projects instead, import with --update --match name."
    )


def _overlap_rows(rows: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
    for row in rows:
        for overlap in row.overlaps or ():
            other = overlap["name"] if overlap["project_id"] else f"feature {overlap['number']}"
            share = f"{overlap['share']:.1%}"
            yield row.number, row.name, other, overlap["overlap_hectares"], share


def _show_rejected(rows: Sequence[Any]) -> None:
    if not rows:
        return
    print_text("Rejected (features are counted from 1; parts, rings and positions from 0):")
    for row in rows[:_REJECTED_SHOWN]:
        print_text(f"feature {row.number}  {row.name or '(no name)'}")
        for problem in row.problems[:_PROBLEMS_SHOWN]:
            print_text(f"  {_problem_place(problem)}{problem['message']}")
        left = len(row.problems) - _PROBLEMS_SHOWN
        if len(row.problems) == PROBLEMS:
            print_text(f"  … and at least {left} more; --json lists {PROBLEMS}.")
        elif left > 0:
            print_text(f"  … and {left} more; --json lists all.")
    if len(rows) > _REJECTED_SHOWN:
        print_text(f"… and {len(rows) - _REJECTED_SHOWN:,} more features; --json lists all.")
    print_text()


def _problem_place(problem: dict[str, Any]) -> str:
    """Return the coordinates of a problem, whose message begins with part, ring and position, or
    the column with an invalid value."""
    if problem["code"] == "not_valid" and problem["field"].startswith(_PROPERTY):
        return f"{problem['field'].removeprefix(_PROPERTY)}: "
    if problem["coordinates"] is None:
        return ""
    longitude, latitude = problem["coordinates"]
    return f"at {longitude!r}, {latitude!r}: "


def _row_head(row: Any) -> dict[str, Any]:
    target = {"asset_id" if row.is_plot else "project_id": row.target_id}
    return {"feature": row.number, "name": row.name, **target}


def _total_hectares(rows: Sequence[Any]) -> float:
    return sum(row.area_m2 or 0 for row in rows) / 10_000

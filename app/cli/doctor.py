"""``bin/canopy doctor``: checking and repairing this instance."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Final

import click

from app.cli.context import in_database
from app.cli.failures import errors_as_messages
from app.cli.output import add_examples, json_option, print_text, show_json
from app.cli.settings import prepare_environment
from app.db.snapshots import database_url
from app.db.transactions import transaction
from app.doctor.doctor import run_checks
from app.doctor.findings import Finding, Status
from app.doctor.repairs import Repairs, repair_instance
from app.settings.current import current_settings

_COLOURS: Final = {Status.OK: "green", Status.WARNING: "yellow", Status.PROBLEM: "red"}
_NAME_WIDTH: Final = 16
_SHOWN: Final = 3  # ids


@click.command("doctor")
@click.option(
    "--repair",
    "repairs",
    is_flag=True,
    help="First correct what is derived from other data and wrong: areas, boxes and search texts, "
    "boundary histories, map shapes, search indexes and counters.",
)
@json_option
@add_examples("doctor", "doctor --json", "doctor --repair")
@click.pass_context
@errors_as_messages
def doctor(ctx: click.Context, repairs: bool, as_json: bool) -> None:
    """Find out what is wrong with this instance and how to fix it.

    Without --repair, nothing is changed or started. The exit code is 1 if there is a problem;
    warnings do not count.
    """
    results, names = None, None
    if repairs:
        results = _repair_instance()
        if not as_json:
            _show_repairs(results)
    else:
        names = prepare_environment()
    findings = []
    for finding in run_checks(os.environ, names):
        findings.append(finding)
        if not as_json:
            _show_finding(finding)
    problems = sum(finding.status is Status.PROBLEM for finding in findings)
    if as_json:
        show_json(_findings_document(findings) | (results._asdict() if results else {}))
    else:
        warnings = sum(finding.status is Status.WARNING for finding in findings)
        note = f" Warnings: {warnings}." if warnings else ""
        print_text(f"\nProblems: {problems or 'none'}.{note}")
    ctx.exit(1 if problems else 0)


@in_database
def _repair_instance() -> Repairs:
    return repair_instance(database_url(current_settings()), transaction)


def _show_repairs(results: Repairs) -> None:
    for kind, names in results.repaired.items():
        more = " …" if len(names) > _SHOWN else ""
        print_text(f"Repaired {kind}: {len(names):,} ({', '.join(names[:_SHOWN])}{more})")
    for name, reason in results.refused.items():
        print_text(f"Not repaired: {name}: {reason}")
    if not (results.repaired or results.refused):
        print_text("Nothing to repair.")
    print_text("")


def _show_finding(finding: Finding) -> None:
    """Print a line with the finding, and a line with the advice."""
    click.secho(f"{finding.status:<7}", fg=_COLOURS[finding.status], nl=False)
    print_text(f"  {finding.check:<{_NAME_WIDTH}}  {finding.found}")
    if finding.advice:
        print_text(f"{'':{_NAME_WIDTH + 11}}→ {finding.advice}")


def _findings_document(findings: Sequence[Finding]) -> dict[str, Any]:
    return {
        "ok": not any(finding.status is Status.PROBLEM for finding in findings),
        "checks": [
            {
                "name": finding.check,
                "status": finding.status.value,
                "found": finding.found,
                "advice": finding.advice or None,
            }
            for finding in findings
        ],
    }

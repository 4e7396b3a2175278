"""``bin/canopy doctor``: finding out what is wrong with this instance."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Final

import click

from app.cli.failures import errors_as_messages
from app.cli.output import echo, examples, json_option, show_json
from app.cli.settings import prepare_environment
from app.db.snapshots import database_url
from app.doctor.counters import WrongCounters, correct_counters
from app.doctor.doctor import DoctorFinding, run_checks
from app.doctor.results import Status
from config import load_settings

_COLOURS: Final = {Status.OK: "green", Status.WARNING: "yellow", Status.PROBLEM: "red"}
_NAME_WIDTH: Final = 16


@click.command("doctor")
@click.option("--fix-counters", is_flag=True, help="Correct wrong account counters first.")
@json_option
@examples("doctor", "doctor --json", "doctor --fix-counters")
@click.pass_context
@errors_as_messages
def doctor(ctx: click.Context, fix_counters: bool, as_json: bool) -> None:
    """Find out what is wrong with this instance and how to fix it.

    Without --fix-counters, nothing is changed or started. The exit code is 1 if there is a problem;
    warnings do not count.
    """
    prepare_environment()
    corrected = _correct_counters(quiet=as_json) if fix_counters else []
    findings = []
    for finding in run_checks(os.environ):
        findings.append(finding)
        if not as_json:
            _show(finding)
    problems = sum(finding.is_problem for finding in findings)
    if as_json:
        show_json(_document(findings, corrected))
    else:
        warnings = sum(finding.result.status is Status.WARNING for finding in findings)
        told = f" Warnings: {warnings}." if warnings else ""
        echo(f"\nProblems: {problems or 'none'}.{told}")
    ctx.exit(1 if problems else 0)


def _correct_counters(*, quiet: bool) -> list[WrongCounters]:
    corrected = correct_counters(database_url(load_settings(creates=False)))
    if not quiet:
        echo(f"Corrected the counters of {len(corrected):,} accounts.\n", err=True)
    return corrected


def _show(finding: DoctorFinding) -> None:
    """Print a line with the finding, and below it one with the advice."""
    result = finding.result
    word = click.style(f"{result.status:<7}", fg=_COLOURS[result.status])
    click.echo(word, nl=False)
    echo(f"  {finding.name:<{_NAME_WIDTH}}  {result.found}")
    if result.advice:
        echo(f"{'':{_NAME_WIDTH + 11}}→ {result.advice}")


def _document(
    findings: Sequence[DoctorFinding], corrected: Sequence[WrongCounters]
) -> dict[str, Any]:
    return {
        "ok": not any(finding.is_problem for finding in findings),
        "checks": [
            {
                "name": finding.name,
                "status": finding.result.status.value,
                "found": finding.result.found,
                "advice": finding.result.advice or None,
            }
            for finding in findings
        ],
        "corrected_accounts": [each.account_id for each in corrected],
    }


commands = [doctor]

"""Checks of counters, derived columns and encrypted values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from sqlalchemy import Connection

from app.doctor.counters import WrongCounters, wrong_counters
from app.doctor.derived import wrong_rows
from app.doctor.findings import Finding, ok, problem, warning
from app.maintenance.sealed_values import sealed_values
from app.security.sealing import is_sealed_by, sealer_of
from app.values.command_name import canopy_command
from app.values.text import pluralize
from config import Settings

SAMPLE: Final = 200  # rows of a table
_SHOWN: Final = 3


def check_counters(connection: Connection) -> Iterator[Finding]:
    """Check that the counters of each account match its rows."""
    wrong = list(wrong_counters(connection))
    if not wrong:
        yield ok("the counters of all accounts agree with what they count")
        return
    examples = "; ".join(map(_describe_wrong_counters, wrong[:_SHOWN]))
    yield problem(
        f"The counters of {pluralize(len(wrong), 'account')} are wrong: {examples}",
        f"Run: {canopy_command()} doctor --repair",
    )


def check_encrypted_values(connection: Connection, settings: Settings) -> Iterator[Finding]:
    """Check that the current SECRET_KEY can decrypt all encrypted values."""
    current = sealer_of(settings.secret_key)
    former = sealer_of(settings.secret_key_former) if settings.secret_key_former else None
    readable, by_former, unreadable = 0, 0, Counter[str]()
    for table, value in sealed_values(connection):
        if is_sealed_by(current, value):
            readable += 1
        elif former and is_sealed_by(former, value):
            by_former += 1
        else:
            unreadable[table] += 1
    if unreadable:
        numbers = ", ".join(f"{number:,} in {table}" for table, number in unreadable.items())
        yield problem(
            f"Some values were encrypted with another SECRET_KEY and cannot be read: {numbers}",
            f"Set SECRET_KEY_FORMER to that key and run {canopy_command()} secret-key finish. If "
            f"the key is lost, run {canopy_command()} webhook rotate-secret for each webhook, and "
            'see "If the key is lost" in /docs/guides/repair.',
        )
    if by_former:
        yield warning(
            f"Values still encrypted with SECRET_KEY_FORMER: {by_former:,}",
            f"Once everything is restarted, run: {canopy_command()} secret-key finish",
        )
    if not unreadable and not by_former:
        yield ok(f"the current SECRET_KEY can decrypt all encrypted values ({readable:,})")


def check_derived_values(connection: Connection) -> Iterator[Finding]:
    """Check a sample of projects and assets: area, bounds, search text, boundary history, map
    shapes and other derived columns."""
    wrong = list(wrong_rows(connection, SAMPLE))
    if not wrong:
        yield ok(f"they are right in all projects and assets, or in {SAMPLE} of each")
        return
    examples = "; ".join(f"{row.id} ({', '.join(row.wrong)})" for row in wrong[:_SHOWN])
    yield problem(
        f"What is derived from {pluralize(len(wrong), 'row')} of a sample is wrong: {examples}",
        f"Run: {canopy_command()} doctor --repair. Somebody with SQL has changed these rows "
        "(/docs/guides/database-webhook).",
    )


def _describe_wrong_counters(wrong: WrongCounters) -> str:
    account_id, stored, actual = wrong
    if stored is None:
        return f"{account_id} has none"
    parts = [
        f"{name} {stored[name]:,} instead of {actual[name]:,}"
        for name in stored
        if stored[name] != actual[name]
    ]
    return f"{account_id} {', '.join(parts)}"

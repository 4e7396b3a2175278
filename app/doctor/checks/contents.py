"""Checks of redundant values: counters and derived columns are right, encrypted values readable."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final, cast

import orjson
from sqlalchemy import Connection, Table, func

from app.auth.tenant import select_of_all_accounts
from app.doctor.counters import WrongCounters, wrong_counters, wrong_histories
from app.doctor.results import Result, ok, problem, warning
from app.geometry import GeometryInvalid, read_boundary
from app.maintenance.sealed import sealed_values
from app.models import Project
from app.projects.derived import search_columns, stored_bytes
from app.security.sealing import is_sealed_by, sealer_of
from app.values.command_name import canopy_command
from config import Settings

SAMPLE: Final = 200  # projects; all of them when there are no more
_SHOWN: Final = 3
_PROJECTS: Final = cast("Table", Project.__table__)


def counters(connection: Connection) -> Iterator[Result]:
    """The counters of each account match its rows."""
    wrong = [*wrong_counters(connection), *wrong_histories(connection)]
    if not wrong:
        yield ok("the counters of all accounts agree with what they count")
        return
    shown = "; ".join(_describe(each) for each in wrong[:_SHOWN])
    yield problem(
        f"The counters of {len(wrong):,} accounts are wrong: {shown}",
        f"Run: {canopy_command()} doctor --fix-counters",
    )


def encrypted(connection: Connection, settings: Settings) -> Iterator[Result]:
    """The current SECRET_KEY can decrypt all encrypted values."""
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
        shown = ", ".join(f"{number:,} in {table}" for table, number in unreadable.items())
        yield problem(
            f"Some values were encrypted with another SECRET_KEY and cannot be read: {shown}",
            f"Set SECRET_KEY_FORMER to that key and run {canopy_command()} secret-key finish. If "
            f"the key is lost, run {canopy_command()} webhook rotate-secret for each webhook, and "
            'see "If the key is lost" in /docs/guides/operations.',
        )
    if by_former:
        yield warning(
            f"Values still encrypted with SECRET_KEY_FORMER: {by_former:,}",
            f"Once everything is restarted, run: {canopy_command()} secret-key finish",
        )
    if not unreadable and not by_former:
        yield ok(f"the current SECRET_KEY can decrypt all encrypted values ({readable:,})")


def derived(connection: Connection) -> Iterator[Result]:
    """Area, bounds and search text of a sample of projects match their other columns."""
    sample = list(_sample(connection))
    wrong = [(row.id, columns) for row in sample if (columns := _drifted(row))]
    if not wrong:
        yield ok(f"area, bounds and search text of {len(sample):,} projects are right")
        return
    shown = "; ".join(f"{name} ({', '.join(columns)})" for name, columns in wrong[:_SHOWN])
    yield problem(
        f"Derived columns of {len(wrong):,} of {len(sample):,} projects are wrong: {shown}",
        "Something other than Canopy changed these rows. Report each one to /api/db/webhook "
        "(/docs/guides/database-webhook), or PUT the project with its geometry and a changed "
        "description: both recompute the columns. Then run: "
        f"{canopy_command()} doctor --fix-counters",
    )


def _describe(wrong: WrongCounters) -> str:
    account_id, stored, actual = wrong
    if stored is None:
        return f"{account_id} has none"
    parts = [
        f"{name} {stored[name]:,} instead of {actual[name]:,}"
        for name in stored
        if stored[name] != actual[name]
    ]
    return f"{account_id} {', '.join(parts)}"


def _sample(connection: Connection) -> Iterator[Any]:
    """All projects if they are few, else a random sample."""
    low, high, number = connection.execute(
        select_of_all_accounts(func.min(_PROJECTS.c.row), func.max(_PROJECTS.c.row), func.count())
    ).one()
    if number <= SAMPLE:
        yield from connection.execute(select_of_all_accounts(_PROJECTS))
        return
    for _ in range(SAMPLE):
        chosen = random.randint(low, high)  # noqa: S311 - nothing secret
        next_one = (
            select_of_all_accounts(_PROJECTS)
            .where(_PROJECTS.c.row >= chosen)
            .order_by(_PROJECTS.c.row)
        )
        yield connection.execute(next_one.limit(1)).one()


def _drifted(row: Any) -> list[str]:
    """The names of the wrong columns."""
    stored = {"stored_bytes": stored_bytes(row.geometry, row.metadata)}
    derived = search_columns(row.name, row.description) | stored
    wrong = [name for name, value in derived.items() if getattr(row, name) != value]
    return wrong + _drifted_geometry(row)


def _drifted_geometry(row: Any) -> list[str]:
    found = (row.west, row.south, row.east, row.north)
    if row.geometry is None:
        return [] if (row.area_m2, *found) == (None,) * 5 else ["area_m2 or bounds"]
    try:
        boundary = read_boundary(orjson.loads(row.geometry))
    except (GeometryInvalid, orjson.JSONDecodeError):
        return ["geometry"]
    # Another version of PROJ may differ in the last digit.
    difference = abs((row.area_m2 or 0) - boundary.area_m2)
    is_near = row.area_m2 is not None and difference <= max(1, boundary.area_m2 * 1e-9)
    correct = {"area_m2": is_near, "bounds": found == boundary.bounds}
    return [name for name, is_correct in correct.items() if not is_correct]

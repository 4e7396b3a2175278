"""Databases with many projects, filled the short way: rows in bulk, past the service.

What the service derives is derived here as well: folded texts, slugs, bounds, the account's
counters. On SQLite the triggers fill the text and box indexes row by row, as in production. On
PostgreSQL the text index is dropped and built anew at the end, and the rows come by COPY.
"""

from __future__ import annotations

import math
import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import chain, islice
from pathlib import Path
from typing import Any, Final

import psycopg
from flask import Flask
from sqlalchemy import update

from app import create_app
from app.account.service import create_account
from app.auth.principal import Principal
from app.credentials.service import create_credential
from app.db.extensions import db
from app.db.migrations import upgrade
from app.models import AccountUsage
from app.policy.permissions import expand
from app.values.clock import format_time
from app.values.ids import new_id
from app.values.text import fold, searchable, slugify
from config import load_settings

RARE: Final = "quillwort"  # in RARE_COUNT projects of each account, however many it has
FREQUENT: Final = "oak"  # in every third project
RARE_COUNT: Final = 20
BATCH: Final = 10_000
WEST, EAST, SOUTH, NORTH = -170.0, 170.0, -60.0, 60.0  # the corners of the projects lie in here

_WORDS = """
    acid alder alpine ancient ash aspen bark basin beech birch block bog boreal boundary brook
    browsing buffer canopy catchment cedar chestnut clearing coastal compartment conifer coppice
    corridor creek crown deadwood deciduous deer district drainage dune eastern edge elm erosion
    even-aged fen fire floodplain forest frost glade gorge grazing grove growth harvest hazel heath
    hemlock highland hill hollow hornbeam island juniper lake larch ledge limestone linden lower
    lowland management maple marsh meadow mixed moor moss mountain natural northern nursery old
    parcel pasture path peat pine plain planting plot pond poplar protection ravine recovery
    regeneration reserve restoration ridge riparian river road rowan sandstone sapling sector seed
    selection shade shelter shore slope soil southern spring spruce stand station steep stone
    storm stream survey swamp terrace thicket thinning timber trail transect trial uneven-aged
    upland upper valley veteran watershed western wetland willow windthrow winter wood yew
""".split()  # noqa: SIM905 - a list of them would be a page long
_COLUMNS = (
    "id", "account_id", "status", "created_at", "updated_at", "area_m2", "west", "south", "east",
    "north", "slug", "name", "name_key", "search_text", "description", "geometry",
)  # fmt: skip
_ASSET_COLUMNS = (
    "id", "account_id", "project_id", "type", "status", "created_at", "updated_at", "longitude",
    "latitude", "name", "search_text", "location",
)  # fmt: skip
_TYPES = ("equipment", "monitoring_station", "point_of_interest")
_ASSET_STATUSES = ("active", "inactive", "maintenance", "retired")
_STATUSES = ("active", "archived", "draft")
_BEGIN = datetime(2024, 1, 1, tzinfo=UTC)

Row = tuple[Any, ...]


@dataclass(frozen=True)
class Filled:
    """An instance with so many projects in each of so many accounts."""

    app: Flask
    environ: dict[str, str]
    principals: list[Principal]
    key: str  # an API key of the first account
    project_id: str  # of the first account's project that has the assets
    size: int  # projects of each account
    seconds: float


def make_accounts(
    folder: Path, database_url: str, number: int
) -> tuple[Flask, dict[str, str], list[Principal], str]:
    """An instance with so many accounts on the enterprise plan, and a key of the first."""
    environ = {
        "INSTANCE_PATH": str(folder),
        "DATABASE_URL": database_url,
        "LOG_LEVEL": "error",
        "RATE_LIMIT_DISABLED": "true",
    }
    app = create_app(load_settings(environ))
    principals = []
    with app.app_context():
        upgrade()
        for count in range(number):
            made = create_account(
                name=f"Grown {count}", owner_email=f"grown-{count}@example.org", plan="enterprise"
            )
            principals.append(
                Principal(
                    "api_key", "", made.account.id, made.account.name, "enterprise", ("admin",),
                    expand(["admin"]), made.owner.id, made.owner.email,
                )
            )  # fmt: skip
        first = principals[0].account_id
        _, key = create_credential(first, kind="api_key", name="bench", permissions=["admin"])
        db.session.commit()
    return app, environ, principals, key


def fill(folder: Path, database_url: str, *, accounts: int, size: int) -> Filled:
    """Make and fill an instance: so many projects in each account, and a tenth as many assets in
    the first project of all. The rows of the accounts lie mixed, as they would have come."""
    app, environ, principals, key = make_accounts(folder, database_url, accounts)
    began = datetime.now(UTC)
    totals: dict[str, dict[str, int]] = {each.account_id: {} for each in principals}
    rows = _rows(list(totals), size, totals)
    first = next(rows)
    with app.app_context():
        put = _Copy(database_url) if database_url else _Insert(Path(str(db.engine.url.database)))
        put.rows("projects", _COLUMNS, chain([first], rows))
        put.rows("assets", _ASSET_COLUMNS, _assets(principals[0].account_id, first[0], size // 10))
        for account_id, counted in totals.items():
            own = AccountUsage.account_id == account_id
            db.session.execute(update(AccountUsage).where(own).values(counted))
        db.session.commit()
    seconds = (datetime.now(UTC) - began).total_seconds()
    return Filled(app, environ, principals, key, first[0], size, seconds)


def _rows(accounts: list[str], size: int, totals: dict[str, dict[str, int]]) -> Iterator[Row]:
    """Rows of projects in the order of ``_COLUMNS``; what is counted goes into ``totals``."""
    rng = random.Random(size)
    every = max(size // RARE_COUNT, 1)
    for number in range(size):
        for place, account_id in enumerate(accounts):
            moment = _BEGIN + timedelta(seconds=number * len(accounts) + place)
            row = _row(rng, account_id, number, moment, rare=number % every == every // 2)
            counted = totals[account_id]
            status, area = row[2], row[5]
            counted[f"projects_{status}"] = counted.get(f"projects_{status}", 0) + 1
            if status != "archived":
                counted["area_m2"] = counted.get("area_m2", 0) + (area or 0)
            yield row


def _row(rng: random.Random, account_id: str, number: int, moment: datetime, *, rare: bool) -> Row:
    words = rng.choices(_WORDS, k=rng.randint(2, 3))
    name = " ".join(word.capitalize() for word in words) + f" {number}"
    told = rng.choices(_WORDS, k=rng.randint(5, 40))
    told += [FREQUENT] if rng.random() < 1 / 3 else []
    told += [RARE] if rare else []
    description = " ".join(told).capitalize() + "."
    status = rng.choices(_STATUSES, (90, 8, 2))[0]
    box, area, geometry = _place(rng) if rng.random() > 0.02 else ((None,) * 4, None, None)
    time = format_time(moment)
    return (
        new_id("project"), account_id, status, time, time, area, *box, slugify(name), name,
        fold(name), searchable(name, description), description, geometry,
    )  # fmt: skip


def _place(rng: random.Random) -> tuple[Row, int, str]:
    """The box, the area in m² and the GeoJSON of a rectangle of some hectares."""
    west, south = round(rng.uniform(WEST, EAST), 6), round(rng.uniform(SOUTH, NORTH), 6)
    wide, high = (round(0.001 * rng.lognormvariate(0, 1), 6) for _ in range(2))
    east, north = round(west + wide, 6), round(south + high, 6)
    area = round(111_320**2 * math.cos(math.radians(south)) * wide * high)
    ring = f"[{west},{south}],[{east},{south}],[{east},{north}],[{west},{north}],[{west},{south}]"
    return (west, south, east, north), area, f'{{"type":"Polygon","coordinates":[[{ring}]]}}'


def _assets(account_id: str, project_id: str, number: int) -> Iterator[Row]:
    rng = random.Random(number)
    for count in range(number):
        name = f"{rng.choice(_WORDS).capitalize()} {rng.choice(_WORDS)} {count}"
        name += f" {RARE}" if count % max(number // RARE_COUNT, 1) == 0 else ""
        longitude, latitude = round(rng.uniform(WEST, EAST), 6), round(rng.uniform(SOUTH, NORTH), 6)
        time = format_time(_BEGIN + timedelta(seconds=count))
        yield (
            new_id("asset"), account_id, project_id, rng.choice(_TYPES),
            rng.choices(_ASSET_STATUSES, (85, 8, 5, 2))[0], time, time, longitude, latitude, name,
            searchable(name), f'{{"type":"Point","coordinates":[{longitude},{latitude}]}}',
        )  # fmt: skip


class _Insert:
    """Rows into SQLite, with its triggers."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def rows(self, table: str, columns: tuple[str, ...], rows: Iterator[Row]) -> None:
        with closing(sqlite3.connect(self._path, isolation_level=None)) as connection:
            connection.execute("PRAGMA synchronous=OFF")
            connection.execute("PRAGMA cache_size=-1500000")
            places = ", ".join("?" * len(columns))
            statement = f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({places})"
            while batch := list(islice(rows, BATCH)):
                connection.execute("BEGIN")
                connection.executemany(statement, batch)
                connection.execute("COMMIT")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


class _Copy:
    """Rows into PostgreSQL; the text index is built when they are there."""

    def __init__(self, url: str) -> None:
        self._url = url

    def rows(self, table: str, columns: tuple[str, ...], rows: Iterator[Row]) -> None:
        with psycopg.connect(self._url, autocommit=True) as connection:
            connection.execute("SET maintenance_work_mem = '512MB'")
            index = f"{table}_text"
            found = connection.execute(f"SELECT pg_get_indexdef('{index}'::regclass)").fetchone()
            connection.execute(f"DROP INDEX {index}")
            with connection.cursor().copy(
                f"COPY {table} ({', '.join(columns)}) FROM STDIN"
            ) as copy:
                for row in rows:
                    copy.write_row(row)
            connection.execute(found[0] if found else "")
            connection.execute(f"ALTER INDEX {index} ALTER COLUMN 1 SET STATISTICS 0")

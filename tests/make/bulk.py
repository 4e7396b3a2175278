"""Databases with many projects, filled the short way: rows in bulk, past the service.

What the service derives is derived here as well: folded texts, slugs, bounds, the account's
counters. On SQLite the triggers fill the text and box indexes row by row, as in production. On
PostgreSQL the text index is dropped and built anew at the end, and the rows come by COPY.
"""

from __future__ import annotations

import math
import random
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import chain, islice
from pathlib import Path
from typing import Any, Final

import psycopg
from flask import Flask
from sqlalchemy import update

from app.account.credentials.service import create_credential
from app.account.service import create_account
from app.assets import derived as of_assets
from app.auth.principal import Principal
from app.db.extensions import db
from app.db.migrations import upgrade
from app.db.transactions import transaction
from app.factory import create_app
from app.models import AccountUsage
from app.policy import kinds
from app.policy.fields import ASSET, PROJECT, Field
from app.policy.permissions import expand_permissions
from app.policy.request_limits import ASSET_STATUSES, ASSET_TYPES, PROJECT_STATUSES
from app.projects.derived import search_columns
from app.values.clock import format_time
from app.values.ids import new_id
from app.values.text import slugify
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
_BOUNDARY_COLUMNS = ("west", "south", "east", "north", "area_m2", "geometry")
_BEGIN = datetime(2024, 1, 1, tzinfo=UTC)

Row = dict[str, Any]  # by columns of the table, the same in every row
Draw = Callable[[random.Random], Row]


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
    folder: Path, database_url: str, number: int, **settings: str
) -> tuple[Flask, dict[str, str], list[Principal], str]:
    """An instance with so many accounts on the enterprise plan, and a key of the first."""
    environ = {
        "INSTANCE_PATH": str(folder),
        "DATABASE_URL": database_url,
        "LOG_LEVEL": "error",
        "RATE_LIMIT_DISABLED": "true",
        **settings,
    }
    app = create_app(load_settings(environ))
    principals = []
    with app.app_context(), transaction():
        upgrade()
        for count in range(number):
            made = create_account(
                name=f"Grown {count}", owner_email=f"grown-{count}@example.org", plan="enterprise"
            )
            principals.append(
                Principal(
                    "api_key", "", made.account.id, made.account.name, "enterprise",
                    expand_permissions(["admin"]), made.owner.id, made.owner.email,
                )
            )  # fmt: skip
        first = principals[0].account_id
        _, key = create_credential(first, kind="api_key", name="bench", permissions=["admin"])
    return app, environ, principals, key


def fill(
    folder: Path, database_url: str, *, accounts: int, size: int, draw: Draw | None = None
) -> Filled:
    """Make and fill an instance: so many projects in each account, and a tenth as many assets in
    the first project of all. The rows of the accounts lie mixed, as they would have come.

    Args:
        draw: gives the columns of a boundary; None: rectangles.
    """
    app, environ, principals, key = make_accounts(folder, database_url, accounts)
    began = datetime.now(UTC)
    totals: dict[str, dict[str, int]] = {each.account_id: {} for each in principals}
    rows = _rows(list(totals), size, totals, draw or _boundary)
    first = next(rows)
    with app.app_context(), transaction():
        put = _Copy(database_url) if database_url else _Insert(Path(str(db.engine.url.database)))
        put.rows("projects", chain([first], rows))
        put.rows("assets", _assets(principals[0].account_id, first["id"], size // 10))
        for account_id, counted in totals.items():
            own = AccountUsage.account_id == account_id
            db.session.execute(update(AccountUsage).where(own).values(counted))
    seconds = (datetime.now(UTC) - began).total_seconds()
    return Filled(app, environ, principals, key, first["id"], size, seconds)


def vacuum(database_url: str) -> None:
    """Do at once what PostgreSQL does by itself soon after many rows were written: until then it
    looks at the row for each entry of an index. Nothing on SQLite."""
    if database_url:
        with psycopg.connect(database_url, autocommit=True) as connection:
            connection.execute("VACUUM ANALYZE")


def _rows(
    accounts: list[str], size: int, totals: dict[str, dict[str, int]], draw: Draw
) -> Iterator[Row]:
    """Rows of projects; what is counted is added to ``totals``."""
    rng = random.Random(size)
    every = max(size // RARE_COUNT, 1)
    for number in range(size):
        for index, account_id in enumerate(accounts):
            moment = _BEGIN + timedelta(seconds=number * len(accounts) + index)
            is_rare = number % every == every // 2
            row = _row(rng, account_id, number, moment, draw, rare=is_rare)
            counted = totals[account_id]
            status, area = row["status"], row["area_m2"]
            counted[f"projects_{status}"] = counted.get(f"projects_{status}", 0) + 1
            counted["stored_bytes"] = counted.get("stored_bytes", 0) + row["stored_bytes"]
            if status != "archived":
                counted["area_m2"] = counted.get("area_m2", 0) + (area or 0)
            yield row


def _row(
    rng: random.Random, account_id: str, number: int, moment: datetime, draw: Draw, *, rare: bool
) -> Row:
    words = rng.choices(_WORDS, k=rng.randint(2, 3))
    name = " ".join(word.capitalize() for word in words) + f" {number}"
    words = rng.choices(_WORDS, k=rng.randint(5, 40))
    words += [FREQUENT] if rng.random() < 1 / 3 else []
    words += [RARE] if rare else []
    description = " ".join(words).capitalize() + "."
    status = rng.choices(PROJECT_STATUSES, (90, 8, 2))[0]
    boundary = draw(rng) if rng.random() > 0.02 else dict.fromkeys(_BOUNDARY_COLUMNS)
    time = format_time(moment)
    external_id = None if number % 3 else f"FS-{number}"
    row = {
        "id": new_id("project"),
        "account_id": account_id,
        "status": status,
        "created_at": time,
        "updated_at": time,
        "slug": slugify(name),
        "external_id": external_id,
        "name": name,
        **search_columns(name, description, external_id),
        "description": description,
        "stored_bytes": len(boundary["geometry"] or ""),
        **boundary,
    }
    return row | _other_values(rng, PROJECT, row)


def _other_values(rng: random.Random, fields: Sequence[Field], row: Row) -> Row:
    """Values for the fields that a row does not have yet."""
    return {
        field.stored_as: rng.choice(field.choices or _WORDS)
        for field in fields
        if field.stored_as not in row and field.kind in (kinds.TEXT, kinds.CHOICE, kinds.KEYWORD)
    }


def _boundary(rng: random.Random) -> Row:
    """The columns of a rectangle of some hectares."""
    west, south = round(rng.uniform(WEST, EAST), 6), round(rng.uniform(SOUTH, NORTH), 6)
    wide, high = (round(0.001 * rng.lognormvariate(0, 1), 6) for _ in range(2))
    east, north = round(west + wide, 6), round(south + high, 6)
    area = round(111_320**2 * math.cos(math.radians(south)) * wide * high)
    ring = f"[{west},{south}],[{east},{south}],[{east},{north}],[{west},{north}],[{west},{south}]"
    geometry = f'{{"type":"Polygon","coordinates":[[{ring}]]}}'
    return dict(zip(_BOUNDARY_COLUMNS, (west, south, east, north, area, geometry), strict=True))


def _assets(account_id: str, project_id: str, number: int) -> Iterator[Row]:
    rng = random.Random(number)
    for count in range(number):
        name = f"{rng.choice(_WORDS).capitalize()} {rng.choice(_WORDS)} {count}"
        name += f" {RARE}" if count % max(number // RARE_COUNT, 1) == 0 else ""
        longitude, latitude = round(rng.uniform(WEST, EAST), 6), round(rng.uniform(SOUTH, NORTH), 6)
        time = format_time(_BEGIN + timedelta(seconds=count))
        external_id = None if count % 3 else f"AS-{count}"
        row = {
            "id": new_id("asset"),
            "account_id": account_id,
            "project_id": project_id,
            "type": rng.choice(ASSET_TYPES),
            "status": rng.choices(ASSET_STATUSES, (85, 8, 5, 2))[0],
            "created_at": time,
            "updated_at": time,
            "longitude": longitude,
            "latitude": latitude,
            "name": name,
            "external_id": external_id,
            **of_assets.search_columns(name, external_id),
            "location": f'{{"type":"Point","coordinates":[{longitude},{latitude}]}}',
        }
        yield row | _other_values(rng, ASSET, row)


class _Insert:
    """Rows into SQLite, with its triggers."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def rows(self, table: str, rows: Iterator[Row]) -> None:
        first = next(rows, None)
        if first is None:
            return
        rows = chain([first], rows)
        with closing(sqlite3.connect(self._path, isolation_level=None)) as connection:
            connection.execute("PRAGMA synchronous=OFF")
            connection.execute("PRAGMA cache_size=-1500000")
            values = ", ".join(f":{column}" for column in first)
            statement = f"INSERT INTO {table} ({', '.join(first)}) VALUES ({values})"
            while batch := list(islice(rows, BATCH)):
                connection.execute("BEGIN")
                connection.executemany(statement, batch)
                connection.execute("COMMIT")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


class _Copy:
    """Rows into PostgreSQL; the text index is built when they are there."""

    def __init__(self, url: str) -> None:
        self._url = url

    def rows(self, table: str, rows: Iterator[Row]) -> None:
        first = next(rows, None)
        if first is None:
            return
        with psycopg.connect(self._url, autocommit=True) as connection:
            connection.execute("SET maintenance_work_mem = '512MB'")
            index = f"{table}_text"
            found = connection.execute(f"SELECT pg_get_indexdef('{index}'::regclass)").fetchone()
            connection.execute(f"DROP INDEX {index}")
            with connection.cursor().copy(f"COPY {table} ({', '.join(first)}) FROM STDIN") as copy:
                for row in chain([first], rows):
                    copy.write_row([row[column] for column in first])
            connection.execute(found[0] if found else "")
            connection.execute(f"ALTER INDEX {index} ALTER COLUMN 1 SET STATISTICS 0")

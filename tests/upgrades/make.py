"""Fills an instance of a former version, and keeps its databases and its answers for the tests.

python -m tests.upgrades.make COMMIT RELEASE     on SQLite and on PostgreSQL

It checks the commit out into a temporary folder, installs what that version needs with uv, serves
it on this machine, and fills it as users would: through its API, its pages and its commands, as far
as that version has them. Then it writes to ``tests/upgrades/data`` the database, everything that
the version answered to GET, and the keys and passwords that it takes to ask again. It takes some
minutes, in most of which it waits for periodic jobs. A fixture is made once and committed: tests
compare with it what today's code answers.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from tests.outbound.conftest import NAMES
from tests.outbound.receivers import make_authority
from tests.postgres import PostgresServer
from tests.upgrades import answers, fixtures
from tests.upgrades.answers import Answer, Answers
from tests.upgrades.filling import Kept, Receivers, fill
from tests.upgrades.former import Former, check_out

COUNTED = 20.0  # seconds after which the counts of requests are in the database
MARGIN = timedelta(minutes=20)  # before midnight, when the counts of a day begin anew


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        "python -m tests.upgrades.make",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("commit", metavar="COMMIT", help="a commit of this repository")
    parser.add_argument("release", metavar="RELEASE", help="what the fixture is called, as 1.0")
    options = parser.parse_args(arguments)
    now = datetime.now(UTC)
    if (now + MARGIN).date() != now.date():
        sys.stderr.write("It is nearly midnight (UTC), when counts begin anew: wait.\n")
        return 1
    with tempfile.TemporaryDirectory(prefix="canopy-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        python = check_out(options.commit, folder)
        for database in ("sqlite", "postgresql"):
            content, found = _make(python, folder / database, database)
            size = fixtures.store(options.release, database, content, found)
            sys.stdout.write(f"{options.release}, {database}: {size / 1024:.0f} KiB\n")
    return 0


def _make(python: Path, folder: Path, database: str) -> tuple[bytes, dict[str, Any]]:
    """The content of a filled database, and what is kept beside it."""
    folder.mkdir()
    if database == "sqlite":
        found = _filled(python, folder, {})
        return fixtures.dump_sqlite(folder / "instance/canopy.sqlite3"), found
    with PostgresServer(folder / "pg") as server:
        url = server.create_database()
        found = _filled(python, folder, {"DATABASE_URL": url})
        return fixtures.dump_postgresql(url), found


def _filled(python: Path, folder: Path, settings: dict[str, str]) -> dict[str, Any]:
    authority = make_authority(folder)
    settings |= {
        "WEBHOOK_ALLOWED_NETWORKS": "127.0.0.0/8,::1/128",
        "WEBHOOK_CA_BUNDLE": str(authority.ca_path),
    }
    former = Former(python, folder / "instance", settings)
    with Receivers(authority.certificate_for(NAMES)) as receivers, former.running():
        description = former.request("GET", "/v1/openapi.json").json()
        kept = fill(former, receivers)
        found = _settled(former, kept, description)
        time.sleep(COUNTED)
        for path in answers.COUNTS:
            found["owner"][path] = _get(former, kept.tokens["owner"], path)
        answered_at = datetime.now(UTC).isoformat()
        time.sleep(COUNTED)
    return {"answers": found, "kept": asdict(kept), "answered_at": answered_at}


def _settled(former: Former, kept: Kept, description: dict[str, Any]) -> dict[str, Answers]:
    """What each caller is answered, once no job changes it anymore."""
    files = _asked(former, kept, description, recorded=True)
    before: dict[str, Answers] = {}
    while (found := _asked(former, kept, description, recorded=False)) != before:
        before = found
    return {name: files[name] | found[name] for name in kept.tokens}


def _asked(
    former: Former, kept: Kept, description: dict[str, Any], *, recorded: bool
) -> dict[str, Answers]:
    return {
        name: answers.ask_everything(
            partial(_get, former, token),
            description,
            recorded=recorded,
            in_all_ways=name == "owner",
        )
        for name, token in kept.tokens.items()
    }


def _get(former: Former, token: str, path: str) -> Answer:
    response = former.request("GET", path, headers={"Authorization": f"Bearer {token}"})
    kind = response.headers.get("Content-Type", "")
    return answers.read(response.status_code, kind, response.content)


if __name__ == "__main__":
    sys.exit(main())

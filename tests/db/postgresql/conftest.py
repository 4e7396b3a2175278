"""A pgbouncer in front of PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.db.postgresql.behind import SIZES, Behind, behind_pgbouncer
from tests.deploy.debian import Missing, Program, program
from tests.deploy.programs import PACKAGES
from tests.make.apps import CHEAP_PASSWORDS
from tests.postgres import PostgresServer


@pytest.fixture(scope="session")
def installed(scratch: Path) -> Program:
    """pgbouncer itself."""
    try:
        return program("pgbouncer", PACKAGES["pgbouncer"], scratch / "pgbouncer")
    except Missing as reason:
        pytest.skip(str(reason))


@pytest.fixture(scope="session", params=SIZES)
def behind(
    request: pytest.FixtureRequest,
    installed: Program,
    postgres: PostgresServer,
    scratch: Path,
    valkey_url: str,
) -> Iterator[Behind]:
    """The application behind it, in each mode."""
    folder = scratch / f"behind-{request.param}"
    folder.mkdir(mode=0o755)
    settings = {"REDIS_URL": f"{valkey_url}?db=14", **CHEAP_PASSWORDS}
    with behind_pgbouncer(request.param, installed, postgres, folder, **settings) as made:
        yield made

"""What the doctor says of several hosts of PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from flask import Flask

from app.doctor.doctor import run_checks
from app.doctor.findings import Finding, Status
from tests.db.postgresql.standby import Standby, standby_of
from tests.doctor.test_doctor import environ_of, findings_of
from tests.maintenance.conftest import MakeInstance
from tests.make import second_app
from tests.postgres import PostgresServer


@pytest.fixture(scope="module")
def standby(postgres: PostgresServer, scratch: Path) -> Iterator[Standby]:
    """A standby of that server; not for longer, as it does again what that does."""
    with standby_of(postgres, scratch / "standby") as made:
        yield made


def results(instance: Flask, *standbys: str) -> list[Finding]:
    """Those about the instance's own host and these."""
    own = urlsplit(environ_of(instance)["DATABASE_URL"])
    (folder,) = parse_qs(own.query)["host"]
    return results_of(instance, f"{folder}:5432", *standbys)


def results_of(instance: Flask, *places: str) -> list[Finding]:
    environ = environ_of(instance)
    path, hosts = (
        urlsplit(environ["DATABASE_URL"]).path,
        "&".join(f"host={each}" for each in places),
    )
    environ["DATABASE_URL"] = f"postgresql://postgres@{path}?{hosts}"
    return [each for each in run_checks(environ) if each.check == "database hosts"]


def place(standby: Standby) -> str:
    return f"{standby.folder}:5433"


def test_one_host(make_instance: MakeInstance) -> None:
    found = findings_of(environ_of(make_instance("postgresql")))["database hosts"]
    assert (found.status, found.found) == (Status.OK, "DATABASE_URL names one")


@pytest.mark.slow
def test_a_primary_and_its_standby(make_instance: MakeInstance, standby: Standby) -> None:
    instance = make_instance("postgresql")
    standby.follow()
    (found,) = results(instance, place(standby))
    assert found.status is Status.OK
    first, second = found.found.split(", ")
    assert first.endswith(":5432 primary")
    assert second == f"{place(standby)} standby"


def test_a_host_that_is_gone(make_instance: MakeInstance) -> None:
    gone, rest = results(make_instance("postgresql"), "/nowhere:5432")
    assert gone.status is Status.WARNING
    assert gone.found.startswith("/nowhere:5432 cannot be used")
    assert rest.status is Status.OK


@pytest.mark.provokes(503)
def test_no_primary(make_instance: MakeInstance, standby: Standby) -> None:
    instance = make_instance("postgresql")
    standby.follow()
    gone, none = results_of(instance, "/nowhere:5432", place(standby))
    assert gone.status is Status.WARNING
    assert none.status is Status.PROBLEM
    assert none.found == "No host that can be reached accepts changes"
    url = standby.url(instance.config["SETTINGS"].database_url)
    with second_app(instance, database_url=url) as behind:
        ready = behind.test_client().get("/readyz")
    assert (ready.status_code, ready.json["status"]) == (503, "unavailable")


@pytest.mark.slow
def test_a_former_primary_that_is_back_with_other_settings(
    make_instance: MakeInstance, postgres: PostgresServer, scratch: Path
) -> None:
    instance = make_instance("postgresql")
    with standby_of(postgres, scratch / "second-primary") as second:
        second.execute("ALTER SYSTEM SET synchronous_standby_names = 'db9'")
        second.execute("SELECT pg_reload_conf()")
        second.run("pg_ctl", "-w", "-D", str(second.folder), "promote")
        primaries, differing = results(instance, place(second))
    assert primaries.status is Status.PROBLEM
    assert primaries.found.startswith("Several hosts accept changes: ")
    assert primaries.found.endswith(f", {place(second)}")
    assert differing.status is Status.WARNING
    assert f"{place(second)} has 'db9'" in differing.found

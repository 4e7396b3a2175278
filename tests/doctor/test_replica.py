"""What the doctor says of a replica."""

from __future__ import annotations

import pytest

from app.doctor.results import Status
from tests.db.postgresql.standby import Standby
from tests.doctor.test_doctor import environ_of, findings_of
from tests.maintenance.conftest import MakeInstance


def check(make_instance: MakeInstance, url: str) -> tuple[Status, str]:
    result = findings_of(environ_of(make_instance("postgresql")) | {"DATABASE_REPLICA_URL": url})
    found = result["replica"].result
    return found.status, found.found


def test_no_replica(make_instance: MakeInstance) -> None:
    assert check(make_instance, "") == (Status.OK, "DATABASE_REPLICA_URL is not set")


@pytest.mark.slow
def test_a_replica(make_instance: MakeInstance, standby: Standby) -> None:
    url = standby.url("postgresql://postgres:@/postgres")
    status, found = check(make_instance, url)
    assert status is Status.OK
    assert found.endswith(" bytes of the log behind")


@pytest.mark.slow
def test_a_replica_of_another_database(
    make_instance: MakeInstance, standby_of_another: Standby
) -> None:
    url = standby_of_another.url("postgresql://postgres:@/postgres")
    status, found = check(make_instance, url)
    assert status is Status.PROBLEM
    assert found.endswith("is not a replica of the database at DATABASE_URL")


@pytest.mark.parametrize("place", ["?host=/nowhere", "nowhere.invalid/"])
def test_a_replica_that_is_gone(make_instance: MakeInstance, place: str) -> None:
    status, found = check(make_instance, f"postgresql://{place}")
    assert status is Status.PROBLEM
    assert "cannot be used" in found


def test_a_primary(make_instance: MakeInstance) -> None:
    environ = environ_of(make_instance("postgresql"))
    found = findings_of(environ | {"DATABASE_REPLICA_URL": environ["DATABASE_URL"]})[
        "replica"
    ].result
    assert found.status is Status.PROBLEM
    assert "is not a replica" in found.found

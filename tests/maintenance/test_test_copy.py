"""A backup restored as a test copy sends nothing out; one restored as the service sends what
waited."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from click.testing import Result
from flask import Flask

from app.webhooks.deliveries.jobs import deliver
from tests.cli.conftest import runner
from tests.doctor.test_doctor import environ_of, findings_of
from tests.maintenance.conftest import MakeInstance
from tests.make import make_account, make_project, make_webhook
from tests.outbound.conftest import NAMES
from tests.outbound.receivers import Receiver, make_authority

MakeCopy = Callable[..., Flask]


@pytest.fixture
def receiver(folder: Path) -> Iterator[Receiver]:
    with Receiver(make_authority(folder).certificate_for(NAMES)) as made:
        yield made


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def make_copy(
    request: pytest.FixtureRequest, make_instance: MakeInstance, receiver: Receiver, folder: Path
) -> MakeCopy:
    """Makes an empty instance with the settings and the key of one whose backup, ``b.zip``, has a
    webhook and an event that waits."""
    settings = {
        "SECRET_KEY": "k" * 64,
        "WEBHOOK_ALLOWED_NETWORKS": "127.0.0.0/8",
        "WEBHOOK_CA_BUNDLE": str(folder / "authority.pem"),
    }

    def make(*, tables: bool = False, **environ: str) -> Flask:
        return make_instance(request.param, tables=tables, **settings | environ)

    customer = make_account(make(tables=True))
    make_webhook(customer, url=receiver.url(), events=["project.created"])
    make_project(customer)
    assert runner(customer.app)("backup", str(folder / "b.zip")).exit_code == 0
    return make


@pytest.fixture
def restore(folder: Path) -> Callable[..., Result]:
    def run(app: Flask, *options: str, **given: Any) -> Result:
        return runner(app)("restore", str(folder / "b.zip"), *options, **given)

    return run


def delivered(app: Flask) -> int:
    with app.app_context():
        return deliver()


def test_a_test_copy_sends_nothing_until_it_is_told_to(
    make_copy: MakeCopy, receiver: Receiver, restore: Callable[..., Result]
) -> None:
    copy = make_copy()
    done = restore(copy, "--test-copy", "--yes")
    assert done.exit_code == 0, done.stderr
    assert "Held: 1 deliveries, 0 emails." in done.stdout
    assert "outbound on" in done.stdout
    assert delivered(copy) == 0
    found = findings_of(environ_of(copy))
    assert (found["outbound"].status, found["deliveries"].status) == ("warning", "ok")
    again = orjson.loads(restore(copy, "--yes", "--json").stdout)  # off stays off
    assert (again["outbound"], again["waiting_deliveries"]) == ("off", 1)
    assert delivered(copy) == 0
    assert receiver.requests == []
    assert runner(copy)("outbound", "on").exit_code == 0
    assert delivered(copy) == 1
    assert len(receiver.requests) == 1


def test_what_is_restored_as_the_service_is_asked_for_and_sends(
    make_copy: MakeCopy, receiver: Receiver, restore: Callable[..., Result]
) -> None:
    empty = make_copy()
    asked = restore(empty, input="n\n")
    assert asked.exit_code == 1
    assert "Is this the service now?" in asked.stderr
    assert "--test-copy" in asked.stderr
    assert restore(empty, "--yes").exit_code == 0
    assert (delivered(empty), len(receiver.requests)) == (1, 1)
    assert "Replace everything?" in restore(empty, input="n\n").stderr


def test_a_setting_that_says_off_needs_no_question(
    make_copy: MakeCopy, receiver: Receiver, restore: Callable[..., Result]
) -> None:
    empty = make_copy(OUTBOUND="off")
    done = restore(empty, input="y\n")
    assert "Is this the service now?" not in done.stderr
    assert "remove OUTBOUND=off from the settings" in done.stdout
    assert (delivered(empty), receiver.requests) == (0, [])

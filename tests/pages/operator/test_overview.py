"""The first page of operators: numbers, health, versions, settings."""

from __future__ import annotations

import os
import re
from datetime import timedelta

import pytest
from flask import Flask

from app.audit.entries import write_entry
from app.audit.targets import Target
from app.db.revisions import newest_revision
from app.db.transactions import transaction
from app.doctor import doctor_runs, jobs
from app.doctor.doctor_runs import read_progress, store_findings
from app.doctor.findings import ok, problem, warning
from app.jobs import shutdown
from app.jobs.queue import IMPORTS, job_queue
from app.jobs.valkey import valkey
from app.policy.audit import INSTANCE
from app.settings.mail import mail_server
from app.values import clock
from app.values.version import VERSION, describe_version, read_commit
from tests.make import Browser, Client, make_project, second_app
from tests.make.geometry import square
from tests.pages.operator.support import operator_browser
from tests.pages.support import post

FINDINGS = (
    problem("0.1 GB free", "Free some space at once.")._replace(check="disk"),
    warning("Emails waiting: 7", "Check that a worker is running.")._replace(check="mails"),
    ok("3.11 <b>")._replace(check="python"),
)


@pytest.fixture(autouse=True)
def _no_findings(app: Flask) -> None:
    with app.app_context():
        client = valkey().client
        queue = job_queue(client, IMPORTS).key
        client.delete(doctor_runs._FINDINGS, doctor_runs._REQUESTED, queue)
        for key in client.keys("rq:job:periodic-run-doctor"):  # type: ignore[union-attr]
            client.delete(key)


def number(text: str, word: str) -> float:
    found = re.search(rf"([\d,.]+) {word}", text)
    assert found, text
    return float(found[1].replace(",", ""))


def test_numbers(client: Client, operator: Browser) -> None:
    before = operator.get("/operator").text
    make_project(client, geometry=square())
    after = operator.get("/operator").text
    assert number(after, "project") == number(before, "project") + 1
    assert number(after, "ha in projects") > number(before, "ha in projects")
    assert number(after, "account") == number(before, "account")


def test_the_last_backup(client: Client, operator: Browser) -> None:
    with client.app.app_context(), transaction():
        write_entry("instance.backed_up", Target("instance", None, "Canopy"), account_id=INSTANCE)
    assert re.search(r"Last backup \d\d/\d\d/\d{4}", operator.get("/operator").text)


def test_what_is_set(app: Flask, client: Client, operator: Browser) -> None:
    text = operator.get("/operator").text
    database = "SQLite" if app.config["SETTINGS"].uses_sqlite else "PostgreSQL"
    schema = f"Database schema {newest_revision()}"
    for words in (f"Database {database} ", "DEFAULT_PLAN free", schema):
        assert words in text
    assert re.search(r"(Valkey|Redis) \d", text)
    assert f"Canopy {describe_version(VERSION, read_commit())}" in text
    assert "git tag --sort=-version:refname" in text


def test_no_secret_is_shown(app: Flask, client: Client) -> None:
    server = mail_server("smtp://canopy:hunter2hunter2@mail.example.org:587")
    with second_app(app, mail_url=server) as other:
        elsewhere = Client(other, client.account_id, client.owner_id, None)
        page = operator_browser(elsewhere).get("/operator")
    assert "MAIL_URL mail.example.org:587" in page.text
    assert "hunter" not in page.response.get_data(as_text=True)


@pytest.mark.provokes(503)
def test_valkey_is_gone(app: Flask, client: Client) -> None:
    with second_app(app, redis_url="unix:///nowhere/valkey.sock") as other:
        browser = operator_browser(Client(other, client.account_id, client.owner_id, None))
        page = browser.get("/operator")
        assert page.status == 200
        assert "Valkey does not respond" in page.text
        assert "bin/canopy doctor" in page.text
        page = post(browser, "/operator/doctor")
    assert page.status == 503
    assert "bin/canopy doctor" in page.text


def test_findings(app: Flask, operator: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "Not checked yet." in operator.get("/operator").text
    with app.app_context():
        store_findings(FINDINGS)
    moment = clock.now()
    monkeypatch.setattr(clock, "now", lambda: moment + timedelta(minutes=12))
    page = operator.get("/operator")
    for words in (
        "Checked 12 minutes ago",
        "1 problem",
        "1 warning",
        "disk : 0.1 GB free",
        "Free some space at once.",
        "1 check passed",
    ):
        assert words in page.text, words
    assert "3.11 <b>" not in page.response.get_data(as_text=True)
    assert "hx-trigger" not in page.response.get_data(as_text=True)


def test_how_long_ago() -> None:
    for ago, words in [
        (0, "less than a minute"),
        (61, "1 minute"),
        (3600, "1 hour"),
        (7300, "2 hours"),
        (90_000, "1 day"),
    ]:
        found = doctor_runs.DoctorRun(clock.now() - timedelta(seconds=ago), "vm", [])
        assert found.age == words


def test_a_run_of_the_doctor_is_requested(app: Flask, operator: Browser) -> None:
    operator.get("/operator")
    page = operator.submit("/operator/doctor")
    assert "Checking…" in page.text
    part = operator.get("/operator/doctor")
    assert 'hx-get="/operator/doctor"' in part.response.get_data(as_text=True)
    tag = part.response.headers["ETag"]
    again = operator.get("/operator/doctor", headers={"If-None-Match": tag})
    assert again.status == 304
    post(operator, "/operator/doctor")
    with app.app_context():
        (job,) = job_queue(valkey().client, IMPORTS).jobs
        assert job.func_name == doctor_runs.JOB
        assert job.timeout == 900
        store_findings(FINDINGS)
    part = operator.get("/operator/doctor")
    assert "hx-get" not in part.response.get_data(as_text=True)
    assert "1 problem" in part.text


@pytest.mark.slow
@pytest.mark.both
def test_the_job_keeps_what_doctor_finds(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = app.config["SETTINGS"]
    for name, value in (
        ("INSTANCE_PATH", str(settings.instance_path)),
        ("DATABASE_URL", settings.database_url),
        ("REDIS_URL", settings.redis_url),
    ):
        monkeypatch.setitem(os.environ, name, value)
    with app.app_context():
        number_found = jobs.run_doctor()
        progress = read_progress()
    assert progress is not None
    assert progress.last is not None
    assert not progress.is_running
    assert len(progress.last.findings) == number_found > 20
    assert {each.check for each in progress.last.findings} >= {"schema", "disk", "audit log"}


def test_a_worker_that_ends_does_not_wait_for_the_doctor(app: Flask) -> None:
    shutdown.requested.set()
    try:
        with app.app_context():
            assert jobs.run_doctor() == 0
    finally:
        shutdown.requested.clear()

"""Another SECRET_KEY: what was encrypted with the old one stays readable, and the old one goes."""

from __future__ import annotations

import dataclasses
import json
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from flask import Flask

from app.db.connections import close_all
from app.db.extensions import db
from app.db.transactions import transaction
from app.factory import create_app
from app.jobs.valkey import connect_valkey
from app.mail.leases import Contents
from app.models import Mail, Webhook
from app.processes.part_registry import Announcer, running_parts
from app.security.sealing import key_check, reseal, seal, unseal
from app.values import clock
from config import load_settings
from tests import templates
from tests.cli.conftest import runner
from tests.make import Client, make_account, second_app
from tests.make.webhooks import make_webhook, webhook_row
from tests.waiting import wait_for

Start = Callable[[], Flask]
NEW_KEY = "a new key, which is long enough for it"


@pytest.fixture
def start(tmp_path: Path, valkey_url: str) -> Iterator[Start]:
    """Starts an instance whose key is a file in its folder."""
    apps: list[Flask] = []
    templates.copy_sqlite(tmp_path / "own")

    def make() -> Flask:
        environ = {"INSTANCE_PATH": str(tmp_path / "own"), "REDIS_URL": f"{valkey_url}?db=5"}
        apps.append(create_app(load_settings(environ)))
        return apps[-1]

    yield make
    for app in apps:
        with app.app_context():
            close_all()


def secret_of(app: Flask, webhook_id: str) -> str:
    with app.app_context():
        text: str = unseal(db.session.get_one(Webhook, webhook_id).sealed_secret)
        return text


@pytest.mark.slow
def test_a_key_in_the_folder_is_changed_in_two_steps(start: Start, tmp_path: Path) -> None:
    old = start()
    client = make_account(old)
    webhook = make_webhook(client)
    keyed = client.post(
        "/v1/webhooks",
        {"url": "https://hooks.example.org/", "events": ["*"]},
        headers={"Idempotency-Key": "once"},
    )
    made = runner(old)("secret-key", "rotate")
    assert made.exit_code == 0, made.output
    assert "Restart" in made.output
    key, former = tmp_path / "own" / "secret_key", tmp_path / "own" / "secret_key_former"
    assert former.read_text() == old.config["SETTINGS"].secret_key != key.read_text()
    assert {path.stat().st_mode & 0o777 for path in (key, former)} == {0o600}

    between = start()
    assert secret_of(between, webhook["id"]) == webhook["secret"]
    done = runner(between)("secret-key", "finish", "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["sealed"]["webhooks"] == 2
    assert not former.exists()

    new = start()
    assert new.config["SETTINGS"].secret_key_former is None
    assert secret_of(new, webhook["id"]) == webhook["secret"]
    repeated = Client(new, client.account_id, client.owner_id, client.token).post(
        "/v1/webhooks",
        {"url": "https://hooks.example.org/", "events": ["*"]},
        headers={"Idempotency-Key": "once"},
    )
    assert repeated.get_data() == keyed.get_data()


@pytest.mark.slow
def test_the_second_step_waits_for_the_restart_of_every_part(start: Start, tmp_path: Path) -> None:
    """What was encrypted with the new key alone, a part with the old one could not read."""
    old = start()
    webhook = make_webhook(make_account(old))
    with announced(old, "web server"), announced(old, "worker"):
        assert runner(old)("secret-key", "rotate").exit_code == 0
        between = start()
        refused = runner(between)("secret-key", "finish")
        assert (refused.exit_code, refused.stdout) == (1, "")
        here = f"process {os.getpid()} on {socket.gethostname()}"
        for name in ("web server", "worker"):
            assert f"{name}, {here}" in refused.stderr
        assert "Restart them" in refused.stderr
        assert secret_of(old, webhook["id"]) == webhook["secret"]
        assert (tmp_path / "own" / "secret_key_former").exists()
    with announced(between, "web server"):
        assert runner(between)("secret-key", "finish").exit_code == 0
    assert secret_of(start(), webhook["id"]) == webhook["secret"]


def test_the_second_step_needs_to_know_what_runs(start: Start) -> None:
    app = start()
    gone = dataclasses.replace(app.config["SETTINGS"], redis_url="redis://127.0.0.1:9/0")
    app.config["SETTINGS"] = gone
    refused = runner(app)("secret-key", "finish")
    assert (refused.exit_code, refused.stdout) == (1, "")
    assert "Valkey does not respond" in refused.stderr


@contextmanager
def announced(app: Flask, name: str) -> Iterator[None]:
    """A part runs with the SECRET_KEY of ``app``."""
    settings = app.config["SETTINGS"]
    url, check = settings.redis_url, key_check(settings.secret_key)
    announcer = Announcer(lambda: connect_valkey(url), name, check)
    announcer.start()
    with connect_valkey(url) as client:
        wait_for(lambda: any(part.name == name for part in running_parts(client)))
    yield
    announcer.stop()


def test_a_second_change_waits_for_the_end_of_the_first(start: Start, tmp_path: Path) -> None:
    runner(start())("secret-key", "rotate")
    again = runner(start())("secret-key", "rotate")
    assert again.exit_code == 1
    assert "secret-key finish" in again.output


def test_a_key_of_the_environment_is_shown_and_no_file_is_touched(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = start()
    before = (tmp_path / "own" / "secret_key").read_text()
    monkeypatch.setenv("SECRET_KEY", before)
    shown = json.loads(runner(app)("secret-key", "rotate", "--json").stdout)
    assert shown["SECRET_KEY_FORMER"] == before
    assert len(shown["SECRET_KEY"]) >= 48
    assert (tmp_path / "own" / "secret_key").read_text() == before


@pytest.mark.slow
def test_all_that_is_sealed_can_be_read_with_the_new_key_alone(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = start()
    client = make_account(app)
    webhook = make_webhook(client)
    client.post(f"/v1/webhooks/{webhook['id']}/rotate-secret", {"overlap_hours": 5})
    with app.app_context(), transaction():
        mail = Mail(
            id="mail_x", kind="k", recipient="jo@example.org", cause="x", turn_of="", attempts=0,
            sealed=Contents({"a": 1}).sealed(), created_at=clock.now(),
        )  # fmt: skip
        db.session.add(mail)
    former = app.config["SETTINGS"].secret_key
    monkeypatch.setenv("SECRET_KEY_FORMER", former)
    with second_app(app, secret_key=NEW_KEY, secret_key_former=former) as new:
        done = runner(new)("secret-key", "finish")
        assert done.exit_code == 0, done.output
        assert "SECRET_KEY_FORMER is no longer needed; remove it." in done.stdout
    with second_app(app, secret_key=NEW_KEY) as alone, alone.app_context():
        row = webhook_row(client, webhook["id"])
        assert unseal(row["sealed_former_secret"]) == webhook["secret"]
        assert unseal(row["sealed_secret"]).startswith("whsec_")
        kept = db.session.get_one(Mail, "mail_x").sealed
        assert unseal(kept or "") == [{"a": 1}, None]


@pytest.mark.slow
def test_what_neither_key_opens_is_told(start: Start) -> None:
    app = start()
    webhook = make_webhook(make_account(app))
    with app.app_context(), transaction():
        row = db.session.get_one(Webhook, webhook["id"])
        row.sealed_secret = row.sealed_secret[:-8] + "AAAAAAA="
    told = runner(app)("secret-key", "finish")
    assert told.exit_code == 1
    assert "1 in webhooks" in told.output


def test_resealing_keeps_the_value(app: Flask) -> None:
    with app.app_context():
        text = seal({"a": ["b"]})
        again = reseal(text)
        assert again != text
        assert unseal(again) == {"a": ["b"]}
        with pytest.raises(ValueError, match="another SECRET_KEY"):
            reseal("nothing of ours")

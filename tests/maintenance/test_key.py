"""A worker refuses to start with a key that is not the one of the database."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from flask import Flask

from app.maintenance.sealed_values import require_usable_key
from config import ROOT, SettingsError
from tests.captured import captured
from tests.make import make_account, second_app
from tests.make.apps import bare_app
from tests.make.webhooks import make_webhook

OTHER = "another key of more than thirty-two characters"
EVENTS = ["project.created"]


@pytest.mark.both
def test_another_key(app: Flask) -> None:
    caller = make_account(app)
    for _ in range(20):
        make_webhook(caller, url="https://hooks.example.org/", events=EVENTS)
    require_usable_key(app)
    with second_app(app, secret_key=OTHER) as other, pytest.raises(SettingsError) as raised:
        require_usable_key(other)
    assert "Set the SECRET_KEY of the other hosts" in str(raised.value)


def test_a_key_that_is_being_changed(app: Flask) -> None:
    make_webhook(make_account(app), url="https://hooks.example.org/", events=EVENTS)
    former = app.config["SETTINGS"].secret_key
    with second_app(app, secret_key=OTHER, secret_key_former=former) as other:
        require_usable_key(other)


@pytest.mark.slow
def test_the_worker_says_so(tmp_path: Path) -> None:
    with bare_app(tmp_path, SECRET_KEY=OTHER) as app:
        make_webhook(make_account(app), url="https://hooks.example.org/", events=EVENTS)
    environ = {"INSTANCE_PATH": str(tmp_path), "SECRET_KEY": OTHER[::-1]}
    command = [sys.executable, str(ROOT / "worker.py")]
    done = captured(command, env=environ, timeout=120)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith("SECRET_KEY is not the key")
    assert "bin/canopy webhook rotate-secret" in done.stderr

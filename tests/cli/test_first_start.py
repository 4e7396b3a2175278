"""What bin/serve says when the service answers."""

from __future__ import annotations

import dataclasses
import re
import shlex
from typing import Any
from urllib.parse import urlsplit

import pytest
from flask import Flask

from app.account.lookup import first_account, list_accounts
from app.account.service import create_account
from app.db.migrations import upgrade
from app.db.transactions import transaction
from app.demo.first_start import welcome_text
from app.policy.permissions import PERMISSIONS
from tests.cli.conftest import runner
from tests.make import Client


@pytest.fixture
def migrated(empty_app: Flask) -> Flask:
    with empty_app.app_context():
        upgrade()
    return empty_app


def said(app: Flask, *, empty: bool = False) -> str:
    with app.app_context():
        return welcome_text(app.config["SETTINGS"], empty=empty)


def send(app: Flask, line: str) -> Any:
    """What a ``curl`` line asks, without a network."""
    words = shlex.split(line)
    assert words.pop(0) == "curl"
    url, headers, body = words.pop(), {}, None
    for option, value in zip(words[::2], words[1::2], strict=True):
        if option == "-d":
            body = value
        else:
            assert option == "-H"
            name, _, text = value.partition(": ")
            headers[name] = text
    assert url.startswith(app.config["SETTINGS"].public_url)
    parts = urlsplit(url)
    path = f"{parts.path}?{parts.query}" if parts.query else parts.path
    return app.test_client().open(
        path, method="POST" if body else "GET", headers=headers, data=body
    )


def test_a_first_start_makes_the_demo_and_says_how_to_use_it(migrated: Flask) -> None:
    text = said(migrated)
    url = migrated.config["SETTINGS"].public_url
    assert f"{url}/docs" in text
    assert f"an operator turns them on at {url}/operator/map\n" in text
    assert f"Emails are files in {migrated.config['SETTINGS'].instance_path / 'mails'}" in text
    assert re.search(r"^ +email +owner@demo\.example$", text, re.MULTILINE)
    assert re.search(r"^ +password +[a-z-]{20,}$", text, re.MULTILINE)
    lines = [line.strip() for line in text.splitlines() if "curl" in line]
    listed, one, created = (send(migrated, line) for line in lines)
    assert (listed.status_code, len(listed.json["data"])) == (200, 5)
    assert one.status_code == 200
    assert one.json["data"]["area_hectares"] > 1000
    assert created.status_code == 201
    assert created.json["data"]["area_hectares"] > 0
    key = re.search(r"canopy_key_\w+", text)
    assert key is not None
    client = Client(migrated, "", "", key[0])
    assert client.get("/v1/auth/verify").json["permissions"] == sorted(PERMISSIONS)
    with migrated.app_context():
        assert [account["slug"] for account in list_accounts()] == ["canopy-demo"]
    for shown in (text, said(migrated)):
        assert f"Sign in at {url}/login\n" in shown


@pytest.mark.slow
def test_a_later_start_says_how_to_make_a_key(migrated: Flask) -> None:
    with migrated.app_context(), transaction():
        create_account(name="Green Woods", owner_email="jo@example.org")
    text = said(migrated)
    assert migrated.config["SETTINGS"].public_url in text
    command = shlex.split(text.partition("bin/canopy ")[2].splitlines()[0])
    assert command[:4] == ["key", "create", "--account", "green-woods"]
    assert runner(migrated)(*command).exit_code == 0
    with migrated.app_context():
        assert len(list_accounts()) == 1


def test_an_empty_first_start_makes_nothing_and_offers_sign_up_where_it_is_open(
    migrated: Flask,
) -> None:
    text = said(migrated, empty=True)
    with migrated.app_context():
        assert first_account() is None
    settings = migrated.config["SETTINGS"]
    page = f"{settings.public_url}/register"
    assert page in text
    migrated.config["SETTINGS"] = dataclasses.replace(settings, sign_up="invited")
    assert page not in said(migrated, empty=True)
    command = shlex.split(text.partition("bin/canopy ")[2].splitlines()[0])
    assert runner(migrated)(*command).exit_code == 0


@pytest.mark.slow
def test_of_two_first_starts_one_makes_the_demo(
    migrated: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when two processes look at once, and both find nothing."""
    said(migrated)
    looks = []

    def late() -> Any:
        looks.append(first_account() if looks else None)
        return looks[-1]

    monkeypatch.setattr("app.demo.first_start.first_account", late)
    monkeypatch.setattr("app.account.service._free_slug", lambda _: "canopy-demo")
    assert "bin/canopy key create --account canopy-demo" in said(migrated)


def test_an_instance_that_sends_nothing_says_so(migrated: Flask) -> None:
    assert "sends no webhooks" not in said(migrated, empty=True)
    assert runner(migrated)("outbound", "off").exit_code == 0
    assert "sends no webhooks and no emails. To send what is held" in said(migrated, empty=True)

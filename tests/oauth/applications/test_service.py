"""Registering applications, through the service and with ``bin/canopy oauth-app``."""

from __future__ import annotations

import json
from collections import Counter
from datetime import timedelta
from typing import Any

import pytest

from app.db.extensions import db
from app.http.errors import Forbidden, ValidationFailed
from app.oauth.applications import service
from app.oauth.applications.client_secrets import rotate_secret
from app.oauth.applications.service import create_application, delete_application, list_applications
from app.values import clock
from tests.cli.conftest import Run, runner
from tests.make import Client, make_application, together
from tests.make.oauth import BACK, ask_token
from tests.oauth.support import api_status, assert_error, tokens_of


@pytest.fixture
def run(client: Client) -> Run:
    return runner(client.app)


def _create(client: Client, **fields: Any) -> None:
    given = {"name": "Map", "redirect_uris": [BACK], "scopes": ["profile"]} | fields
    with client.app.app_context():
        try:
            create_application(given.pop("account_id", client.account_id), **given)
        finally:
            db.session.rollback()


def test_valid_names(client: Client) -> None:
    for name in ("x", "森の地図", "Karte für Förster", "🌲" * 200, "👩\u200d🌾", " x "):
        _create(client, name=name)


def test_invalid_arguments_are_rejected(client: Client) -> None:
    for fields, field in (
        ({"name": ""}, "name"),
        ({"name": "  "}, "name"),
        ({"name": "x" * 201}, "name"),
        ({"name": "a\u202eb"}, "name"),
        ({"name": "a\u2066b"}, "name"),
        ({"name": "\ud800"}, "name"),
        ({"redirect_uris": ["x"]}, "redirect_uris"),
        ({"scopes": []}, "scopes"),
        ({"scopes": ["admin"]}, "scopes"),
        ({"scopes": ["profile", "x"]}, "scopes"),
        ({"account_id": "acct_x"}, "account"),
    ):
        with pytest.raises(ValidationFailed) as raised:
            _create(client, **fields)
        assert {detail.field for detail in raised.value.details} == {field}, fields


def test_applications_of_other_accounts_are_not_accessible(
    client: Client, stranger: Client
) -> None:
    made = make_application(client)
    with client.app.app_context():
        assert [each["client_id"] for each in list_applications(client.account_id)] == [made.id]
        assert list_applications(stranger.account_id) == []
        assert rotate_secret(stranger.account_id, made.id) is None
        assert not delete_application(stranger.account_id, made.id)


# The commands.


def _register(run: Run, client: Client, *options: str) -> dict[str, Any]:
    given = ("--redirect-uri", BACK, "--scope", "profile", "--scope", "projects:read")
    result = run(
        "oauth-app", "create", "--account", client.account_id, "--name", "Map", *given, *options,
        "--json",
    )  # fmt: skip
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def test_create_prints_id_and_secret(run: Run, client: Client) -> None:
    made = _register(run, client)
    assert list(made) == ["client_id", "client_secret"]
    assert made["client_secret"].startswith("canopy_ocs_")
    with client.app.app_context():
        record = list_applications(client.account_id)[0]
    assert record["scopes"] == ["profile", "projects:read"]
    assert record["redirect_uris"] == [BACK]


def test_create_public(run: Run, client: Client) -> None:
    made = _register(run, client, "--public", "--redirect-uri", "com.example.app:/back")
    assert made["client_secret"] is None
    listed = json.loads(run("oauth-app", "list", "--account", client.account_id, "--json").stdout)
    assert listed[0]["public"] is True
    assert listed[0]["redirect_uris"] == [BACK, "com.example.app:/back"]


@pytest.mark.parametrize(
    ("options", "exit_code", "told"),
    [
        (("--redirect-uri", BACK, "--scope", "admin"), 2, "admin"),
        (("--redirect-uri", BACK), 2, "--scope"),
        (("--scope", "profile"), 2, "--redirect-uri"),
        (("--redirect-uri", "http://a.example", "--scope", "profile"), 1, "redirect_uris: 'http"),
    ],
)
def test_create_rejects_invalid_arguments(
    run: Run, client: Client, options: tuple[str, ...], exit_code: int, told: str
) -> None:
    result = run("oauth-app", "create", "--account", client.account_id, "--name", "x", *options)
    assert result.exit_code == exit_code
    assert told in result.stderr
    assert result.stdout == ""


def test_list_shows_no_secret(run: Run, client: Client, stranger: Client) -> None:
    mine, other = _register(run, client), _register(run, stranger)
    for options in ((), ("--json",)):
        shown = run("oauth-app", "list", "--account", client.account_id, *options).stdout
        assert mine["client_id"] in shown
        assert other["client_id"] not in shown
        assert "canopy_ocs_" not in shown
        assert mine["client_secret"] not in shown


def test_list_when_empty(run: Run, client: Client) -> None:
    arguments = ("oauth-app", "list", "--account", client.account_id)
    assert json.loads(run(*arguments, "--json").stdout) == []
    assert "has no application" in run(*arguments).stdout


def test_rotate_secret_with_an_overlap(run: Run, client: Client) -> None:
    made = _register(run, client)
    listed = ("oauth-app", "list", "--account", client.account_id, "--json")
    rotated = json.loads(
        run("oauth-app", "rotate-secret", made["client_id"], "--overlap", "2", "--json").stdout
    )
    left = clock.parse_time(rotated["former_secret_until"]) - clock.now()
    assert timedelta(hours=1, minutes=59) < left <= timedelta(hours=2)
    until = json.loads(run(*listed).stdout)[0]["former_secret_until"]
    assert until == rotated["former_secret_until"]
    assert until in run(*listed[:-1]).stdout
    again = run("oauth-app", "rotate-secret", made["client_id"], "--overlap", "0", "--json")
    assert json.loads(again.stdout)["former_secret_until"] is None
    assert json.loads(run(*listed).stdout)[0]["former_secret_until"] is None


def test_rotate_secret_rejects_other_overlaps(run: Run) -> None:
    for hours in ("-1", "169", "x"):
        result = run("oauth-app", "rotate-secret", "app_x", "--overlap", hours)
        assert (result.exit_code, result.stdout) == (2, "")
        assert "0<=x<=168" in result.stderr or "valid integer" in result.stderr


def test_an_account_has_a_limit_of_applications(
    run: Run, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = len(
        json.loads(run("oauth-app", "list", "--account", client.account_id, "--json").stdout)
    )
    monkeypatch.setattr(service, "APPLICATIONS_PER_ACCOUNT", number + 1)
    _register(run, client)
    with pytest.raises(Forbidden) as raised:
        _create(client)
    assert [detail.code for detail in raised.value.details] == ["plan_limit"]
    assert f"has {number + 1} applications, and can have {number + 1}" in raised.value.message


@pytest.mark.both
def test_of_applications_registered_at_once_as_many_are_as_there_may_be(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service, "APPLICATIONS_PER_ACCOUNT", 2)

    def register() -> bool:
        with client.app.app_context():
            try:
                create_application(
                    client.account_id, name="Map", redirect_uris=[BACK], scopes=["profile"]
                )
                db.session.commit()
            except Forbidden:
                return False
            return True

    assert Counter(together(*[register] * 8)) == {True: 2, False: 6}


def test_delete_revokes_all_access(run: Run, client: Client) -> None:
    application = make_application(client)
    answer = tokens_of(client, application)
    aborted = run("oauth-app", "delete", application.id, input="n\n")
    assert aborted.exit_code == 1
    assert api_status(client, answer) == 200
    result = run("oauth-app", "delete", application.id, "--yes", "--json")
    assert json.loads(result.stdout) == {"client_id": application.id, "deleted": True}
    assert api_status(client, answer) == 401
    response = ask_token(client.app, application, "/oauth/introspect", token="x")
    assert_error(response, "invalid_client", 401)
    again = run("oauth-app", "delete", application.id, "--yes")
    assert again.exit_code == 1
    assert "no application" in again.stderr


def test_unknown_application(run: Run) -> None:
    for client_id in ("app_01arz3ndektsv4rrffq69g5fav", "\x00"):
        for command in (("rotate-secret",), ("delete", "--yes")):
            result = run("oauth-app", command[0], client_id, *command[1:])
            assert result.exit_code == 1
            assert "no application" in result.stderr

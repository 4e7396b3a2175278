"""``bin/canopy key`` and ``bin/canopy service-token``."""

from __future__ import annotations

import json
from datetime import timedelta
from threading import Thread
from typing import Any

import pytest

from app.policy.request_limits import KEY_DAYS
from app.values import clock
from tests.cli.conftest import Run
from tests.make import Client

KINDS = pytest.mark.parametrize(("command", "field"), [("key", "key"), ("service-token", "token")])


def make(run: Run, command: str, client: Client, *options: str) -> dict[str, Any]:
    given = options or ("--permission", "projects:read")
    result = run(
        command, "create", "--account", client.account_id, "--name", "ci", *given, "--json"
    )
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def using(client: Client, secret: str) -> Client:
    return Client(client.app, client.account_id, client.owner_id, secret)


@KINDS
def test_create_prints_id_and_secret(run: Run, client: Client, command: str, field: str) -> None:
    permissions = ("--permission", "projects:read", "--permission", "assets:read")
    made = make(run, command, client, *permissions)
    assert list(made) == ["id", field, *(["expires_at"] if command == "key" else [])]
    verified = using(client, made[field]).get("/v1/auth/verify").json
    assert verified["permissions"] == ["assets:read", "projects:read"]
    assert verified["account_id"] == client.account_id
    slug = client.get("/v1/account").json["data"]["slug"]
    shown = run(command, "create", "--account", slug, "--name", "x", "--permission", "admin")
    assert [line.split()[0] for line in shown.stdout.splitlines()] == list(made)


def test_a_key_ends_after_a_year_or_as_told(
    run: Run, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = clock.now()
    monkeypatch.setattr(clock, "now", lambda: now)
    for options, days in (
        ((), KEY_DAYS),
        (("--expires-in", "90"), 90),
        (("--expires-in", "never"), None),
    ):
        made = make(run, "key", client, "--permission", "projects:read", *options)
        end = None if days is None else clock.format_time(now + timedelta(days=days))
        assert made["expires_at"] == end
        assert using(client, made["key"]).get("/v1/auth/verify").json["expires_at"] == end


def test_an_end_that_is_none_is_refused(run: Run, client: Client) -> None:
    arguments = ("key", "create", "--account", client.account_id, "--name", "x")
    for days in ("0", "36501", "year", "1.5", ""):
        result = run(*arguments, "--permission", "admin", "--expires-in", days)
        assert (result.exit_code, result.stdout) == (2, "")
        assert "--expires-in" in result.stderr


def test_a_token_is_held_to_its_networks(run: Run, client: Client) -> None:
    permission = ("--permission", "projects:read")
    near = make(run, "service-token", client, *permission, "--allow", "11.0.0.0/8")
    far = make(
        run, "service-token", client, *permission, "--allow", "10.0.0.0/8", "--allow", "fd00::/8"
    )
    assert using(client, near["token"]).get("/v1/projects").status_code == 200
    assert using(client, far["token"]).get("/v1/projects").status_code == 401


def test_a_token_that_cannot_be_made(run: Run, client: Client) -> None:
    words = ("service-token", "create", "--account", client.account_id, "--name", "x")
    for options, exit_code, told in (
        (("--permission", "projects:fly"), 2, "projects:fly"),
        ((), 2, "--permission"),
        (("--permission", "admin", "--allow", "10.0.0.1/8"), 1, "ip_allowlist: '10.0.0.1/8'"),
    ):
        result = run(*words, *options)
        assert (result.exit_code, result.stdout) == (exit_code, "")
        assert told in result.stderr


@KINDS
def test_list_shows_those_of_the_account(
    run: Run, client: Client, stranger: Client, command: str, field: str
) -> None:
    mine, other = make(run, command, client), make(run, command, stranger)
    listed = json.loads(run(command, "list", "--account", client.account_id, "--json").stdout)
    ids = [record["id"] for record in listed]
    assert mine["id"] in ids
    assert other["id"] not in ids
    text = run(command, "list", "--account", client.account_id).stdout
    assert mine["id"] in text
    assert mine[field] not in text


def test_list_without_any(run: Run, client: Client) -> None:
    arguments = ("service-token", "list", "--account", client.account_id)
    assert json.loads(run(*arguments, "--json").stdout) == []
    assert "no service token" in run(*arguments).stdout


@KINDS
def test_revoke_asks_and_is_for_good(run: Run, client: Client, command: str, field: str) -> None:
    made = make(run, command, client)
    declined = run(command, "revoke", made["id"], input="n\n")
    assert declined.exit_code == 1
    assert "'ci'" in declined.stderr
    assert using(client, made[field]).get("/v1/projects").status_code == 200
    revoked = json.loads(run(command, "revoke", made["id"], "--yes", "--json").stdout)
    assert list(revoked) == ["id", "revoked_at"]
    assert using(client, made[field]).get("/v1/projects").status_code == 401
    again = run(command, "revoke", made["id"], "--yes", "--json")
    assert json.loads(again.stdout) == revoked


def test_a_program_that_cannot_be_asked_is_refused(run: Run, client: Client) -> None:
    made = make(run, "key", client)
    result = run("key", "revoke", made["id"], "--json")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "--yes" in result.stderr
    assert using(client, made["key"]).get("/v1/projects").status_code == 200


def test_revoke_of_what_there_is_not(run: Run) -> None:
    for credential_id in ("key_01k9zq3mgse2j7tbyw5c4r8nhd", "a\x00b"):
        result = run("key", "revoke", credential_id, "--yes")
        assert (result.exit_code, result.stdout) == (1, "")
        assert "There is no API key" in result.stderr


def test_revoke_of_the_other_kind_says_where(run: Run, client: Client) -> None:
    made = make(run, "service-token", client)
    result = run("key", "revoke", made["id"], "--yes")
    assert result.exit_code == 1
    assert f"bin/canopy service-token revoke {made['id']}" in result.stderr


def test_a_question_holds_no_lock(
    run: Run, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = make(run, "key", client)
    answers = []

    def write() -> None:
        answers.append(client.post("/v1/projects", json={"name": "Meanwhile"}).status_code)

    def answer(*_: Any, **__: Any) -> bool:
        service = Thread(target=write)  # with an application context of its own
        service.start()
        service.join()
        return True

    monkeypatch.setattr("app.cli.output.click.confirm", answer)
    assert run("key", "revoke", made["id"]).exit_code == 0
    assert answers == [201]

"""Every command that changes something has its entry, of the operator."""

from __future__ import annotations

import getpass
import os
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Final

import orjson
import pytest

from app.policy.audit import INSTANCE
from tests.account.deletion.support import set_deletion
from tests.cli.conftest import Run
from tests.make import (
    Client,
    make_account,
    make_application,
    make_invited,
    make_key,
    make_member,
    make_operator,
    make_project,
    make_service_token,
    make_webhook,
    new_email,
)
from tests.make.audit import audit_entries, new_entries
from tests.make.features import collection, feature

Arguments = Callable[[Client, Path], list[str]]


def _file(folder: Path) -> str:
    path = folder / "a.geojson"
    path.write_bytes(collection(feature(name="A forest of a file")))
    return str(path)


# The arguments of each command that changes something, and the actions that are entered.
COMMANDS: Final[dict[str, tuple[Arguments, list[str]]]] = {
    "account update": (lambda c, _: [c.account_id, "--plan", "enterprise"], ["account.updated"]),
    "account rename": (lambda c, _: [c.account_id, "Another name"], ["account.updated"]),
    "account export": (
        lambda c, folder: [c.account_id, "--output", str(folder / "a.zip")],
        ["account.exported"],
    ),
    "user set-password": (lambda c, _: [c.owner_id, "--generate"], ["person.password_changed"]),
    "user sign-out": (lambda c, _: [c.owner_id], ["person.sessions_ended"]),
    "member add": (lambda c, _: [new_email(), *_of(c), "--role", "viewer"], ["member.invited"]),
    "member set-role": (
        lambda c, _: [make_member(c, "viewer").id, *_of(c), "--role", "editor"],
        ["member.updated"],
    ),
    "member remove": (
        lambda c, _: [make_invited(c)["id"], *_of(c), "--yes"],
        ["member.removed"],
    ),
    "key create": (
        lambda c, _: [*_of(c), "--name", "x", "--permission", "admin"],
        ["api_key.created"],
    ),
    "key revoke": (
        lambda c, _: [make_key(c).credential_id, "--yes"],
        ["api_key.revoked"],
    ),
    "service-token create": (
        lambda c, _: [*_of(c), "--name", "x", "--permission", "admin"],
        ["service_token.created"],
    ),
    "service-token revoke": (
        lambda c, _: [make_service_token(c).credential_id, "--yes"],
        ["service_token.revoked"],
    ),
    "oauth-app create": (
        lambda c, _: [
            *_of(c), "--name", "x", "--redirect-uri", "https://a.example/b", "--scope", "profile",
        ],
        ["application.created"],
    ),
    "oauth-app update": (
        lambda c, _: [make_application(c).id, "--name", "Another name"],
        ["application.updated"],
    ),
    "oauth-app rotate-secret": (
        lambda c, _: [make_application(c).id],
        ["application.secret_rotated"],
    ),
    "oauth-app delete": (
        lambda c, _: [make_application(c).id, "--yes"],
        ["application.deleted"],
    ),
    "webhook test": (lambda c, _: [make_webhook(c)["id"]], ["webhook.tested"]),
    "import": (
        lambda c, folder: [_file(folder), *_of(c), "--without-boundaries"],
        ["import.created", "import.applied", "project.created"],
    ),
    "export": (
        lambda c, folder: [*_of(c), "--output", str(folder / "a.csv"), "--yes"],
        ["project.exported"],
    ),
    "operator add": (lambda c, _: [c.owner_id], ["operator.added"]),
    "operator remove": (lambda c, _: [make_operator(c)], ["operator.removed"]),
    "account cancel-deletion": (lambda c, _: [_scheduled(c)], ["account.deletion_canceled"]),
    "backup": (lambda _, folder: [str(folder / "backup.zip"), "--force"], ["instance.backed_up"]),
    "account delete": (lambda c, _: [c.account_id, "--yes"], ["account.deleted"]),
}  # fmt: skip


def _scheduled(client: Client) -> str:
    set_deletion(client.app, client.account_id, timedelta(days=1))
    return client.account_id


def _of(client: Client) -> list[str]:
    return ["--account", client.account_id]


@pytest.mark.slow
def test_a_command_has_its_entry(
    run: Run, client: Client, tmp_path: Path, subtests: pytest.Subtests
) -> None:
    make_project(client)
    for command, (arguments, expected) in COMMANDS.items():
        given = arguments(client, tmp_path)
        with subtests.test(command), new_entries(client, INSTANCE) as found:
            result = run(*command.split(), *given)
            assert result.exit_code == 0, result.output
        with subtests.test(f"{command}, its entry"):
            assert [each["action"] for each in found] == expected
            for each in found:
                assert each["actor"]["type"] == "operator"
                assert each["actor"]["label"] == getpass.getuser()
                assert each["via"]["user_agent"] == f"bin/canopy {command}"


def test_a_new_account(run: Run, client: Client) -> None:
    email = new_email()
    result = run("account", "create", "--name", "Green Woods", "--owner-email", email, "--json")
    assert result.exit_code == 0

    found = audit_entries(client, orjson.loads(result.output)["account_id"])
    assert [each["action"] for each in found] == ["account.created", "api_key.created"]
    assert {each["actor"]["type"] for each in found} == {"operator"}


def test_an_operator_without_a_name(
    run: Run, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in containers."""
    for name in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os, "getuid", lambda: 4_000_000)
    with new_entries(client) as found:
        assert run("account", "rename", client.account_id, "Other").exit_code == 0
    assert [each["actor"]["label"] for each in found] == ["user 4000000"]


def test_reading_leaves_no_entry(run: Run, client: Client) -> None:
    other = make_account(client.app)
    with new_entries(client, other.account_id, INSTANCE) as found:
        for line in ("account list", f"account show {client.account_id}", "user list", "plan list"):
            assert run(*line.split()).exit_code == 0
    assert found == []

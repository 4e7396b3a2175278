"""``bin/canopy account``."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from flask import Flask

from app.account.service import read_account
from app.policy.plans import PLANS
from tests.cli.conftest import Run, runner
from tests.make import Client, make_account, second_app

_numbers = itertools.count(1)


def new_email(app: Flask) -> str:
    return f"cli-{next(_numbers)}-{id(app)}@example.org"


def create(run: Run, email: str, *options: str) -> dict[str, Any]:
    result = run(
        "account", "create", "--name", "Green Woods", "--owner-email", email, *options, "--json"
    )
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def test_create_gives_the_account_its_owner_and_a_key(app: Flask, run: Run) -> None:
    email = new_email(app)
    made = create(run, email)
    assert list(made) == ["account_id", "owner_id", "owner_email", "owner_password", "api_key"]
    assert made["owner_email"] == email
    assert len(made["owner_password"]) >= 10
    client = Client(app, made["account_id"], made["owner_id"], made["api_key"])
    assert client.get("/v1/account").json["data"]["name"] == "Green Woods"
    assert client.get("/v1/auth/verify").json["permissions"] == ["admin"]


def test_the_plans_are_listed_with_their_accounts(app: Flask, run: Run) -> None:
    create(run, new_email(app), "--plan", "pro")
    result = run("plan", "list", "--json")
    plans = {record["plan"]: record for record in json.loads(result.stdout)}
    assert list(plans)[: len(PLANS)] == list(PLANS)
    assert plans["pro"]["accounts"] >= 1
    assert plans["enterprise"]["requests_per_day"] is None
    assert run("plan", "list").stdout.split()[:2] == ["plan", "requests_per_minute"]


def test_a_plan_that_is_gone_is_listed_with_the_limits_it_has_now(
    app: Flask, tmp_path: Path
) -> None:
    path = tmp_path / "plans.toml"
    path.write_text("[gold]\nmembers = 9\n")
    with second_app(app, plans_file=path) as made:
        make_account(made, plan="gold")
    records = json.loads(runner(app)("plan", "list", "--json").stdout)
    (gone,) = (record for record in records if record["plan"] == "gold")
    assert (gone["members"], gone["accounts"] >= 1, gone["exists"]) == (3, True, False)
    assert "gold (not in PLANS_FILE: limits of free)" in runner(app)("plan", "list").stdout


def test_create_takes_plan_type_and_password(app: Flask, run: Run) -> None:
    options = ("--plan", "pro", "--type", "individual", "--owner-password", "correct horse")
    made = create(run, new_email(app), *options)
    assert made["owner_password"] == "correct horse"
    with app.app_context():
        record = read_account(made["account_id"])
    assert (record["plan"], record["type"]) == ("pro", "individual")


def test_a_known_person_keeps_the_password(app: Flask, run: Run) -> None:
    email = new_email(app)
    first = create(run, email)
    second = create(run, email.upper())
    assert second["owner_password"] is None
    assert second["owner_id"] == first["owner_id"]
    assert second["account_id"] != first["account_id"]


def test_a_password_for_a_known_person_is_refused(app: Flask, run: Run) -> None:
    email = new_email(app)
    create(run, email)
    result = run(
        "account", "create", "--name", "A", "--owner-email", email,
        "--owner-password", "correct horse",
    )  # fmt: skip
    assert result.exit_code == 1
    assert result.stdout == ""
    assert "Error: owner_password: " in result.stderr


def test_create_for_people_prints_a_line_for_each_value(app: Flask, run: Run) -> None:
    result = run("account", "create", "--name", "Green", "--owner-email", new_email(app))
    lines = [line.split(maxsplit=1) for line in result.stdout.splitlines()]
    names = [name for name, _ in lines]
    assert names == ["account_id", "owner_id", "owner_email", "owner_password", "api_key"]


@pytest.mark.parametrize(
    ("option", "value", "field"),
    [
        ("--name", " ", "name"),
        ("--name", "n" * 201, "name"),
        ("--owner-email", "jo.example.org", "owner_email"),
        ("--owner-email", "jo@", "owner_email"),
        ("--owner-email", "j" * 250 + "@example.org", "owner_email"),
        ("--owner-password", "ninechars", "owner_password"),
        ("--owner-password", "p" * 129, "owner_password"),
        ("--plan", "gold", "plan"),
    ],
)
def test_a_wrong_field_is_named(app: Flask, run: Run, option: str, value: str, field: str) -> None:
    given = {"--name": "Green", "--owner-email": new_email(app)} | {option: value}
    arguments = [word for pair in given.items() for word in pair]
    result = run("account", "create", *arguments)
    assert result.exit_code == 1
    assert result.stderr.startswith(f"Error: {field}: ")
    assert result.stdout == ""


def test_all_wrong_fields_are_named_at_once(run: Run) -> None:
    result = run("account", "create", "--name", "", "--owner-email", "x", "--owner-password", "y")
    for field in ("name", "owner_email", "owner_password"):
        assert f"{field}: " in result.stderr


@pytest.mark.parametrize(
    "arguments",
    [(), ("--name", "A"), ("--name", "A", "--owner-email", "a@b.org", "--type", "club")],
)
def test_wrong_usage_is_2(run: Run, arguments: tuple[str, ...]) -> None:
    result = run("account", "create", *arguments)
    assert result.exit_code == 2
    assert result.stdout == ""


def test_list_has_every_account(app: Flask, run: Run, client: Client) -> None:
    listed = json.loads(run("account", "list", "--json").stdout)
    record = client.get("/v1/account").json["data"]
    assert record in listed
    row = next(
        line for line in run("account", "list").stdout.splitlines() if client.account_id in line
    )
    assert record["slug"] in row


def test_update_takes_an_id_or_a_slug(app: Flask, run: Run, client: Client) -> None:
    slug = client.get("/v1/account").json["data"]["slug"]
    by_id = run("account", "update", client.account_id, "--plan", "pro", "--json")
    assert json.loads(by_id.stdout) == {"id": client.account_id, "slug": slug, "plan": "pro"}
    assert client.get("/v1/account").json["data"]["plan"] == "pro"
    assert run("account", "update", slug, "--plan", "free").exit_code == 0
    assert client.get("/v1/account").json["data"]["plan"] == "free"


def test_update_rejects_unknown_plans_and_accounts(run: Run, client: Client) -> None:
    unknown_plan = run("account", "update", client.account_id, "--plan", "gold")
    assert (unknown_plan.exit_code, unknown_plan.stdout) == (1, "")
    assert "plan: Must be one of" in unknown_plan.stderr
    unknown_account = run("account", "update", "nobody-here", "--plan", "pro", "--json")
    assert (unknown_account.exit_code, unknown_account.stdout) == (1, "")
    assert "'nobody-here'" in unknown_account.stderr

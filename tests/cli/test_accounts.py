"""``bin/canopy account``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from flask import Flask
from sqlalchemy import update

from app.account.lookup import read_account
from app.cli.plans import describe_plan
from app.db.extensions import db
from app.db.transactions import transaction
from app.models import Credential, User
from app.policy.permissions import PERMISSIONS
from app.policy.plans import PLANS
from app.security.passwords import verify_password
from app.values import clock
from app.values.text import slugify
from tests.cli.conftest import Run, runner
from tests.make import (
    Client,
    make_account,
    make_key,
    make_member,
    make_project,
    make_service_token,
    make_webhook,
    new_email,
    second_app,
    square,
)
from tests.make.apps import bare_app

NAMES = [
    "account_id", "slug", "plan", "owner_id", "owner_email", "owner_password", "api_key",
]  # fmt: skip


def create(run: Run, email: str, *options: str) -> dict[str, Any]:
    result = run(
        "account", "create", "--name", "Green Woods", "--owner-email", email, *options, "--json"
    )
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def test_create_gives_the_account_its_owner_and_a_key(app: Flask, run: Run) -> None:
    email = new_email()
    made = create(run, email)
    assert list(made) == NAMES
    assert made["owner_email"] == email
    assert len(made["owner_password"]) >= 10
    client = Client(app, made["account_id"], made["owner_id"], made["api_key"])
    assert client.get("/v1/account").json["data"]["name"] == "Green Woods"
    assert client.get("/v1/auth/verify").json["permissions"] == sorted(PERMISSIONS)


def test_the_plans_are_listed_with_their_accounts(app: Flask, run: Run) -> None:
    create(run, new_email(), "--plan", "pro")
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
    assert (gone["members"], gone["accounts"] >= 1, gone["missing"]) == (3, True, True)
    assert not any("missing" in record for record in records if record["plan"] in PLANS)
    assert "gold (missing: has the limits of free)" in runner(app)("plan", "list").stdout


def test_create_takes_plan_type_and_password(app: Flask, run: Run) -> None:
    options = ("--plan", "pro", "--type", "individual", "--owner-password", "correct horse")
    made = create(run, new_email(), *options)
    assert made["owner_password"] == "correct horse"
    with app.app_context():
        record = read_account(made["account_id"])
    assert (record["plan"], record["type"]) == ("pro", "individual")


def test_create_takes_the_password_from_standard_input(app: Flask, run: Run) -> None:
    """Options are visible in the list of processes."""
    email = new_email()
    arguments = ("account", "create", "--name", "A", "--owner-email", email, "--json")
    made = json.loads(run(*arguments, "--owner-password", "-", input="correct horse\n").stdout)
    assert made["owner_password"] == "correct horse"
    with app.app_context():
        person = db.session.get_one(User, made["owner_id"])
        assert verify_password(person.password_hash, "correct horse")


def test_standard_input_without_a_good_password_creates_nothing(run: Run) -> None:
    arguments = ("account", "create", "--name", "A", "--owner-email", new_email())
    for typed in ("", "\n", "ninechars\n"):
        result = run(*arguments, "--owner-password", "-", input=typed)
        assert (result.exit_code, result.stdout) == (1, "")
        assert "owner_password: " in result.stderr


def test_a_known_person_keeps_the_password(run: Run) -> None:
    email = new_email()
    first = create(run, email)
    second = create(run, email.upper())
    assert second["owner_password"] is None
    assert second["owner_id"] == first["owner_id"]
    assert second["account_id"] != first["account_id"]
    result = run(
        "account", "create", "--name", "A", "--owner-email", email,
        "--owner-password", "correct horse",
    )  # fmt: skip
    assert result.exit_code == 1
    assert result.stdout == ""
    assert "Error: This person has signed up already. Leave the password out." in result.stderr


def test_create_for_people_prints_a_line_for_each_value(app: Flask, run: Run) -> None:
    result = run("account", "create", "--name", "Green", "--owner-email", new_email())
    lines, _, explained = result.stdout.partition("\n\n")
    assert [line.split(maxsplit=1)[0] for line in lines.splitlines()] == NAMES
    slug = lines.splitlines()[1].split()[1]
    assert (
        "Plan: free (1,000 ha, 3 members, 60 requests a minute, 1,000 a day, "
        "50 chat questions a day). "
        f"Change it with: bin/canopy account update {slug} --plan pro" in explained
    )


def test_create_says_why_the_slug_has_a_number(app: Flask, run: Run) -> None:
    arguments = ("--owner-email", new_email())
    name = f"Small NGO {id(app)}"
    first = run("account", "create", "--name", name, *arguments)
    assert "The slug" not in first.stdout
    again = run("account", "create", "--name", name, *arguments)
    slug = slugify(name)
    expected = f"The slug '{slug}' belongs to another account, so this account has '{slug}-2'."
    assert expected in again.stdout
    reserved = run("account", "create", "--name", "Admin", *arguments)
    assert "The slug 'admin' is reserved, so this account has 'admin-" in reserved.stdout


def test_plans_are_described_by_their_limits(tmp_path: Path) -> None:
    path = tmp_path / "plans.toml"
    path.write_text("[solo]\nmembers = 1\nrequests_per_day = 10\n[open]\n")
    with bare_app(tmp_path / "own", PLANS_FILE=str(path)) as made, made.app_context():
        assert describe_plan("solo") == "solo (1 member, 10 requests a day; no other limits)"
        assert describe_plan("open") == "open (no limits)"
        assert describe_plan("enterprise") == (
            "enterprise (1,000 requests a minute; no other limits)"
        )


def test_a_wrong_field_is_named(run: Run) -> None:
    for option, value, field in (
        ("--name", " ", "name"),
        ("--name", "n" * 201, "name"),
        ("--owner-email", "jo.example.org", "owner_email"),
        ("--owner-email", "j" * 250 + "@example.org", "owner_email"),
        ("--owner-password", "ninechars", "owner_password"),
        ("--plan", "gold", "plan"),
    ):
        given = {"--name": "Green", "--owner-email": new_email()} | {option: value}
        result = run("account", "create", *(word for pair in given.items() for word in pair))
        assert (result.exit_code, result.stdout) == (1, ""), value
        assert result.stderr.startswith(f"Error: {field}: "), value
    result = run("account", "create", "--name", "", "--owner-email", "x", "--owner-password", "y")
    for field in ("name", "owner_email", "owner_password"):
        assert f"{field}: " in result.stderr


def test_wrong_usage_is_2(run: Run) -> None:
    for arguments in (
        ("--name", "A"),
        ("--name", "A", "--owner-email", "a@b.org", "--type", "club"),
    ):
        result = run("account", "create", *arguments)
        assert (result.exit_code, result.stdout) == (2, "")


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


def test_show_has_all_that_is_known_of_an_account(run: Run, client: Client) -> None:
    member = make_member(client, "viewer")
    make_project(client, geometry=square())
    make_service_token(client)
    webhook = make_webhook(client)
    shown = json.loads(run("account", "show", client.account_id, "--json").stdout)
    record = client.get("/v1/account").json["data"]
    assert shown == record | {
        "deletes_at": None,
        "limits": {
            "requests_per_minute": 1_000,
            "requests_per_day": None,
            "hectares": None,
            "members": None,
            "chat_questions_per_day": None,
        },
        "usage": shown["usage"],
        "members": client.get("/v1/account/members").json["data"],
        "api_keys": 2,
        "service_tokens": 1,
        "applications": 0,
        "webhooks": [client.get(f"/v1/webhooks/{webhook['id']}").json["data"]],
    }
    assert shown["usage"]["projects"] == {
        "active": 1,
        "archived": 0,
        "draft": 0,
        "total": 1,
    }
    text = run("account", "show", record["slug"]).stdout
    for word in (member.email, webhook["url"], "enterprise (1,000 requests a minute", "viewer"):
        assert word in text
    assert webhook["secret"] not in text


def test_show_does_not_count_keys_that_have_ended(run: Run, client: Client) -> None:
    for ended in ("expires_at", "revoked_at"):
        key = make_key(client)
        with client.app.app_context(), transaction():
            of_key = update(Credential).where(Credential.id == key.credential_id)
            db.session.execute(of_key.values({ended: clock.now()}))
    shown = json.loads(run("account", "show", client.account_id, "--json").stdout)
    assert shown["api_keys"] == 1


def test_rename_keeps_the_slug(run: Run, client: Client) -> None:
    before = client.get("/v1/account").json["data"]
    renamed = run("account", "rename", before["slug"], " Greener Woods ", "--json")
    assert json.loads(renamed.stdout) == before | {"name": "Greener Woods"}
    assert client.get("/v1/account").json["data"]["name"] == "Greener Woods"
    too_long = run("account", "rename", before["slug"], "n" * 201)
    assert (too_long.exit_code, too_long.stdout) == (1, "")
    assert too_long.stderr == "Error: name: Must have 1 to 200 characters.\n"

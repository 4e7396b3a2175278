"""``bin/canopy member``: the rules and events of the API."""

from __future__ import annotations

import json

from tests.cli.conftest import Run
from tests.make import (
    Client,
    event_types,
    events,
    link_in,
    mails_to,
    make_account,
    make_member,
    new_email,
)


def owner_of(client: Client) -> dict[str, str]:
    record: dict[str, str] = client.get(f"/v1/account/members/{client.owner_id}").json["data"]
    return record


def test_add_invites_and_shows_the_link(run: Run, client: Client) -> None:
    email = new_email()
    result = run(
        "member", "add", email, "--account", client.account_id, "--role", "editor", "--json"
    )
    assert result.exit_code == 0, result.output
    made = json.loads(result.stdout)
    link = made.pop("link")
    assert made == client.get(f"/v1/account/members/{made['id']}").json["data"]
    assert (made["email"], made["role"], made["joined_at"]) == (email, "editor", None)
    assert link == link_in(mails_to(client.app, email)[-1])
    assert event_types(client) == ["member.invited"]
    assert events(client)[-1]["data"]["invited_by"]["id"] == client.owner_id
    path = link.removeprefix(client.app.config["SETTINGS"].public_url)
    assert client.app.test_client().get(path).status_code == 200


def test_an_address_that_is_none_is_refused(run: Run, client: Client) -> None:
    result = run("member", "add", "jo", "--account", client.account_id, "--role", "viewer")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "email: Must be an email address such as jo@example.org." in result.stderr


def test_list_has_invited_people_too(run: Run, client: Client) -> None:
    make_member(client, "viewer")
    run("member", "add", new_email(), "--account", client.account_id, "--role", "viewer")
    listed = json.loads(run("member", "list", "--account", client.account_id, "--json").stdout)
    assert listed == client.get("/v1/account/members").json["data"]
    assert len(listed) == 3


def test_a_full_plan_says_what_to_do(run: Run, app: object, client: Client) -> None:
    small = make_account(client.app, plan="free")
    slug = small.get("/v1/account").json["data"]["slug"]
    for _ in range(2):
        make_member(small, "viewer")
    message = (
        "The plan free includes 3 seats, and all 3 are taken. Ask whoever runs this "
        f"instance to change the plan (bin/canopy account update {slug} --plan PLAN)."
    )
    result = run("member", "add", new_email(), "--account", slug, "--role", "viewer")
    assert (result.exit_code, result.stderr) == (1, f"Error: {message}\n")
    body = {"email": new_email(), "role": "viewer"}
    response = small.post("/v1/account/members/invite", body)
    assert response.status_code == 403
    assert response.json["error"]["message"] == message
    assert [each["code"] for each in response.json["error"]["details"]] == ["plan_limit"]


def test_set_role_takes_an_address_or_an_id(run: Run, client: Client) -> None:
    member = make_member(client, "viewer")
    account = ("--account", client.account_id)
    raised = run("member", "set-role", member.email.upper(), *account, "--role", "admin", "--json")
    assert json.loads(raised.stdout)["role"] == "admin"
    assert event_types(client)[-1] == "member.updated"
    assert run("member", "set-role", member.id, *account, "--role", "owner").exit_code == 0
    assert client.get(f"/v1/account/members/{member.id}").json["data"]["role"] == "owner"


def test_a_lower_role_restricts_keys(run: Run, client: Client) -> None:
    member = make_member(client, "editor")
    assert member.client.post("/v1/projects", {"name": "Before"}).status_code == 201
    account = ("--account", client.account_id)
    assert run("member", "set-role", member.id, *account, "--role", "viewer").exit_code == 0
    assert member.client.post("/v1/projects", {"name": "After"}).status_code == 403


def test_remove_asks_and_ends_access(run: Run, client: Client) -> None:
    member = make_member(client, "editor")
    arguments = ("member", "remove", member.email, "--account", client.account_id)
    asked = run(*arguments, input="n\n")
    assert (asked.exit_code, asked.stdout) == (1, "")
    assert member.email in asked.stderr
    removed = run(*arguments, "--yes", "--json")
    assert json.loads(removed.stdout) == {
        "id": member.id, "email": member.email, "removed": True,
    }  # fmt: skip
    assert member.client.get("/v1/projects").status_code == 401
    assert event_types(client)[-1] == "member.removed"


def test_the_last_owner_stays(run: Run, client: Client) -> None:
    email = owner_of(client)["email"]
    account = ("--account", client.account_id)
    for arguments in (("remove", email, "--yes"), ("set-role", email, "--role", "viewer")):
        result = run("member", *arguments, *account)
        assert (result.exit_code, result.stdout) == (1, "")
        assert "last owner" in result.stderr
    assert owner_of(client)["role"] == "owner"


def test_a_stranger_is_no_member(run: Run, client: Client, stranger: Client) -> None:
    slug = client.get("/v1/account").json["data"]["slug"]
    result = run("member", "remove", stranger.owner_id, "--account", slug, "--yes")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "has no member" in result.stderr
    assert f"bin/canopy member list --account {slug}" in result.stderr

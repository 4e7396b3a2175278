"""The permissions of an access token: its scopes, limited by the person's current role."""

from __future__ import annotations

from datetime import timedelta

import pytest

from app.account.members.service import change_role, remove_member
from app.db.extensions import db
from app.db.transactions import transaction
from app.policy.permissions import ROLES, SCOPES, expand_permissions
from app.security import tokens
from app.values import clock
from tests.make import (
    Application,
    Client,
    Member,
    bearer,
    grant_tokens,
    make_key,
    make_member,
    make_project,
    operator_of,
    second_app,
)
from tests.make.oauth import refresh
from tests.oauth.support import assert_error, rows, tokens_of

ALL = tuple(SCOPES)


def _of(client: Client, application: Application, member: Member, *scopes: str) -> Client:
    """A client with an access token of a member."""
    response = grant_tokens(client.app, application, member.id, client.account_id, scopes or ALL)
    return bearer(client, response["access_token"])


def _change(client: Client, member: Member, role: str | None) -> None:
    """Give a member another role, or remove them."""
    with client.app.app_context(), transaction():
        operator = operator_of(client)
        if role is None:
            remove_member(operator, member.id)
        else:
            change_role(operator, member.id, role)


@pytest.mark.parametrize("role", ROLES)
def test_permissions_are_limited_by_scopes_and_role(
    client: Client, application: Application, role: str
) -> None:
    member = make_member(client, role)
    for scopes in (ALL, ("projects:write",), ("profile", "assets:read")):
        verified = _of(client, application, member, *scopes).get("/v1/auth/verify").json
        expected = (expand_permissions(scopes) & ROLES[role]) | ({"profile"} & set(scopes))
        assert verified["permissions"] == sorted(expected)
        assert (verified["valid"], verified["type"]) == (True, "oauth")
        assert verified["account_id"] == client.account_id


def test_verify_reports_the_expiry(
    client: Client, application: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    moment = clock.now()
    monkeypatch.setattr(clock, "now", lambda: moment)
    caller = bearer(client, tokens_of(client, application)["access_token"])
    ends_at = clock.format_time(moment + timedelta(hours=1))
    assert caller.get("/v1/auth/verify").json["expires_at"] == ends_at


def test_the_account_needs_the_scope_profile_which_allows_nothing_else(
    client: Client, application: Application
) -> None:
    response = bearer(client, tokens_of(client, application)["access_token"]).get("/v1/account")
    assert response.status_code == 403
    assert "scope profile" in response.json["error"]["message"]
    assert make_key(client, permissions=["projects:read"]).get("/v1/account").status_code == 200
    caller = bearer(client, tokens_of(client, application, ("profile",))["access_token"])
    assert caller.get("/v1/account").status_code == 200
    for path in ("/v1/projects", "/v1/account/members", "/v1/account/usage"):
        assert caller.get(path).status_code == 403
    assert caller.put("/v1/account", json={"name": "B"}).status_code == 403


def test_only_an_admin_deletes_a_project_through_an_application(
    client: Client, application: Application, subtests: pytest.Subtests
) -> None:
    """A key of the account needs no more than projects:write."""
    callers = {role: _of(client, application, make_member(client, role)) for role in ROLES}
    callers["key"] = make_key(client, permissions=["projects:write"])
    for collection in ("/v1/projects", "/ogc/collections/projects/items"):
        for role in ("viewer", "editor", "admin", "owner", "key"):
            with subtests.test(f"{role}, {collection}"):
                project = make_project(client)["id"]
                client.post(f"/v1/projects/{project}/archive")
                response = callers[role].delete(f"{collection}/{project}")
                is_allowed = role not in ("viewer", "editor")
                assert response.status_code == (204 if is_allowed else 403)
                assert "WWW-Authenticate" not in response.headers
                found = client.get(f"/v1/projects/{project}").status_code
                assert found == (404 if is_allowed else 200)


def test_changes_are_attributed_to_the_person(client: Client, application: Application) -> None:
    member = make_member(client, "editor")
    make_project(_of(client, application, member))
    statement = "SELECT body FROM events WHERE account_id = :id ORDER BY id DESC"
    assert f'"id":"{member.id}"' in rows(client, statement, id=client.account_id)[0][0]


# What revokes or restricts a token.


def test_removal_and_a_lower_role_apply_at_once_in_every_process(
    client: Client, application: Application
) -> None:
    with second_app(client.app) as other:
        for role in ("viewer", None):
            member = make_member(client, "editor")
            response = grant_tokens(client.app, application, member.id, client.account_id, ALL)
            here = bearer(client, response["access_token"])
            elsewhere = Client(other, client.account_id, member.id, response["access_token"])
            assert elsewhere.get("/v1/projects").status_code == 200
            _change(client, member, role)
            assert elsewhere.get("/v1/projects").status_code == 401
            assert here.get("/v1/projects").status_code == 401
            again = refresh(client.app, application, response["refresh_token"])
            assert_error(again, "invalid_grant")


def test_a_role_lowered_in_the_database_applies_at_once(
    client: Client, application: Application
) -> None:
    member = make_member(client, "editor")
    caller = _of(client, application, member)
    project = make_project(caller)
    with client.app.app_context(), transaction():
        statement = "UPDATE memberships SET role = 'viewer' WHERE user_id = :id"
        db.session.execute(db.text(statement), {"id": member.id})
    path = f"/v1/projects/{project['id']}"
    assert caller.get(path).status_code == 200
    assert caller.put(path, json={"name": "B"}).status_code == 403
    assert caller.get("/v1/auth/verify").json["permissions"] == sorted(
        ROLES["viewer"] | {"profile"}
    )


def test_a_higher_role_restores_consented_permissions(
    client: Client, application: Application
) -> None:
    member = make_member(client, "viewer")
    caller = _of(client, application, member)
    assert caller.post("/v1/projects", json={"name": "A"}).status_code == 403
    _change(client, member, "editor")
    assert caller.post("/v1/projects", json={"name": "A"}).status_code == 201


def test_a_token_is_valid_for_one_account_only(
    client: Client, stranger: Client, application: Application
) -> None:
    """Even if the person belongs to both."""
    member = make_member(client, "editor")
    make_member(stranger, "owner", email=member.email)
    project = make_project(stranger)
    caller = _of(client, application, member)
    assert caller.get("/v1/projects").json["meta"]["total"] == 0
    assert caller.get(f"/v1/projects/{project['id']}").status_code == 404
    _change(stranger, member, None)
    assert caller.get("/v1/projects").status_code == 200


# Errors, and recording use.


def test_all_invalid_tokens_get_the_same_response(
    client: Client, application: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    response, moment = tokens_of(client, application), clock.now()
    good = response["access_token"]
    bad = [
        tokens.new_token(tokens.ACCESS_TOKEN),
        good[:-1] + ("a" if good[-1] != "a" else "b"),
        "canopy_oat_",
        "canopy_oat_ü",
    ]
    monkeypatch.setattr(clock, "now", lambda: moment + timedelta(hours=2))
    same = {"X-Request-Id": "same-request"}
    responses = [
        client.nobody().get("/v1/projects", headers=same | {"Authorization": f"Bearer {token}"})
        for token in (good, *(token.encode().decode("latin-1") for token in bad))
    ]
    assert {each.status_code for each in responses} == {401}
    assert len({each.get_data() for each in responses}) == 1
    assert {each.headers["WWW-Authenticate"] for each in responses} == {
        'Bearer realm="canopy", error="invalid_token"'
    }


def test_other_tokens_are_not_accepted(client: Client, application: Application) -> None:
    code = tokens.new_token(tokens.AUTHORIZATION_CODE)
    for token in (tokens_of(client, application)["refresh_token"], code, application.secret):
        assert bearer(client, token or "").get("/v1/projects").status_code == 401


def test_last_use_is_recorded_at_most_once_a_minute(
    client: Client, application: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = clock.now() + timedelta(hours=0.5)
    caller = bearer(client, tokens_of(client, application)["access_token"])
    monkeypatch.setattr(clock, "now", lambda: start)
    caller.get("/v1/projects")
    assert _noted(client) == [clock.format_time(start)] * 2
    for seconds in (59, 60):
        monkeypatch.setattr(clock, "now", lambda at=start + timedelta(seconds=seconds): at)
        caller.get("/v1/projects")
        assert _noted(client) == [clock.format_time(clock.now() if seconds == 60 else start)] * 2


def _noted(client: Client) -> list[str]:
    """When the owner's authorization was last used, and when the owner was last active."""
    values = {"id": client.account_id, "user": client.owner_id}
    of_both = (
        "SELECT last_used_at FROM oauth_authorizations WHERE account_id = :id AND user_id = :user",
        "SELECT last_active_at FROM memberships WHERE account_id = :id AND user_id = :user",
    )
    moments = [rows(client, statement, **values)[0][0] for statement in of_both]
    return [clock.format_optional_time(moment) or "" for moment in moments]


def test_a_busy_database_does_not_delay_requests(client: Client, application: Application) -> None:
    caller = bearer(client, tokens_of(client, application)["access_token"])
    with client.app.app_context():
        statement = "UPDATE oauth_authorizations SET last_used_at = NULL WHERE account_id = :id"
        db.session.execute(db.text(statement), {"id": client.account_id})
        assert caller.get("/v1/projects").status_code == 200


def test_requests_of_a_token_count_for_the_account(
    client: Client, application: Application
) -> None:
    def counted() -> int:
        return int(client.get("/v1/account/usage").json["data"]["api_requests"]["current"])

    caller = bearer(client, tokens_of(client, application)["access_token"])
    before = counted()
    for _ in range(3):
        caller.get("/v1/projects")
    assert counted() == before + 4

"""A person's own rows in all their accounts, which nobody else can read."""

from __future__ import annotations

from typing import Any

from app.auth.memberships import memberships_of
from tests.architecture.tenancy import around_the_filter
from tests.leaks import PERSONAL_TABLES, leaks
from tests.make import Client, make_account, make_invited, make_member, new_email

TOP = "from app.models import Membership, OAuthConsent, Project\n"


def _of(client: Client, user_id: str) -> list[Any]:
    with client.app.app_context():
        return memberships_of(user_id)


def test_the_accounts_of_a_person(client: Client, stranger: Client) -> None:
    email = new_email()
    member = make_member(client, "viewer", email=email)
    make_member(stranger, "admin", email=email)
    make_invited(make_account(client.app), email=email)
    found = _of(client, member.id)
    assert {(row.id, row.role) for row in found} == {
        (client.account_id, "viewer"),
        (stranger.account_id, "admin"),
    }
    for row in found:
        account = client if row.id == client.account_id else stranger
        record = account.get("/v1/account").json["data"]
        assert (row.name, row.slug) == (record["name"], record["slug"])
        joined = account.get(f"/v1/account/members/{member.id}").json["data"]["joined_at"]
        assert row.joined_at == joined
    assert [row.name for row in found] == sorted(row.name for row in found)


def test_a_removed_member_has_one_account_less(client: Client) -> None:
    member = make_member(client, "viewer")
    client.delete(f"/v1/account/members/{member.id}")
    assert _of(client, member.id) == []


def test_a_statement_may_name_the_person() -> None:
    for table in PERSONAL_TABLES:
        own = f"SELECT {table}.account_id FROM {table} WHERE {table}.user_id = "
        assert not leaks(own + "?")
        assert not leaks(own + "%(own_user_id)s::VARCHAR")
        assert not leaks(f"SELECT 1 FROM {table}, accounts WHERE {table}.user_id = :own_user_id")


def test_other_statements_are_still_leaks() -> None:
    for statement in (
        "SELECT 1 FROM events WHERE events.user_id = :own_user_id",
        "SELECT 1 FROM memberships WHERE memberships.user_id = :me OR memberships.role = :role",
        "SELECT 1 FROM memberships WHERE memberships.user_id = users.id",
        "SELECT 1 FROM memberships WHERE memberships.user_id <> :me",
        "SELECT 1 FROM memberships, credentials WHERE memberships.user_id = :me",
        "SELECT 1 FROM memberships AS m, oauth_consents WHERE m.user_id = :me",
        "SELECT 1 FROM memberships WHERE memberships.invitation_hash = :hash",
        "UPDATE memberships SET role=:role WHERE memberships.invitation_hash = :hash",
    ):
        assert leaks(statement), statement


def test_only_personal_rows_are_allowed() -> None:
    for model, leaking in (
        ("Project", 1),
        ("Membership.role", 1),
        ("User", 1),
        ("OAuthConsent", 0),
    ):
        known = {"app.bees.service": TOP + f"def f():\n    own_columns_of({model}, 1)"}
        assert len(list(around_the_filter(known))) == leaking, model

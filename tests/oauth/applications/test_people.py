"""Who has given an application access."""

from __future__ import annotations

from app.oauth.applications.people import GrantedScopes, people_of_account, use_of_applications
from tests.make import Client, bearer, grant_tokens, make_application, make_member
from tests.make.oauth import Application, grant_code

BOTH = ("projects:read", "assets:read")


def grant(client: Client, application: Application, user_id: str, *scopes: str) -> str:
    token: str = grant_tokens(client.app, application, user_id, client.account_id, scopes)[
        "access_token"
    ]
    return token


def test_people_count_once_over_all_accounts(client: Client, stranger: Client) -> None:
    application, unused = make_application(client), make_application(client)
    member = make_member(client)
    grant(client, application, member.id, *BOTH)
    grant(client, application, member.id, "profile")
    grant(stranger, application, stranger.owner_id, "projects:read")
    with client.app.app_context():
        use = use_of_applications(client.account_id)
        assert use[application.id].people == 2
        assert use[application.id].last_used_at is not None
        assert use[unused.id] == (0, None)
        assert application.id not in use_of_applications(stranger.account_id)


def test_a_consent_counts_before_it_is_used(client: Client) -> None:
    application = make_application(client)
    grant_code(client.app, application, client.owner_id, client.account_id)
    with client.app.app_context():
        assert use_of_applications(client.account_id)[application.id] == (1, None)


def test_people_are_counted_by_what_they_granted(client: Client, stranger: Client) -> None:
    application = make_application(client)
    grant(client, application, client.owner_id, *BOTH)
    grant(stranger, application, stranger.owner_id, "projects:read")
    with client.app.app_context():
        granted = GrantedScopes(client.account_id, application.id)
        numbers = [granted.people([name]) for name in (*BOTH, "profile")]
        assert numbers == [2, 1, 0]
        assert granted.people(BOTH) == 2
        assert granted.people([]) == 0
        assert GrantedScopes(stranger.account_id, application.id).people(BOTH) == 0


def test_only_people_of_the_account_are_named(client: Client, stranger: Client) -> None:
    application = make_application(stranger)
    member = make_member(client)
    token = grant(client, application, member.id, "projects:read")
    grant(stranger, application, stranger.owner_id, "projects:read")
    with client.app.app_context():
        (found,), total = people_of_account(client.account_id, application.id)
    assert total == 1
    assert found["email"] == member.email
    assert bearer(client, token).get("/v1/projects").status_code == 200

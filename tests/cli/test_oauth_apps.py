"""``bin/canopy oauth-app update``."""

from __future__ import annotations

import json

from tests.cli.conftest import Run
from tests.make import Client, bearer, grant_tokens, make_application, make_member

SCOPES = ("projects:read", "assets:read")


def update(run: Run, client_id: str, *options: str) -> dict[str, object]:
    result = run("oauth-app", "update", client_id, *options, "--json")
    assert result.exit_code == 0, result.output
    record: dict[str, object] = json.loads(result.stdout)
    return record


def test_what_is_given_is_changed_and_the_rest_stays(run: Run, client: Client) -> None:
    made = make_application(client, scopes=SCOPES)
    named = update(run, made.id, "--name", "Map of Woods 2")
    assert (named["name"], named["redirect_uris"]) == ("Map of Woods 2", [made.redirect_uri])
    moved = update(
        run, made.id,
        "--redirect-uri", "https://map.example/a", "--redirect-uri", "https://map.example/b",
    )  # fmt: skip
    assert moved["name"] == "Map of Woods 2"
    assert moved["redirect_uris"] == ["https://map.example/a", "https://map.example/b"]
    assert set(SCOPES) == set(moved["scopes"])  # type: ignore[call-overload]
    listed = json.loads(run("oauth-app", "list", "--account", client.account_id, "--json").stdout)
    assert listed[0] | {"revoked_consents": 0} == moved


def test_a_scope_that_is_taken_away_ends_the_access_with_it(
    run: Run, client: Client, stranger: Client
) -> None:
    made = make_application(client, scopes=SCOPES)
    both = grant_tokens(client.app, made, stranger.owner_id, stranger.account_id, SCOPES)
    member = make_member(stranger, "viewer")
    one = grant_tokens(client.app, made, member.id, stranger.account_id, SCOPES[:1])
    record = update(run, made.id, "--scope", "projects:read")
    assert (record["scopes"], record["revoked_consents"]) == (["projects:read"], 1)
    assert bearer(stranger, both["access_token"]).get("/v1/projects").status_code == 401
    assert bearer(stranger, one["access_token"]).get("/v1/projects").status_code == 200
    wider = update(run, made.id, "--scope", "projects:read", "--scope", "assets:write")
    assert wider["revoked_consents"] == 0
    assert bearer(stranger, one["access_token"]).get("/v1/projects").status_code == 200


def test_wrong_values_are_named(run: Run, client: Client) -> None:
    made = make_application(client)
    nothing = run("oauth-app", "update", made.id)
    assert (nothing.exit_code, nothing.stdout) == (2, "")
    wrong = run(
        "oauth-app", "update", made.id, "--redirect-uri", "http://map.example/", "--name", ""
    )
    assert (wrong.exit_code, wrong.stdout) == (1, "")
    for field in ("redirect_uris: ", "name: "):
        assert field in wrong.stderr
    unknown = run("oauth-app", "update", "app_01k9zq3mgse2j7tbyw5c4r8nhd", "--name", "x")
    assert "There is no application" in unknown.stderr

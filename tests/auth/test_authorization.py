"""Who may do what with which credential (docs/policy.md, "Permissions")."""

from __future__ import annotations

import pytest

from app.security import tokens
from tests.make import Client, make_key, make_project, make_service_token, revoke, second_app


def _with(client: Client, authorization: str) -> int:
    headers = {"Authorization": authorization}
    return client.nobody().get("/v1/account", headers=headers).status_code


def test_forms_of_the_header(client: Client) -> None:
    for form in ("Bearer {}", "bearer {}", "BEARER {}", "Bearer  {}", " Bearer {} "):
        assert _with(client, form.format(client.token)) == 200, form
    for form in ("{}", "Token {}", "Basic {}", "Bearer {}x", "Bearer {} x", "Bearer x{}", "Bearer"):
        assert _with(client, form.format(client.token)) == 401, form


def test_a_token_is_taken_from_the_header_only(client: Client) -> None:
    nobody, token = client.nobody(), client.token or ""
    for response in (
        nobody.post(f"/v1/projects?access_token={token}", json={"name": "A"}),
        nobody.post("/v1/projects", json={"access_token": token, "name": "A"}),
        nobody.post("/v1/projects", json={"name": "A"}, headers={"Cookie": f"token={token}"}),
    ):
        assert response.status_code == 401


def test_a_change_of_one_character_is_refused_without_the_database(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The checksum at the end of a token tells junk."""
    token = client.token or ""
    wrong = token[:-10] + ("a" if token[-10] != "a" else "b") + token[-9:]

    def asked(**_: str) -> None:
        raise AssertionError("the database was asked")

    monkeypatch.setattr("app.auth.credentials._BY_HASH.first", asked)
    assert _with(client, f"Bearer {wrong}") == 401


def test_unknown_and_revoked_tokens_get_the_same_answer(client: Client) -> None:
    revoked = make_key(client)
    revoke(revoked)
    same = {"X-Request-Id": "same-request"}
    answers = [
        client.nobody().get("/v1/projects", headers=same | {"Authorization": f"Bearer {token}"})
        for token in (revoked.token, tokens.new_token(tokens.API_KEY))
    ]
    assert answers[0].get_data() == answers[1].get_data()
    assert sorted(answers[0].headers) == sorted(answers[1].headers)


def test_revocation_is_immediate_in_every_process(client: Client) -> None:
    with second_app(client.app) as other:
        for bearer in (make_key(client), make_service_token(client)):
            elsewhere = Client(other, client.account_id, client.owner_id, bearer.token)
            for caller in (bearer, elsewhere):
                assert caller.get("/v1/projects").status_code == 200
            revoke(bearer)
            assert elsewhere.get("/v1/projects").status_code == 401
            assert bearer.get("/v1/projects").status_code == 401
    assert client.get("/v1/account").status_code == 200


def test_a_service_token_is_bound_to_its_addresses(client: Client) -> None:
    for allowlist, address, allowed in (
        ([], "203.0.113.7", True),
        (["127.0.0.1"], "127.0.0.1", True),
        (["127.0.0.1"], "127.0.0.2", False),
        (["10.0.0.0/8"], "10.255.1.2", True),
        (["10.0.0.0/8"], "11.0.0.1", False),
        (["10.0.0.0/8", "192.168.1.0/24"], "192.168.1.77", True),
        (["2001:db8::/32"], "2001:db8:1::5", True),
        (["2001:db8::/32"], "2001:db9::5", False),
        (["10.0.0.0/8"], "::ffff:10.1.2.3", True),
        (["10.0.0.0/8"], "2001:db8::1", False),
        (["0.0.0.0/0"], "::1", False),
        (["10.0.0.0/8"], "", False),
        (["10.0.0.0/8"], "unknown", False),
    ):
        bearer = make_service_token(client, ip_allowlist=allowlist)
        response = bearer.get("/v1/account", environ_base={"REMOTE_ADDR": address})
        assert response.status_code == (200 if allowed else 401), (allowlist, address)


def test_an_address_that_a_client_claims_is_not_believed(client: Client) -> None:
    bearer = make_service_token(client, ip_allowlist=["10.0.0.0/8"])
    for header in ("X-Forwarded-For", "X-Real-IP", "Forwarded"):
        assert bearer.get("/v1/account", headers={header: "10.0.0.1"}).status_code == 401


def test_behind_a_proxy_the_address_is_what_the_proxy_says(client: Client) -> None:
    bearer = make_service_token(client, ip_allowlist=["10.0.0.0/8"])
    with second_app(client.app, trusted_proxies=1) as proxied:
        behind = Client(proxied, client.account_id, client.owner_id, bearer.token)
        for claimed, status in (
            ("10.0.0.1", 200),
            ("10.0.0.1, 203.0.113.7", 401),
            ("203.0.113.7, 10.0.0.1", 200),
        ):
            response = behind.get("/v1/account", headers={"X-Forwarded-For": claimed})
            assert response.status_code == status


def test_a_credential_sees_its_own_account_only(client: Client, stranger: Client) -> None:
    make_project(client)
    for bearer in (stranger, make_service_token(stranger)):
        assert bearer.get("/v1/projects").json["meta"]["total"] == 0
        assert bearer.get("/v1/account").json["data"]["id"] == stranger.account_id

"""The endpoints for programs: parsing requests, and the format of responses."""

from __future__ import annotations

import base64
import io
from urllib.parse import quote_plus

import pytest
from flask import Flask
from sqlalchemy.exc import OperationalError
from werkzeug.test import TestResponse

from app.policy.oauth_errors import Description
from tests.make import Application, Client
from tests.make.oauth import code_form, exchange
from tests.oauth.support import assert_error, code_of, tokens_of

PATHS = ("/oauth/token", "/oauth/revoke", "/oauth/introspect")
METADATA = "/.well-known/oauth-authorization-server"
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


def _basic(client_id: str, secret: str) -> dict[str, str]:
    encoded = base64.b64encode(f"{client_id}:{secret}".encode()).decode()
    return {"Authorization": f"Basic {encoded}"}


# Client authentication.


def test_client_authentication_by_basic(client: Client, application: Application) -> None:
    form = code_form(application, code_of(client, application))
    headers = _basic(application.id, application.secret or "")
    response = client.app.test_client().post("/oauth/token", data=form, headers=headers)
    assert response.status_code == 200


def test_basic_may_be_urlencoded_and_repeat_the_id_in_the_form(
    client: Client, application: Application
) -> None:
    form = code_form(application, code_of(client, application)) | {"client_id": application.id}
    secret = quote_plus(application.secret or "").replace("_", "%5F")
    headers = {
        "Authorization": _basic(application.id, secret)["Authorization"].replace("B", "b", 1)
    }
    response = client.app.test_client().post("/oauth/token", data=form, headers=headers)
    assert response.status_code == 200


def test_what_is_sent_in_header_and_form_must_be_the_same(
    client: Client, application: Application
) -> None:
    """Some clients, such as n8n, send both."""
    token, proof = tokens_of(client, application)["refresh_token"], application.proof
    headers = _basic(*proof.values())
    form = {"grant_type": "refresh_token", "refresh_token": token}
    send = client.app.test_client().post
    for differing in ({"client_secret": "another"}, {"client_id": "app_another"}):
        response = send("/oauth/token", data=form | proof | differing, headers=headers)
        assert_error(response, "invalid_request")
        assert "not that of the Authorization header" in response.json["error_description"]
    assert send("/oauth/token", data=form | proof, headers=headers).status_code == 200


@pytest.mark.parametrize("path", PATHS)
def test_wrong_basic_is_401(app: Flask, path: str) -> None:
    form = {"token": "x", "grant_type": "refresh_token", "refresh_token": "x"}
    for authorization in (
        *("", "Basic", "Basic ", "Basic !!!", "Basic Og==", "Basic eA==", "Basic /w==", "Bearer x"),
        *("Basic YTpi", "Digest username=x", "basic", "Basic AA==", "Basic " + "QQ" * 5_000),
    ):
        headers = {"Authorization": authorization}
        response = app.test_client().post(path, data=form, headers=headers)
        assert_error(response, "invalid_client", 401)
        assert response.headers["WWW-Authenticate"] == 'Basic realm="canopy"'


# The body.


def _post(
    app: Flask, path: str, body: bytes, headers: dict[str, str] | None = None
) -> TestResponse:
    return app.test_client().post(path, data=body, headers=FORM | (headers or {}))


@pytest.mark.parametrize("path", PATHS)
def test_unreadable_bodies_are_invalid(app: Flask, path: str) -> None:
    for body in (
        b"",
        b"&&&",
        b"=",
        b"grant_type",
        b"grant_type=x&grant_type=y&client_id=a",
        b"client_id=a&client_id=a",
        b"token=a&token=&client_id=a",
        b"client_id=%00",
        b"client_id=\x00",
        b"client_id=%ff%fe",
        b"client_id=\xff",
        b"client_id=%ED%A0%80",
        b"client_id=" + b"x" * 2_001,
        b"x" * 2_001 + b"=1",
        b"&".join(b"p%d=1" % number for number in range(51)),
        b"a" * 65_536,
    ):
        response = _post(app, path, body)
        assert response.json["error"] in ("invalid_request", "invalid_client"), body[:40]
        assert response.status_code in (400, 401), body[:40]
    assert_error(_post(app, path, b"a=" + b"x" * 65_536), "invalid_request", 413)


def test_a_long_body_in_chunks_is_413(app: Flask) -> None:
    chunked = {
        "wsgi.input_terminated": True,
        "wsgi.input": io.BytesIO(b"a=b&" * 20_000),
        "HTTP_TRANSFER_ENCODING": "chunked",
    }
    response = app.test_client().post("/oauth/token", headers=FORM, environ_overrides=chunked)
    assert_error(response, "invalid_request", 413)


def test_a_body_that_ends_early_is_invalid(app: Flask) -> None:
    response = _post(app, "/oauth/token", b"client_id=x", {"Content-Length": "100"})
    assert (response.status_code, response.json["error"]) == (400, "invalid_request")


def test_other_content_types_are_rejected(app: Flask) -> None:
    body = "grant_type=refresh_token&refresh_token=x&client_id=app_x"
    for kind in ("application/json", "multipart/form-data; boundary=x", "text/plain", "", "x", "/"):
        response = app.test_client().post("/oauth/token", data=body, headers={"Content-Type": kind})
        assert_error(response, "invalid_request")


def test_a_form_may_name_its_charset(client: Client, application: Application) -> None:
    token = tokens_of(client, application)["refresh_token"]
    body = (
        f"grant_type=refresh_token&refresh_token={token}&client_id={application.id}"
        f"&client_secret={application.secret}"
    )
    headers = {"Content-Type": "Application/X-WWW-Form-Urlencoded; charset=utf-8"}
    response = client.app.test_client().post("/oauth/token", data=body, headers=headers)
    assert response.status_code == 200


def test_unknown_parameters_are_ignored(client: Client, application: Application) -> None:
    response = exchange(client.app, application, code_of(client, application), audience="x", a="b")
    assert response.status_code == 200


def test_other_grants_are_unsupported(client: Client, application: Application) -> None:
    code, unsupported = code_of(client, application), "unsupported_grant_type"
    for grant_type, error in (
        (None, "invalid_request"),
        ("", "invalid_request"),
        *((kind, unsupported) for kind in ("password", "client_credentials", "implicit")),
        *((kind, unsupported) for kind in ("AUTHORIZATION_CODE", '"ü\\', "authorization_code ")),
    ):
        response = exchange(client.app, application, code, grant_type=grant_type)
        assert_error(response, error)
        assert response.json["error_description"].isascii()


@pytest.mark.parametrize("path", [*PATHS, METADATA, "/oauth/token/"])
def test_other_methods_are_405_in_oauth_format(app: Flask, path: str) -> None:
    allowed = {"GET", "HEAD"} if path == METADATA else {"POST"}
    for method in {"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"} - allowed:
        response = app.test_client().open(path, method=method)
        assert_error(response, "invalid_request", 405)
        assert set(response.headers["Allow"].split(", ")) == allowed


# Server errors.


@pytest.mark.provokes(503)
def test_without_the_database_it_is_503(
    client: Client, application: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = code_of(client, application)

    def gone(*_: object) -> None:
        raise OperationalError("", {}, Exception("gone"))

    monkeypatch.setattr("app.oauth.grants.claim_code", gone)
    response = exchange(client.app, application, code)
    assert_error(response, "temporarily_unavailable", 503)
    assert response.json["error_description"] == Description.UNAVAILABLE
    assert int(response.headers["Retry-After"]) >= 1


@pytest.mark.provokes(500)
def test_a_bug_is_500_without_details(
    client: Client, application: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = code_of(client, application)

    def broken(*_: object) -> None:
        raise RuntimeError("a secret")

    with monkeypatch.context() as patched:
        patched.setattr("app.oauth.grants.issuing.issue_tokens", broken)
        response = exchange(client.app, application, code)
    assert_error(response, "server_error", 500)
    assert response.json["error_description"] == Description.FAULT
    assert exchange(client.app, application, code).status_code == 200  # nothing was claimed


def test_a_description_is_as_the_standard_allows() -> None:
    """RFC 6749, sections 4.1.2.1 and 5.2."""
    for description in Description:
        assert all(" " <= letter <= "~" and letter not in '"\\' for letter in description)
        assert description[-1] in ".~"

"""The security headers: on every route, every method and every refusal, and each of them once."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from flask import Flask
from werkzeug.routing import Rule
from werkzeug.test import TestResponse

from app.http.errors import ApiError
from tests.architecture.documents import error_classes
from tests.make import second_app
from tests.make.apps import bare_app

CSP = "Content-Security-Policy"
SCHEMES = {"http": "http://localhost", "https": "https://localhost"}
METHODS = ("GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS")
ALWAYS = {
    "X-Frame-Options": "DENY",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "strict-origin-when-cross-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(self), microphone=(), payment=(), usb=()",
}
ON_HTTPS = {"Strict-Transport-Security": "max-age=31536000"}
# The policy of https://www.w3.org/TR/CSP3/ as we want it: what is not named falls to 'none'.
POLICY = {
    "default-src": "'none'",
    "style-src": "'self'",
    "script-src": "'self'",
    "img-src": "'self' data:",
    "connect-src": "'self'",
    "font-src": "'self'",
    "base-uri": "'none'",
    "form-action": "'self'",
    "frame-ancestors": "'none'",
}
INLINE = re.compile(r"<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)|javascript:", re.IGNORECASE)
each_scheme = pytest.mark.parametrize("scheme", SCHEMES)


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory, valkey_url: str) -> Iterator[Flask]:
    folder = tmp_path_factory.mktemp("edge")
    with bare_app(folder, REDIS_URL=valkey_url, METRICS_TOKEN="the-metrics-token") as made:
        made.add_url_rule("/refuse/<name>", view_func=_refuse)
        yield made


def _refuse(name: str) -> None:
    if name == "Exception":
        raise ZeroDivisionError
    error = ApiError.__new__(error_classes()[name])
    ApiError.__init__(error)
    raise error


def _check(response: TestResponse, scheme: str) -> None:
    where = f"{response.request.method} {response.request.path} -> {response.status_code}"
    wanted = ALWAYS | (ON_HTTPS if scheme == "https" else {})
    if response.request.path.startswith("/ogc"):  # where the address may have had a key
        wanted |= {"Referrer-Policy": "no-referrer"}
    for name in ALWAYS | ON_HTTPS:
        values = [wanted[name]] if name in wanted else []
        assert response.headers.getlist(name) == values, f"{where}: {name}"
    (policy,) = response.headers.getlist("Content-Security-Policy")
    assert dict(part.split(" ", 1) for part in policy.split("; ")) == POLICY, where
    for name in ("Server", "X-Powered-By", "X-XSS-Protection"):
        assert name not in response.headers, where


def _addresses(rule: Rule) -> list[str]:
    """Addresses that fit a rule; a static file that there is, too."""
    found = [re.sub(r"<[^>]+>", "unknown", rule.rule)]
    if rule.endpoint.endswith("static"):
        found.append(rule.rule.replace("<path:filename>", "canopy.css"))
    return found


@pytest.mark.slow
@each_scheme
def test_every_route_has_them_with_every_method(bare: Flask, scheme: str) -> None:
    caller = bare.test_client()
    statuses, addresses = set(), {"/", "/nothing", "/v1/nothing", "/v1/", "/api/nothing"}
    for rule in bare.url_map.iter_rules():
        addresses.update(_addresses(rule))
    for address in addresses:
        for method in METHODS:
            with caller.open(address, method=method, base_url=SCHEMES[scheme]) as response:
                _check(response, scheme)
                statuses.add(response.status_code)
    assert len(addresses) > 20
    assert {200, 401, 404, 405} <= statuses


@each_scheme
@pytest.mark.provokes(500, 503)
def test_every_refusal_has_them(bare: Flask, scheme: str) -> None:
    statuses = set()
    for name in [*error_classes(), "Exception"]:
        response = bare.test_client().get(f"/refuse/{name}", base_url=SCHEMES[scheme])
        _check(response, scheme)
        statuses.add(response.status_code)
    assert statuses == {400, 401, 403, 404, 405, 409, 412, 413, 415, 422, 429, 500, 503}


def test_a_known_answer_has_them(bare: Flask) -> None:
    caller = bare.test_client()
    headers = {"If-None-Match": caller.get("/docs").headers["ETag"]}
    response = caller.get("/docs", headers=headers)
    assert response.status_code == 304
    _check(response, "http")


def test_https_is_what_the_proxy_says(bare: Flask) -> None:
    with second_app(bare, trusted_proxies=1) as made:
        response = made.test_client().get("/healthz", headers={"X-Forwarded-Proto": "https"})
        _check(response, "https")
    response = bare.test_client().get("/healthz", headers={"X-Forwarded-Proto": "https"})
    _check(response, "http")


def test_no_page_has_what_the_policy_forbids(bare: Flask) -> None:
    """Styles and scripts stand in files of their own."""
    pages = 0
    for rule in bare.url_map.iter_rules():
        if "GET" in (rule.methods or ()) and "<" not in rule.rule:
            response = bare.test_client().get(rule.rule)
            if response.mimetype == "text/html":
                assert INLINE.search(response.get_data(as_text=True)) is None, rule.rule
                pages += 1
    assert pages


def test_what_the_policy_forbids_is_seen() -> None:
    for page in [
        "<style>p {}</style>",
        '<p style="color: red">',
        '<a onclick="go()">',
        "<script>go()</script>",
        '<a href="javascript:go()">',
    ]:
        assert INLINE.search(page)
        assert not INLINE.search('<script src="/static/any/js/page.js" defer></script>')


@each_scheme
def test_only_a_page_that_leads_to_an_application_has_no_form_action(
    app: Flask, scheme: str
) -> None:
    """All other headers are the same."""
    client, base = app.test_client(), SCHEMES[scheme]
    asking = client.get("/login?next=/oauth/authorize?client_id=x", base_url=base)
    assert "form-action" not in asking.headers[CSP]
    kept = "base-uri 'none'; ", "base-uri 'none'; form-action 'self'; "
    asking.headers[CSP] = asking.headers[CSP].replace(*kept)
    for response in (asking, client.get("/login", base_url=base)):
        _check(response, scheme)

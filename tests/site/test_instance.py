"""What an instance says of itself: its name, whom to ask, legal pages, files that browsers seek."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

import pytest
from flask import Flask

from app.values import clock
from tests.make import Browser, new_email, second_app, sign_up

NAMED = {
    "instance_name": "Harz <Forests>",
    "support_email": "help@woods.example",
    "privacy_url": "https://woods.example/privacy?a=1&b=2",
    "imprint_url": "https://woods.example/imprint",
}
PAGES = ("/login", "/register", "/nothing", "/docs", "/forgot-password")


@pytest.fixture(scope="module")
def named(app: Flask) -> Iterator[Flask]:
    with second_app(app, **NAMED) as made:
        yield made


def html(app: Flask, path: str) -> str:
    response = app.test_client().get(path, headers={"Accept": "text/html"})
    return response.get_data(as_text=True)


def test_pages_have_the_name_of_the_instance(app: Flask, named: Flask) -> None:
    for path in PAGES:
        own, other = html(named, path), html(app, path)
        assert "· Harz &lt;Forests&gt;</title>" in own
        assert "Harz <Forests>" not in own
        assert "· Canopy</title>" in other


def test_the_foot_of_a_page_has_support_and_legal_pages(app: Flask, named: Flask) -> None:
    for path in PAGES:
        links = Browser(named).get(path).links
        assert "mailto:help@woods.example" in links
        assert NAMED["privacy_url"] in links
        assert NAMED["imprint_url"] in links
        assert "<footer" not in html(app, path)


def test_a_signed_in_page_has_them_too(named: Flask) -> None:
    browser = sign_up(named, new_email("foot"))
    assert NAMED["imprint_url"] in browser.get("/profile").links


def test_the_reference_says_sign_in_to_strangers(app: Flask) -> None:
    page = Browser(app).get("/docs")
    assert "/login" in page.links
    assert "/profile" not in page.links
    assert "Cookie" in page.response.headers["Vary"]
    browser = sign_up(app, new_email("reference"))
    page = browser.get("/docs")
    assert "/profile" in page.links
    assert "/login" not in page.links


@pytest.mark.slow
def test_the_reference_of_strangers_and_of_others_has_its_own_tag(app: Flask) -> None:
    stranger = Browser(app).get("/docs").response.headers["ETag"]
    headers = {"If-None-Match": stranger}
    assert Browser(app).get("/docs", headers=headers).status == 304
    browser = sign_up(app, new_email("tag"))
    assert browser.get("/docs", headers=headers).status == 200


def test_the_favicon(app: Flask) -> None:
    response = app.test_client().get("/favicon.ico")
    assert (response.status_code, response.mimetype) == (200, "image/x-icon")
    assert response.get_data().startswith(b"\x00\x00\x01\x00")  # the signature of an icon
    assert "max-age" in response.headers["Cache-Control"]


def test_search_engines_are_kept_to_what_is_public(app: Flask) -> None:
    response = app.test_client().get("/robots.txt")
    assert (response.status_code, response.mimetype) == (200, "text/plain")
    assert response.get_data(as_text=True).splitlines() == [
        "User-agent: *",
        "Allow: /$",
        "Allow: /docs$",
        "Allow: /docs/guides",
        "Allow: /llms.txt$",
        "Allow: /static/",
        "Disallow: /",
    ]


def test_security_txt_names_the_contact(named: Flask) -> None:
    """RFC 9116."""
    response = named.test_client().get("/.well-known/security.txt")
    assert response.headers["Content-Type"] == "text/plain; charset=utf-8"
    fields = dict(line.split(": ", 1) for line in response.get_data(as_text=True).splitlines())
    assert fields["Contact"] == "mailto:help@woods.example"
    assert fields["Canonical"] == "http://127.0.0.1:8000/.well-known/security.txt"
    expires = datetime.fromisoformat(fields["Expires"])
    assert timedelta(days=30) < expires - clock.now() < timedelta(days=365)


def test_without_a_contact_there_is_no_security_txt(app: Flask) -> None:
    response = app.test_client().get("/.well-known/security.txt")
    assert response.status_code == 404


def test_the_openapi_document_is_found_at_the_root(app: Flask) -> None:
    response = app.test_client().get("/openapi.json", follow_redirects=True)
    assert response.request.path == "/v1/openapi.json"
    assert response.json["openapi"].startswith("3.1")

"""Large forms: who may send them, and of which kind."""

from __future__ import annotations

import pytest
from flask import Flask
from werkzeug.formparser import FormDataParser

from app.policy.forms import FORM_BYTES
from tests.make import Browser, make_account
from tests.pages.support import MULTIPART, browser_of, several_parts

CHECK = "/projects/check"
FIELDS = "application/x-www-form-urlencoded"
MEGABYTE = 1024 * 1024


def test_a_large_form_of_a_stranger_is_not_parsed(
    app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser, parsed = Browser(app), list[object]()
    browser.get("/login")
    monkeypatch.setattr(FormDataParser, "parse", lambda *arguments: parsed.append(arguments))
    for content_type in (FIELDS, MULTIPART):
        for path in (CHECK, "/projects/new", "/imports/new"):
            page = browser.post_bytes(path, b"a&" * (4 * MEGABYTE), content_type)
            assert parsed == []
            assert page.status == 303
            assert page.response.headers["Location"].startswith("/login")


def test_a_script_of_a_stranger_is_refused(app: Flask) -> None:
    browser = Browser(app)
    browser.headers["X-Requested-With"] = "fetch"
    assert browser.post_bytes(CHECK, b"a&" * MEGABYTE, FIELDS).status == 401


def test_a_large_form_must_have_several_parts(app: Flask) -> None:
    browser = browser_of(make_account(app))
    token = browser.get("/profile").form("/logout").fields["csrf_token"]
    start = f"csrf_token={token}&geometry=".encode()
    small = FORM_BYTES - len(start)
    assert browser.post_bytes(CHECK, start + b"x" * small, FIELDS).status == 200
    assert browser.post_bytes(CHECK, start + b"x" * (small + 1), FIELDS).status == 415
    assert browser.post_bytes(CHECK, start + b"&a" * (MEGABYTE // 2), FIELDS).status == 415
    parts = several_parts(csrf_token=token, geometry=b"x" * MEGABYTE)
    assert browser.post_bytes(CHECK, parts, MULTIPART).status == 200

"""The requests that the pages show are sent to a demo instance, and answered as the pages say."""

from __future__ import annotations

import argparse
import base64
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from app.db import connections
from app.db.migrations import upgrade
from app.db.transactions import transaction
from app.demo.service import make_demo
from app.factory import create_app
from app.values.strict_json import loads
from config import ROOT, load_settings
from tests.architecture.documents import documents
from tests.docs.pages import blocks, commands
from tests.make import Client

PAGES = (
    *("README.md", "docs/api-conventions.md", "docs/boundaries.md", "docs/tour.md"),
    *(
        "docs/imports.md",
        "docs/import-formats.md",
        "docs/exports.md",
        "docs/ogc-api-features.md",
        "docs/gis-programs.md",
    ),
)
REFUSED = {"color=green": 400}  # part of an address, and the status that its page tells of
ADDRESS = "http://127.0.0.1:8000"
LEFT_OUT = "…"
DIFFERENT_EACH_TIME = {"id", "request_id", "timestamp", "created_at", "updated_at"}

_CURL = argparse.ArgumentParser(exit_on_error=False)
_CURL.add_argument("url")
_CURL.add_argument("-H", dest="headers", action="append", default=[])
_CURL.add_argument("-u", dest="user")
_CURL.add_argument("-X", dest="method")
_CURL.add_argument("-d", dest="data")
_CURL.add_argument("-F", dest="form", action="append", default=[])
_CURL.add_argument("-i", "-s", "-O", "-J", "--fail-with-body", action="store_true")


@pytest.fixture
def demo(tmp_path: Path, valkey_url: str) -> Iterator[Client]:
    """The caller with the key that ``bin/serve`` prints on an empty database."""
    environ = {"INSTANCE_PATH": str(tmp_path), "REDIS_URL": valkey_url, "LOG_LEVEL": "error"}
    app: Flask = create_app(load_settings(environ))
    with app.app_context(), transaction():
        upgrade()
        made = make_demo()
    yield Client(app, made.account_id, made.owner_id, made.api_key)
    with app.app_context():
        connections.close_all()


def send(demo: Client, words: list[str]) -> TestResponse:
    """Send what ``curl`` with these words would send."""
    sent = _CURL.parse_args(words)
    address = urlsplit(sent.url)
    assert f"{address.scheme}://{address.netloc}" == ADDRESS
    headers = dict(header.split(": ", 1) for header in sent.headers)
    assert headers.pop("Authorization", "Bearer $KEY") == "Bearer $KEY"
    if sent.user is not None:
        assert sent.user == "any:$KEY"
        pair = base64.b64encode(f"any:{demo.token}".encode()).decode()
        headers["Authorization"] = f"Basic {pair}"
    method = sent.method or ("POST" if sent.data or sent.form else "GET")
    path = f"{address.path}?{address.query}" if address.query else address.path
    if sent.form:
        fields = dict(each.split("=", 1) for each in sent.form)
        with ExitStack() as files:
            form = {name: _part(files, value) for name, value in fields.items()}
            return demo.send(method, path, headers=headers, data=form)
    return demo.send(method, path, headers=headers, data=sent.data)


def _part(files: ExitStack, value: str) -> Any:
    """A part of a form; ``@`` stands before the name of a file."""
    return files.enter_context((ROOT / value[1:]).open("rb")) if value.startswith("@") else value


def differences(shown: Any, answer: Any, place: str = "") -> Iterator[str]:
    """Where what a page shows is not in the answer; a page may leave out what it likes."""
    if isinstance(shown, dict):
        for name, value in shown.items():
            if name != LEFT_OUT and name not in (answer if isinstance(answer, dict) else ()):
                yield f"{place}.{name} is missing"
            elif name != LEFT_OUT and name not in DIFFERENT_EACH_TIME:
                yield from differences(value, answer[name], f"{place}.{name}")
    elif isinstance(shown, list):
        if len(shown) != len(answer):
            yield f"{place} has {len(answer)} items"
        for number, (mine, theirs) in enumerate(zip(shown, answer, strict=False)):
            yield from differences(mine, theirs, f"{place}[{number}]")
    elif shown != answer:
        yield f"{place} is {answer!r}"


def _shows(answer: TestResponse) -> bool:
    body = answer.get_json(silent=True) or {}
    is_file = "Content-Disposition" in answer.headers and len(answer.get_data()) > 1_000
    return bool(body.get("data") or body.get("features") or is_file)


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_requests_are_answered_as_shown(demo: Client, page: str) -> None:
    last: TestResponse | None = None
    for block in blocks(documents()[page]):
        if block.language == "json" and last is not None:
            assert list(differences(loads(block.text.encode()), last.json)) == []
        if block.language == "sh":
            for words in commands(f"```sh\n{block.text}\n```"):
                if words[0] == "curl":
                    last = send(demo, words[1:])
                    awaited = [code for part, code in REFUSED.items() if part in words[-1]]
                    assert last.status_code in (awaited or (200, 201, 202)), words
                    assert awaited or _shows(last), f"{words} shows nothing"


@pytest.mark.parametrize(
    ("shown", "answer"),
    [
        ({"name": "a"}, {"name": "b"}),
        ({"name": "a"}, {}),
        ({"data": [{"name": "a"}]}, {"data": [{"name": "a"}, {"name": "b"}]}),
        ({"meta": {"total": 1}}, {"meta": None}),
    ],
)
def test_a_difference_is_seen(shown: Any, answer: Any) -> None:
    assert len(list(differences(shown, answer))) == 1


def test_what_is_left_out_or_different_each_time_is_passed_over() -> None:
    shown = {"id": "proj_1", "meta": {LEFT_OUT: LEFT_OUT}, LEFT_OUT: LEFT_OUT}
    assert list(differences(shown, {"id": "proj_2", "meta": {"total": 1}, "name": "a"})) == []

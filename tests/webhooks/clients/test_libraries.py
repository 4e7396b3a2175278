"""The libraries that others wrote verify what the service sent: ``standardwebhooks`` in Python and
JavaScript, and ``@octokit/webhooks-methods`` for ``sha256=``."""

from __future__ import annotations

import base64
import sys
from collections.abc import Sequence
from pathlib import Path
from textwrap import indent
from typing import Any

from standardwebhooks import Webhook

from tests.architecture.documents import documents
from tests.captured import captured
from tests.docs.pages import blocks
from tests.make import Client, events, make_project
from tests.make.webhooks import make_webhook
from tests.outbound.receivers import Received, Receiver
from tests.webhooks.clients.running import run_script
from tests.webhooks.conftest import Deliver

CHOSEN = "a-few-words-of-mine"


def said_by_javascript(
    folder: Path, requests: Sequence[Received], secret: str, key: str | None = None
) -> list[dict[str, Any]]:
    """What the libraries in JavaScript say of each."""
    given = [
        {
            "secret": secret,
            "key": key or secret,
            "headers": request.headers,
            "body": request.body.decode(),
        }
        for request in requests
    ]
    said: list[dict[str, Any]] = run_script("verify.mjs", folder, given)
    return said


def test_libraries_verify_what_is_sent(
    customer: Client, receiver: Receiver, deliver: Deliver, tmp_path: Path
) -> None:
    secret = make_webhook(customer, url=receiver.url())["secret"]
    make_project(customer, name="Wald am Fluß — 森 \U0001f332")
    make_project(customer, description='"quoted" \\ and / more')
    deliver()
    ids = sorted(event["id"] for event in events(customer))
    verified = [Webhook(secret).verify(each.body, each.headers) for each in receiver.requests]
    assert sorted(event["id"] for event in verified) == ids
    said = said_by_javascript(tmp_path, receiver.requests, secret)
    assert sorted(each["standardwebhooks"] for each in said) == ids
    assert [each["octokit"] for each in said] == [True, True]


def test_libraries_accept_a_chosen_secret_in_base64(
    customer: Client, receiver: Receiver, deliver: Deliver, tmp_path: Path
) -> None:
    make_webhook(customer, url=receiver.url(), secret=CHOSEN)
    make_project(customer)
    deliver()
    key = base64.b64encode(CHOSEN.encode()).decode()
    (request,) = receiver.requests
    event = Webhook(key).verify(request.body, request.headers)
    (said,) = said_by_javascript(tmp_path, [request], CHOSEN, key)
    assert said == {"standardwebhooks": event["id"], "octokit": True}


def test_the_lines_of_the_page_for_the_library(
    customer: Client, receiver: Receiver, deliver: Deliver, tmp_path: Path
) -> None:
    """In Python, as it stands there, in a view of Flask."""
    page = documents()["docs/webhooks.md"]
    (lines,) = (b.text for b in blocks(page) if b.text.startswith("from standardwebhooks"))
    secret = make_webhook(customer, url=receiver.url())["secret"]
    make_project(customer)
    deliver()
    (sent,) = receiver.requests
    program = f"""
import sys
from flask import Flask, request
secret = {secret!r}
with Flask("x").test_request_context(method="POST", data={sent.body!r}, headers={sent.headers!r}):
{indent(lines, "    ")}
print(event["id"])
"""
    done = captured([sys.executable, "-c", program])
    assert done.stdout.strip() == sent.headers["webhook-id"], done.stderr

"""What ``docs/webhooks.md`` says: its requests are answered as it shows, its numbers, errors and
words are the policy's. Its programs are run in tests/webhooks/clients."""

from __future__ import annotations

import argparse
import dataclasses
import re
from datetime import timedelta
from string import Template
from typing import Any
from urllib.parse import urlsplit

import pytest
from jsonschema_rs import Draft202012Validator
from werkzeug.test import TestResponse

from app.events.catalogue import schema_of
from app.policy import deliveries as policy
from app.policy.deliveries import FailureReason
from app.policy.request_limits import EVENT_DAYS
from app.security.webhook_signing import delivery_headers, signature_headers
from app.values.strict_json import loads
from app.webhooks.deliveries.sender_pool import status_error
from app.webhooks.record import STATUSES
from app.webhooks.schemas import REASONS
from tests.architecture.documents import documents
from tests.docs.pages import blocks, commands
from tests.docs.test_oauth import fits, in_words, tables
from tests.make import Client, second_app
from tests.make.webhooks import make_log
from tests.outbound.conftest import LOOPBACK
from tests.webhooks.deliveries.makers import MOMENT

PAGE = documents()["docs/webhooks.md"]
ADDRESS = "http://127.0.0.1:8000"

_CURL = argparse.ArgumentParser(exit_on_error=False)
_CURL.add_argument("url")
_CURL.add_argument("-H", dest="headers", action="append", default=[])
_CURL.add_argument("-X", dest="method")
_CURL.add_argument("-d", dest="body")


def section(heading: str) -> str:
    """What stands below a heading."""
    found = PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    assert found, heading
    return found


def flat(text: str) -> str:
    return " ".join(text.split())


def send(client: Client, words: list[str], values: dict[str, str]) -> TestResponse:
    """Send what ``curl`` with these words would send, with values for its variables."""
    sent = _CURL.parse_args([Template(word).substitute(values) for word in words])
    address = urlsplit(sent.url)
    assert f"{address.scheme}://{address.netloc}" == ADDRESS
    headers = dict(header.split(": ", 1) for header in sent.headers)
    method = sent.method or ("GET" if sent.body is None else "POST")
    return client.send(method, address.path, headers=headers, data=sent.body)


def is_as_shown(shown: Any, answer: Any) -> bool:
    """``fits``, and numbers that differ each time stand for any."""
    if isinstance(shown, list):
        return len(shown) == len(answer) and all(map(is_as_shown, shown, answer))
    if isinstance(shown, dict):
        return shown.keys() == answer.keys() and all(
            name == "response_time_ms" or is_as_shown(value, answer[name])
            for name, value in shown.items()
        )
    return fits(shown, answer)


def test_requests_are_answered_as_shown(client: Client) -> None:
    """By a service that was started as the page says: it may reach this machine."""
    with second_app(client.app, webhook_allowed_networks=LOOPBACK) as app:
        _compare_with_page(dataclasses.replace(client, app=app))


def _compare_with_page(client: Client) -> None:
    values, seen, answer = {"KEY": str(client.token), "WEBHOOK": ""}, 0, None
    for block in blocks(PAGE):
        if block.language == "sh":
            for words in commands(f"```sh\n{block.text}\n```"):
                if words[0] == "curl":
                    answer = send(client, words[1:], values)
                    assert answer.status_code in (200, 201), answer.get_data(as_text=True)
        elif block.language == "json" and answer is not None:
            shown = loads(block.text.encode())
            if shown["data"]:
                values["WEBHOOK"] = _prepared(client, answer, values["WEBHOOK"])
            assert is_as_shown(shown, _as_delivered(answer.json)), (shown, answer.json)
            answer, seen = None, seen + 1
    assert seen == 4


def _prepared(client: Client, answer: TestResponse, webhook_id: str) -> str:
    """The webhook of the page; its test is received at once."""
    data = answer.json["data"]
    if isinstance(data, dict) and data.get("status") == "queued":
        received = {
            "cause": "test",
            "status": "success",
            "response_code": 204,
            "response_time_ms": 12,
            "error": None,
        }
        make_log(client, webhook_id, data["event_id"], **received)
    return data["id"] if isinstance(data, dict) and "secret" in data else webhook_id


def _as_delivered(answer: Any) -> Any:
    """The record of a webhook that was never tried says so, and that of the page was."""
    data = answer["data"]
    if isinstance(data, dict) and "former_secret_until" in data:
        answer["data"] = data | {"last_success_at": "2026-01-02T03:04:05.678Z"}
    return answer


def test_the_event_is_as_its_schema_says() -> None:
    (text,) = (b.text for b in blocks(section("What is sent")) if b.language == "json")
    event = loads(text.encode())
    schema = schema_of("project.created")
    del schema["properties"]["data"]  # the page leaves most of it out
    assert list(Draft202012Validator(schema).iter_errors(event)) == []


def test_the_headers_are_those_that_are_sent() -> None:
    shown = {row[0].strip("`") for row in tables(section("What is sent"))}
    named = {
        **delivery_headers("evt_1", "project.created", "dlv_1", MOMENT),
        **signature_headers(("secret",), "evt_1", MOMENT, b"{}"),
    }
    assert shown == {"id", "type", "created_at", "data", "account"} | set(named)
    agent = next(row[1] for row in tables(section("What is sent")) if "User-Agent" in row[0])
    assert agent == f"`{policy.USER_AGENT}`"


def test_retries_are_the_policys() -> None:
    delays = [f"{in_words(delay)} later" for delay in policy.RETRY_AFTER]
    rows = [row for row in tables(section("Retries")) if row[0].isdecimal()]
    assert rows == [[str(n), delay] for n, delay in enumerate(["at once", *delays], 1)]


def test_every_error_is_explained() -> None:
    rows = [row for row in tables(section("Retries")) if not row[0].isdecimal()]
    texts = [re.findall(r"`([^`]+)`", row[0])[0] for row in rows]
    answers = [status_error(status) for status in (500, 301, 410)]
    ours = "an internal error of the service"
    assert texts == [*answers, *(trouble.value for trouble in FailureReason), ours]
    assert all(row[1] for row in rows)


def test_health_is_told_whole() -> None:
    names = [row[0].strip("`") for row in tables(section("Health"))]
    assert names == [*STATUSES, *REASONS]
    warned = policy.DISABLED_AFTER - policy.WARNED_AFTER
    assert warned == timedelta(days=1)
    assert f"for {in_words(policy.DISABLED_AFTER)}. A day before" in flat(section("Health"))


def test_limits_are_the_policys() -> None:
    limits = {row[0]: row[1] for row in tables(section("Limits"))}
    low, high = policy.SECRET_LENGTHS
    shown = {
        "webhooks per account": str(policy.WEBHOOKS_PER_ACCOUNT),
        "time for an attempt": f"{policy.ATTEMPT_SECONDS:.0f} seconds in total",
        "response body that is read": f"{policy.RESPONSE_BYTES // 1024} KB",
        "attempts": f"{policy.ATTEMPTS}, ",
        "deliveries in flight at once": f"{policy.PER_WEBHOOK} to a webhook, {policy.PER_ACCOUNT} "
        "per account",
        "events and log entries": f"kept {EVENT_DAYS} days",
        "own secret": f"{low} to {high} characters",
        "description": f"{policy.DESCRIPTION_LENGTH} characters",
    }
    assert list(limits) == list(shown)
    for name, begins in shown.items():
        assert limits[name].startswith(begins), name
    assert policy.LOG_DAYS == EVENT_DAYS


@pytest.mark.parametrize(
    ("heading", "words"),
    [
        ("Signatures", "{} to {} printable".format(*policy.SECRET_LENGTHS)),
        ("Four rules for receivers", f"within {policy.ATTEMPT_SECONDS:.0f} seconds"),
        ("Four rules for receivers", f"that you have processed for {EVENT_DAYS} days"),
        ("Sending again", f"up to {policy.REPLAYED_PER_SECOND} a second"),
        ("Sending again", f"kept for {EVENT_DAYS} days"),
        (
            "A new secret",
            f"(0 to {policy.OVERLAP_HOURS_MAX}, {policy.OVERLAP_HOURS_DEFAULT} when left out)",
        ),
        ("A new secret", f"after {'a ' if policy.RETRY_AFTER[0].seconds == 60 else ''}minute"),
        ("Addresses", f"at most {policy.URL_LENGTH:,} characters"),
        ("What is promised", f"within {policy.SWEEP_SECONDS} seconds"),
        ("What is promised", f"after {in_words(policy.LEASE)}"),
        ("Retries", "headers of the response below 64 KB"),
    ],
)
def test_numbers_in_sentences_are_the_policys(heading: str, words: str) -> None:
    assert words in flat(section(heading))

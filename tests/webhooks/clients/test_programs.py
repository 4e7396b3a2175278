"""The receivers of ``docs/webhooks.md``, run as they stand there."""

from __future__ import annotations

import json
import ssl
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from app.security.webhook_signing import delivery_headers, new_secret, signature_headers
from app.values import clock
from tests.make import Client, events, make_project
from tests.make.webhooks import make_webhook
from tests.outbound.receivers import Authority
from tests.webhooks.clients.running import LANGUAGES, RunningReceiver, running_receiver
from tests.webhooks.conftest import Deliver

SECRETS = [  # each with the signature that is checked
    ("whsec_mYq0dN8fLr2Vt4xK6bG1hJ3sZ5cW7eQ9uAoTfYpD", "webhook-signature"),
    ("a-few-words-of-mine", "X-Service-Signature"),
]


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(("secret", "form"), SECRETS, ids=["made", "chosen"])
def test_a_receiver_accepts_deliveries(
    customer: Client,
    deliver: Deliver,
    certificate: Path,
    tmp_path: Path,
    language: str,
    secret: str,
    form: str,
) -> None:
    given = {"WEBHOOK_SECRET": secret, "SIGNATURE": form}
    with running_receiver(language, tmp_path, certificate, **given) as running:
        webhook = make_webhook(customer, url=running.url, secret=secret)
        project = make_project(customer, name="Wald am Fluß — 森 \U0001f332")
        customer.put(f"/v1/projects/{project['id']}", {"description": "Larches"})
        assert deliver() == 2
        (entry, _) = customer.get(f"/v1/webhooks/{webhook['id']}/logs").json["data"]
        customer.post(f"/v1/webhooks/{webhook['id']}/logs/{entry['id']}/redeliver")
        assert deliver() == 1
        customer.post(f"/v1/webhooks/{webhook['id']}/test")
        assert deliver() == 1
        printed = running.printed(3)
    assert sorted(line[:2] for line in printed) == sorted(
        [event["type"], event["id"]] for event in events(customer)
    )
    kept = [json.loads(line) for line in running.kept.read_text().splitlines()]
    assert sorted(kept, key=lambda event: event["id"]) == events(customer)


class Sender:
    """Posts to a running receiver what the service did not send."""

    def __init__(self, running: RunningReceiver, authority: Authority, secret: str) -> None:
        self.running, self.secret = running, secret
        self.context = ssl.create_default_context(cafile=str(authority.ca_path))

    def event(self, number: int, created_at: str) -> bytes:
        data = {"id": "proj_1"}
        body = {"id": f"evt_{number}", "type": "project.updated", "data": data}
        return json.dumps(body | {"created_at": created_at}).encode()

    def send(
        self,
        body: bytes,
        *,
        secret: str | None = None,
        seconds_ago: int = 0,
        sent: bytes | None = None,
        headers: dict[str, str] | None = None,
    ) -> int:
        """Sign a body and post it, or another one; the status of the answer."""
        moment = clock.now().timestamp() - seconds_ago
        at = clock.now().fromtimestamp(moment, clock.now().tzinfo)
        event_id = json.loads(body)["id"]
        signed = delivery_headers(event_id, "project.updated", "dlv_1", at)
        signed |= signature_headers((secret or self.secret,), event_id, at, body)
        request = urllib.request.Request(
            self.running.url, body if sent is None else sent, signed | (headers or {})
        )
        try:
            with urllib.request.urlopen(request, timeout=60, context=self.context) as answer:
                return int(answer.status)
        except urllib.error.HTTPError as error:
            with error:
                return error.code


@pytest.fixture(params=LANGUAGES)
def language(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_a_receiver_rejects_forged_requests(
    authority: Authority, certificate: Path, tmp_path: Path, language: str
) -> None:
    secret = new_secret()
    with running_receiver(language, tmp_path, certificate, WEBHOOK_SECRET=secret) as running:
        sender = Sender(running, authority, secret)
        body = sender.event(1, "2026-01-02T03:04:05.678Z")
        assert sender.send(body, secret=new_secret()) == 401
        assert sender.send(body, sent=body + b" ") == 401
        assert sender.send(body, seconds_ago=400) == 401
        assert sender.send(body, seconds_ago=-400) == 401
        for name in ("webhook-id", "webhook-timestamp", "webhook-signature"):
            for value in ("", "1", "v1,", "v1,é", "\u00b2", "9" * 30):
                assert sender.send(body, headers={name: value}) == 401, (name, value)
        assert not running.kept.exists()
        assert sender.send(body, seconds_ago=200) == 204
        assert running.printed(1) == [["project.updated", "evt_1"]]


@pytest.mark.slow
def test_a_receiver_that_checks_the_other_signature_rejects_them_too(
    authority: Authority, certificate: Path, tmp_path: Path, language: str
) -> None:
    secret, form = new_secret(), {"SIGNATURE": "X-Service-Signature"}
    with running_receiver(
        language, tmp_path, certificate, WEBHOOK_SECRET=secret, **form
    ) as running:
        sender = Sender(running, authority, secret)
        body = sender.event(1, "2026-01-02T03:04:05.678Z")
        assert sender.send(body, secret=new_secret()) == 401
        assert sender.send(body, sent=body + b" ") == 401
        for value in ("", "sha256=", "sha256=é", "x" * 71):
            assert sender.send(body, headers={"X-Service-Signature": value}) == 401
        assert sender.send(body) == 204


@pytest.mark.slow
def test_a_receiver_processes_an_event_once_and_recognizes_late_ones(
    authority: Authority, certificate: Path, tmp_path: Path, language: str
) -> None:
    secret = new_secret()
    given = {"WEBHOOK_SECRET": f"{secret} {new_secret()}"}  # while one follows the other
    with running_receiver(language, tmp_path, certificate, **given) as running:
        sender = Sender(running, authority, secret)
        newer = sender.event(2, "2026-01-02T03:04:05.679Z")
        older = sender.event(1, "2026-01-02T03:04:05.678Z")
        for body in (newer, newer, older, newer, older):
            assert sender.send(body) == 204
        assert running.printed(2) == [
            ["project.updated", "evt_2"],
            ["project.updated", "evt_1", "late"],
        ]
    with running_receiver(language, tmp_path, certificate, **given) as again:
        assert Sender(again, authority, secret).send(newer) == 204
    assert again.lines == []
    assert again.kept.read_bytes() == newer + b"\n" + older + b"\n"


@pytest.mark.slow
def test_a_receiver_finishes_after_a_restart_what_it_has_stored(
    certificate: Path, tmp_path: Path, language: str
) -> None:
    stored = [
        {
            "id": f"evt_{n}",
            "type": "project.updated",
            "data": {"id": "proj_1"},
            "created_at": str(n),
        }
        for n in (2, 1, 3)
    ]
    (tmp_path / "events.jsonl").write_text("".join(json.dumps(each) + "\n" for each in stored))
    (tmp_path / "done.txt").write_text("evt_2\n")
    with running_receiver(language, tmp_path, certificate, WEBHOOK_SECRET=new_secret()) as running:
        assert running.printed(2) == [
            ["project.updated", "evt_1", "late"],
            ["project.updated", "evt_3"],
        ]

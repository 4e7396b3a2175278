"""Mails about webhooks that fail: who gets them, and what they say."""

from __future__ import annotations

from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest

from app.db.transactions import transaction
from app.policy.deliveries import DISABLED_AFTER
from app.values import clock
from app.webhooks.deliveries.health import mail_admins
from tests.make import Client, mails_to, make_invited, make_member, text_of

WEBHOOK = "wh_01arz3ndektsv4rrffq69g5fav"
URL = "https://hooks.example.org/canopy?a=1&b=<2>"
FAILING, DISABLED = "webhook_failing", "webhook_disabled"


def _since() -> datetime:
    return clock.now() - timedelta(days=4, hours=1)


def _mail(client: Client, kind: str = FAILING, webhook_id: str = WEBHOOK, **values: Any) -> None:
    columns = {"url": URL, "failing_since": _since(), "disabled_reason": None} | values
    row = SimpleNamespace(id=webhook_id, account_id=client.account_id, **columns)
    with client.app.app_context(), transaction():
        mail_admins(kind, row)


def _words(message: Any) -> str:
    return " ".join(text_of(message).split())


def _spelled(moment: datetime) -> str:
    return f"{moment.day} {moment:%B %Y, %H:%M} UTC"


def test_admins_and_owners_who_have_joined_get_a_mail(client: Client, stranger: Client) -> None:
    admins = [make_member(client, role).email for role in ("admin", "owner")]
    others = [make_member(client, role).email for role in ("viewer", "editor")]
    others += [make_member(stranger, "admin").email, make_invited(client, "admin")["email"]]
    before = [len(mails_to(client.app, email)) for email in (*admins, *others)]
    _mail(client)
    after = [len(mails_to(client.app, email)) for email in (*admins, *others)]
    assert [now - then for now, then in zip(after, before, strict=True)] == [1, 1, 0, 0, 0, 0]


def test_each_gets_one_mail_a_day(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    email, since = make_member(client, "admin").email, _since()
    before = len(mails_to(client.app, email))
    for _ in range(2):
        _mail(client, failing_since=since)
        _mail(client, DISABLED, failing_since=since, disabled_reason="failing")
    assert len(mails_to(client.app, email)) - before == 2
    later = clock.now() + timedelta(days=1)
    monkeypatch.setattr(clock, "now", lambda: later)
    _mail(client, failing_since=since + timedelta(days=20))
    assert len(mails_to(client.app, email)) - before == 3


def test_a_failing_webhook(client: Client) -> None:
    email, since = make_member(client, "admin").email, clock.now() - timedelta(days=4)
    _mail(client, failing_since=since)
    message = mails_to(client.app, email)[-1]
    words = _words(message)
    assert message["Subject"].startswith("A webhook of ")
    for word in (URL, WEBHOOK, _spelled(since), "5 days after", f"/v1/webhooks/{WEBHOOK}/logs"):
        assert word in words
    assert "{" not in words
    assert _spelled(since + DISABLED_AFTER) in words
    long_ago = {"failing_since": since - timedelta(days=9), "url": f"{URL}{'a' * 2000}"}
    _mail(client, webhook_id=f"{WEBHOOK[:-1]}0", **long_ago)
    text = text_of(mails_to(client.app, email)[-1])
    in_a_day = [_spelled(clock.now() + timedelta(days=1, minutes=-n)) for n in (0, 1)]
    assert any(moment in " ".join(text.split()) for moment in in_a_day)
    assert max(map(len, text.splitlines())) < 320, "a long URL is shortened"


def test_a_disabled_webhook(client: Client) -> None:
    email, since = make_member(client, "admin").email, _since()
    _mail(client, DISABLED, failing_since=since, disabled_reason="failing")
    words = _words(mails_to(client.app, email)[-1])
    for word in (
        URL,
        WEBHOOK,
        _spelled(since),
        "After 5 days",
        'with {"enabled": true}',
        "/replay",
    ):
        assert word in words
    assert "410 Gone" not in words
    _mail(client, DISABLED, f"{WEBHOOK[:-1]}0", disabled_reason="gone")
    words = _words(mails_to(client.app, email)[-1])
    assert "responded with 410 Gone" in words
    assert "received nothing since" not in words

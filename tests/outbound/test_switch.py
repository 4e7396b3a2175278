"""Nothing leaves an instance that is switched off: every way out, at servers that write down what
they get."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import orjson
import pytest
from flask import Flask
from sqlalchemy import select

from app.db.extensions import db
from app.mail import jobs as mail_jobs
from app.mail.jobs import send_mails
from app.models import Mail
from app.policy.audit import INSTANCE
from app.webhooks.deliveries.due import DueScan
from app.webhooks.deliveries.jobs import deliver
from app.webhooks.replays.jobs import queue_replays
from tests.chat.conftest import ask
from tests.chat.server import ModelServer, says
from tests.cli.conftest import runner
from tests.mail.conftest import queue
from tests.mail.message_values import VALUES
from tests.mail.servers import Inbox, smtp_server
from tests.maintenance.conftest import MakeInstance
from tests.maintenance.conftest import _spare as _spare
from tests.maintenance.conftest import make_instance as make_instance
from tests.make import Client, deliveries, make_account, make_project, make_webhook, second_app
from tests.make.audit import audit_entries
from tests.make.webhooks import make_log, replays
from tests.outbound.receivers import Authority, Receiver


class World(NamedTuple):
    """A customer of an instance, and the servers that it calls."""

    customer: Client
    webhook: dict[str, Any]
    receiver: Receiver
    inbox: Inbox
    model: ModelServer

    @property
    def app(self) -> Flask:
        return self.customer.app

    @property
    def received(self) -> tuple[int, int, int]:
        """How much reached webhook, mailboxes and model."""
        return len(self.receiver.requests), len(self.inbox.mails), len(self.model.asked)

    def switch(self, *words: str) -> Any:
        """Run ``bin/canopy outbound``. Returns its JSON."""
        result = runner(self.app)("outbound", *words, "--json")
        assert result.exit_code == 0, result.output
        return orjson.loads(result.stdout)

    def fill(self) -> None:
        """Have everything wait that can: deliveries of each cause but tests, mails of each kind."""
        project = make_project(self.customer)
        event_id = deliveries(self.customer)[0]["event_id"]
        log_id = make_log(self.customer, self.webhook["id"], event_id)
        path = f"/v1/webhooks/{self.webhook['id']}"
        assert self.customer.post(f"{path}/logs/{log_id}/redeliver").status_code == 200
        since = project["created_at"]
        assert self.customer.post(f"{path}/replay", json={"since": since}).status_code == 200
        for kind, values in VALUES.items():
            queue(self.app, f"{kind}@example.org", kind, **values)

    def test_event(self) -> Any:
        return self.customer.post(f"/v1/webhooks/{self.webhook['id']}/test")


def work(app: Flask) -> None:
    """Run the jobs that send."""
    with app.app_context():
        queue_replays()
        deliver()
        send_mails()


@pytest.fixture
def world(
    make_instance: MakeInstance,
    authority: Authority,
    certificate: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[World]:
    monkeypatch.setattr(mail_jobs, "resolve_mail", lambda kind, recipient, values: (kind, values))
    with ExitStack() as stack:
        inbox, port = stack.enter_context(smtp_server())
        receiver = stack.enter_context(Receiver(certificate))
        model = ModelServer()
        stack.callback(model.close)
        model.plays(says("Yes."))
        app = make_instance(
            "sqlite",
            CHAT_BASE_URL=model.url,
            CHAT_MODEL="forest-1",
            MAIL_URL=f"smtp://127.0.0.1:{port}",
            WEBHOOK_ALLOWED_NETWORKS="127.0.0.0/8",
            WEBHOOK_CA_BUNDLE=str(authority.ca_path),
        )
        customer = make_account(app)
        webhook = make_webhook(customer, url=receiver.url(), events=["project.created"])
        yield World(customer, webhook, receiver, inbox, model)


@pytest.mark.provokes(503)
def test_nothing_passes_any_door_until_it_is_on(world: World) -> None:
    world.switch("off")
    world.fill()
    refused = world.test_event()
    assert (refused.status_code, refused.json["error"]["details"][0]["code"]) == (
        409,
        "outbound_off",
    )
    answer = ask(world.customer)
    assert answer.status_code == 503
    assert "sends nothing out" in answer.json["error"]["message"]
    assert runner(world.app)("mail", "test", "jo@example.org").exit_code == 1
    work(world.app)
    assert world.received == (0, 0, 0)
    assert {row["attempts"] for row in deliveries(world.customer)} == {0}
    held = world.switch()
    assert (held["outbound"], held["held_deliveries"], held["held_emails"]) == (
        "off",
        3,
        len(VALUES),
    )
    with second_app(world.app, outbound="off") as also_off:  # either says off
        now_on = world.switch("on")
        assert (now_on["outbound"], now_on["released_deliveries"]) == ("on", 3)
        work(also_off)
        assert world.received == (0, 0, 0)
        assert make_account(also_off).get("/v1/account").status_code == 200
        assert world.test_event().status_code == 200
        assert ask(world.customer).status_code == 200
    work(world.app)
    assert world.received == (4, len(VALUES), 1)
    assert {row["state"] for row in deliveries(world.customer)} == {"succeeded"}


def test_what_is_discarded_is_never_sent(world: World) -> None:
    world.switch("off")
    world.fill()
    done = world.switch("on", "--discard")
    assert (done["discarded_deliveries"], done["discarded_emails"]) == (2, len(VALUES))
    assert replays(world.customer) == []
    entries = audit_entries(world.customer, INSTANCE)
    assert [entry["action"] for entry in entries] == [
        "instance.outbound_off",
        "instance.outbound_on",
    ]
    assert entries[1]["changes"]["discarded_deliveries"] == {"from": None, "to": 2}
    work(world.app)
    assert world.received == (0, 0, 0)
    assert {row["state"] for row in deliveries(world.customer)} == {"canceled"}
    with world.app.app_context():
        rows = db.session.scalars(select(Mail)).all()
        assert {(row.sealed, row.due_at, row.sent_at, row.error) for row in rows} == {
            (None, None, None, "the operator discarded it")
        }
    make_project(world.customer)
    work(world.app)
    assert world.received == (1, 0, 0)
    assert world.switch("on", "--discard")["discarded_deliveries"] == 0  # it was on


def test_a_restore_between_two_steps_of_a_job_sends_nothing(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The worker may run while a test copy is restored: what it then finds must not be sent."""
    world.fill()
    find, lease = DueScan.find, mail_jobs.lease_mail

    def find_and_restore(scan: DueScan, *moment: Any) -> Any:
        found = find(scan, *moment)
        world.switch("off")
        return found

    def restore_and_lease() -> Any:
        world.switch("off")
        return lease()

    monkeypatch.setattr(DueScan, "find", find_and_restore)
    monkeypatch.setattr(mail_jobs, "lease_mail", restore_and_lease)
    for job in (deliver, send_mails):
        world.switch("on")
        with world.app.app_context():
            job()
    assert world.received == (0, 0, 0)
    assert {(row["claim"], row["attempts"]) for row in deliveries(world.customer)} == {(None, 0)}
    with world.app.app_context():
        assert set(db.session.scalars(select(Mail.attempts))) == {0}

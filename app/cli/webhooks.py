"""``bin/canopy webhook``: webhooks, and a receiver for development."""

from __future__ import annotations

import shlex
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import click
import orjson

from app.account.lookup import find_account
from app.auth.operator import operator_of
from app.auth.principal import Principal
from app.auth.tenant import account_of
from app.cli.certificates import Certificates, ensure_certificates
from app.cli.context import database_command, in_database
from app.cli.group import Commands
from app.cli.output import (
    CommandError,
    account_option,
    add_examples,
    print_text,
    show_record,
    show_records,
)
from app.cli.webhook_receiver import ReceivedDelivery, Receiver
from app.db import queries
from app.db.extensions import db
from app.db.transactions import transaction
from app.http.errors import NotFound
from app.models import Webhook
from app.policy.deliveries import SWEEP_SECONDS, FailureReason
from app.policy.events import ALL_EVENTS, EVENTS, TEST_EVENT
from app.settings.current import current_settings
from app.values import clock
from app.values.ids import is_id
from app.values.strict_json import loads
from app.webhooks.logs.filters import LogQuery
from app.webhooks.logs.listing import list_delivery_logs
from app.webhooks.service import (
    create_webhook,
    delete_webhook,
    list_webhooks,
    rotate_secret,
    send_test,
)
from config import Settings

_PORT: Final = 8443
_DESCRIPTION: Final = "bin/canopy webhook listen"
TEST_SECONDS: Final = SWEEP_SECONDS + 10  # in which the service should send a test
_COLUMNS: Final = ("id", "url", "events", "status", "consecutive_failures", "last_success_at")
# Failures that other settings of the service fix.
_SETTINGS_ERRORS: Final = (FailureReason.NOT_ALLOWED, FailureReason.UNTRUSTED)


webhook = Commands("webhook", help="List and test webhooks, or receive events on this machine.")


@webhook.command("listen")
@account_option
@click.option(
    "--events",
    multiple=True,
    type=click.Choice([*EVENTS, ALL_EVENTS]),
    metavar="TYPE",
    help="Type of event; can be repeated. By default, all but the audit log's.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=_PORT,
    show_default=True,
    help="Port on 127.0.0.1; 0 picks a free one.",
)
@click.option(
    "--status",
    type=click.IntRange(200, 599),
    default=200,
    show_default=True,
    help="Status of every response, to see how failures are handled.",
)
@click.option("--bodies", is_flag=True, help="Also print the JSON of each event.")
@add_examples(
    "webhook listen --account green-woods",
    "webhook listen --account green-woods --events project.created --events project.updated "
    "--bodies",
    "webhook listen --account green-woods --status 503",
)
@in_database
def listen_for_events_command(
    account: str, events: Sequence[str], port: int, status: int, bodies: bool
) -> None:
    """Receive events on this machine and print a line for each.

    For development. The command listens for HTTPS on 127.0.0.1, creates a webhook in the account,
    checks both signatures of each delivery, and deletes the webhook when you press Ctrl-C. Its
    certificate is created once and kept in the instance folder. If the service is not allowed to
    reach 127.0.0.1, the command prints how to start a service that is. Deliveries are printed as
    they arrive, so there is no --json.
    """
    row = find_account(account)
    principal = operator_of(row)
    certificates = _receiver_certificates(current_settings())
    with _running_receiver(certificates, port, status, _Printer(status, bodies=bodies)) as receiver:
        stop = _stop_on_signals()
        with _registered_webhook(principal, receiver, events or (ALL_EVENTS,)) as webhook_id:
            print_text(
                f"{receiver.url} is the webhook {webhook_id} of {row.name}. A test event is on "
                "its way. Press Ctrl-C to stop and to delete the webhook.",
                err=True,
            )
            _watch_test(principal, webhook_id, certificates, stop)
            stop.wait()


@webhook.command("list")
@account_option
@database_command("webhook list --account green-woods")
def list_all(account: str, as_json: bool) -> None:
    """List an account's webhooks, oldest first, with their health."""
    row = find_account(account)
    none = f"{row.name} has no webhooks."
    show_records(list_webhooks(row.id), _COLUMNS, as_json=as_json, none=none)


@webhook.command("rotate-secret")
@click.argument("webhook_id", metavar="WEBHOOK_ID")
@database_command("webhook rotate-secret wh_01k9zqf0v7c3s6m1e8y2r5t9wd")
def rotate_secret_(webhook_id: str, as_json: bool) -> None:
    """Give a webhook a new secret and print it. Its receiver needs it at once.

    Also where SECRET_KEY is lost, and the former secret cannot be read.
    """
    principal = _operator_for(webhook_id)
    with transaction():
        rotated = rotate_secret(principal, webhook_id, overlap_hours=0)
    record = {"id": webhook_id, "url": rotated.record["url"], "secret": rotated.secret}
    show_record(record, as_json=as_json)


@webhook.command("test")
@click.argument("webhook_id", metavar="WEBHOOK_ID")
@database_command("webhook test wh_01k9zqf0v7c3s6m1e8y2r5t9wd")
def send_test_event_command(webhook_id: str, as_json: bool) -> None:
    """Send a test event to a webhook, disabled or not."""
    principal = _operator_for(webhook_id)
    with transaction():
        event_id = send_test(principal, webhook_id)
    queued = {"event_id": event_id, "event_type": TEST_EVENT, "status": "queued"}
    show_record(queued, as_json=as_json)


def _operator_for(webhook_id: str) -> Principal:
    """Return the operator in the account of a webhook. Raises CommandError."""
    account_id = account_of(Webhook, webhook_id) if is_id("webhook", webhook_id) else None
    if account_id is None:
        raise CommandError(f"There is no webhook with the id {webhook_id!r}.")
    return operator_of(find_account(account_id))


class _Printer:
    """Prints deliveries."""

    def __init__(self, status: int, *, bodies: bool) -> None:
        self._status = status
        self._bodies = bodies
        self._seen: set[str] = set()

    def __call__(self, delivery: ReceivedDelivery) -> None:
        signed = f"WRONG: {', '.join(delivery.wrong)}" if delivery.wrong else "signatures valid"
        again = ", seen before" if delivery.event_id in self._seen else ""
        moment = clock.format_time(clock.now())
        line = (
            f"{moment}  {delivery.event_type:<23}  {delivery.event_id}  {delivery.delivery_id}  "
            f"{signed}{again}, answered {self._status}"
        )
        print_text(line)
        if self._bodies:
            print_text(_indented_body(delivery.body))
        if not delivery.wrong:
            self._seen.add(delivery.event_id)


def _indented_body(body: bytes) -> str:
    """Return a body as indented JSON, or else its bytes."""
    try:
        return orjson.dumps(loads(body), option=orjson.OPT_INDENT_2).decode()
    except ValueError:
        return repr(body[:1000])


def _receiver_certificates(settings: Settings) -> Certificates:
    try:
        return ensure_certificates(settings.instance_path)
    except OSError as error:
        raise CommandError(f"The certificate cannot be created ({error}).") from None


@contextmanager
def _running_receiver(
    certificates: Certificates, port: int, status: int, printer: _Printer
) -> Iterator[Receiver]:
    try:
        receiver = Receiver(certificates.receiver, port, status, printer)
    except OSError as error:
        raise CommandError(
            f"Port {port} cannot be used ({error.strerror}); choose another."
        ) from None
    with receiver:
        yield receiver


def _stop_on_signals() -> threading.Event:
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:  # as nohup sets SIGHUP
            signal.signal(number, lambda *_: stop.set())
    return stop


@contextmanager
def _registered_webhook(
    principal: Principal, receiver: Receiver, events: Sequence[str]
) -> Iterator[str]:
    """Create a webhook with the receiver's URL, and delete it at the end. Yields its id."""
    # This process has the port, so other webhooks with this URL are of listeners that were killed.
    for record in list_webhooks(principal.account_id):
        if (record["url"], record["description"]) == (receiver.url, _DESCRIPTION):
            _remove_webhook(principal, record["id"])
    types = list(dict.fromkeys(events))
    with transaction():
        new = create_webhook(principal, url=receiver.url, events=types, description=_DESCRIPTION)
        receiver.secret = new.secret  # before the commit, as events may come at once
    webhook_id: str = new.record["id"]
    try:
        yield webhook_id
    finally:
        _remove_webhook(principal, webhook_id)


def _remove_webhook(principal: Principal, webhook_id: str) -> None:
    db.session.rollback()
    with suppress(NotFound), transaction():  # already deleted
        delete_webhook(principal, webhook_id)


def _watch_test(
    principal: Principal, webhook_id: str, certificates: Certificates, stop: threading.Event
) -> None:
    """Send a test, and explain it if it is not delivered."""
    with transaction():
        send_test(principal, webhook_id)
    deadline = time.monotonic() + TEST_SECONDS
    while not stop.wait(0.5):
        attempts, _ = list_delivery_logs(
            principal.account_id, webhook_id, LogQuery(event_type=TEST_EVENT)
        )
        queries.release_connection()
        if attempts or time.monotonic() > deadline:
            _explain_failure(
                attempts[0].get("error") if attempts else None, bool(attempts), certificates
            )
            return


def _explain_failure(error: str | None, was_tried: bool, certificates: Certificates) -> None:
    if was_tried and (error is None or error.startswith("answered")):
        return
    reason = error or f"there was no attempt within {TEST_SECONDS} seconds; is it running?"
    print_text(f"The service did not deliver the test: {reason}", err=True)
    if not was_tried or error in _SETTINGS_ERRORS:
        print_text(
            "Leave this running, and start the service so that it may reach this machine:\n\n"
            f"  {_start_command(certificates.authority)}\n",
            err=True,
        )


def _start_command(authority: Path) -> str:
    """Return the command that starts a service that can reach the receiver."""
    bundle = shlex.quote(str(authority))
    return f"WEBHOOK_ALLOWED_NETWORKS=127.0.0.0/8 WEBHOOK_CA_BUNDLE={bundle} bin/serve"

"""Clients that read, and write with keys, while something fails; and whether what they were told is
true afterwards: in the database, at the receivers, and in the log of the webhooks."""

from __future__ import annotations

import http.client
import itertools
import json
import select
import threading
import time
import uuid
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from typing import Any, NamedTuple

from flask import Flask

from app.auth.tenant import rows_of
from app.db.connections import close_all
from app.db.extensions import db
from app.models import Delivery, DeliveryLog, Event, Project
from app.security.webhook_signing import signature_headers
from app.values.ids import time_of
from tests.instances.customers import Customer, Instance
from tests.make import Client
from trials.report import Report, described

LOST = 0  # instead of a status: the connection was closed before the response
TIMEOUT = 30  # seconds that a client waits
PAUSE = 0.05  # seconds until a failed request is repeated; clients of the service wait longer
PROVED = 5  # every so many writes, one that succeeded is repeated
SETTLED = 120  # seconds after the last write until all is delivered
SLACK = 0.1  # seconds; moments are cut to milliseconds, and the worker follows PostgreSQL's clock

Connect = Callable[[], http.client.HTTPConnection]


class Response(NamedTuple):
    """What a client got, and when, in seconds since the epoch. Without a response, the body is the
    error that the client met."""

    began: float
    ended: float
    status: int
    headers: Mapping[str, str] = {}  # names in lower case
    body: bytes = b""

    @property
    def seconds(self) -> float:
        return self.ended - self.began

    def __str__(self) -> str:
        return f"{self.status} after {self.seconds:.2f} s: {self.body[:200]!r}"


def refused(responses: Iterable[Response]) -> list[Response]:
    """Those with 503."""
    return [response for response in responses if response.status == 503]


def during(responses: Iterable[Response], since: float, until: float) -> list[Response]:
    """Those that began in a time, in seconds since the epoch."""
    return [response for response in responses if since <= response.began < until]


def counted(responses: Sequence[Response]) -> str:
    """How many had which status, and how long they took."""
    statuses = Counter(response.status for response in responses)
    shown = [f"{number:,} × {status or 'none'}" for status, number in sorted(statuses.items())]
    return f"{', '.join(shown)}; {described([response.seconds for response in responses])}"


def local(port: int) -> Connect:
    """Connections to a port of this machine."""
    return lambda: http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT)


class Caller:
    """Sends one request after the other on a connection that is kept, until its end."""

    def __init__(self, connect: Connect, client: Client, rate: float) -> None:
        self.responses: list[Response] = []
        self._client, self._pause, self._connection = client, 1 / rate, connect()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def ask_to_end(self) -> None:
        self._over.set()

    def end(self) -> None:
        self._over.set()
        self._thread.join()
        self._connection.close()

    def _act(self) -> None:
        raise NotImplementedError

    def _run(self) -> None:
        due = time.monotonic()
        while not self._over.wait(max(0.0, due - time.monotonic())):
            due = max(due + self._pause, time.monotonic() - 1)
            self._act()

    def _send(self, method: str, path: str, body: Any = None, **headers: str) -> Response:
        socket = self._connection.sock
        if socket and select.select([socket], [], [], 0)[0]:
            self._connection.close()  # the server has closed it, as it may; it opens again
        began = time.time()
        every = {**self._client.authorization, "Content-Type": "application/json", **headers}
        try:
            self._connection.request(method, path, body and json.dumps(body), every)
            answer = self._connection.getresponse()
            content, status = answer.read(), answer.status
            found = {name.lower(): value for name, value in answer.getheaders()}
        except (OSError, http.client.HTTPException) as error:
            self._connection.close()
            content, status, found = repr(error).encode(), LOST, {}
        self.responses.append(Response(began, time.time(), status, found, content))
        return self.responses[-1]


class Reader(Caller):
    """Reads at some paths in turn. ``headers``: of each request."""

    def __init__(
        self, connect: Connect, client: Client, rate: float, *paths: str, **headers: str
    ) -> None:
        self._paths, self._headers = itertools.cycle(paths), headers
        super().__init__(connect, client, rate)

    def _act(self) -> None:
        self._send("GET", next(self._paths), **self._headers)


class Writer(Caller):
    """Creates projects, each with an Idempotency-Key, and repeats a request that had no response
    or a 409 or 503 until it has another one. It also repeats some that succeeded.

    ``repeats``: False: each request is sent once, without a key.
    """

    def __init__(
        self, connect: Connect, client: Client, rate: float, *, repeats: bool = True
    ) -> None:
        self.acknowledged: dict[str, str] = {}  # ids of projects, by their names
        self.unknown: set[str] = set()  # names of those without a good response until the end
        self.repeated = 0  # requests with the key of one before
        self.was_done = 0  # of these, after a lost response: what the lost one had carried out
        self.wrong: list[str] = []
        self._repeats = repeats
        super().__init__(connect, client, rate)

    def _act(self) -> None:
        name, key = f"Forest {len(self.acknowledged) + len(self.unknown) + 1}", uuid.uuid4().hex
        while (made := self._post(name, key)).status in {LOST, 409, 503} and self._repeats:
            self.repeated += 1
            if self._over.wait(PAUSE):
                break
        if made.status != 201:
            self.unknown.add(name)
            return
        self.was_done += "idempotency-replayed" in made.headers
        self.acknowledged[name] = _id(made)
        if self._repeats and len(self.acknowledged) % PROVED == 0:
            self._prove(name, key, _id(made))

    def _post(self, name: str, key: str) -> Response:
        headers = {"Idempotency-Key": key} if self._repeats else {}
        return self._send("POST", "/v1/projects", {"name": name}, **headers)

    def _prove(self, name: str, key: str, expected: str) -> None:
        """A repeat changes nothing, and gets the same response, also from another process."""
        self._connection.close()
        self.repeated += 1
        again = self._post(name, key)
        if again.status == 201 and (
            _id(again) != expected or "idempotency-replayed" not in again.headers
        ):
            self.wrong.append(f"{name} is {expected}, and {_id(again)} for a repeat")


def _id(made: Response) -> str:
    return str(json.loads(made.body)["data"]["id"])


class Traffic:
    """Writers and readers in accounts of their own, each with a webhook, from now until ``end``."""

    def __init__(self, instance: Instance, *, accounts: int = 2, rate: float = 10) -> None:
        self.app = instance.app
        self.customers = [instance.customer() for _ in range(accounts)]
        clients, connect = [each.client for each in self.customers], local(instance.port)
        paths = ("/v1/projects?per_page=5", "/v1/account", "/v1/me")
        self.writers = [Writer(connect, client, rate) for client in clients]
        self.readers = [Reader(connect, client, rate, *paths) for client in clients]

    @property
    def callers(self) -> list[Caller]:
        return [*self.writers, *self.readers]

    @property
    def written(self) -> list[Response]:
        return _in_order(self.writers)

    @property
    def read(self) -> list[Response]:
        return _in_order(self.readers)

    @property
    def all(self) -> list[Response]:
        return self.written + self.read

    def end(self) -> None:
        """Let all end. What is not settled is not repeated anymore."""
        for caller in self.callers:
            caller.ask_to_end()
        for caller in self.callers:
            caller.end()

    def check(self, *, writes: Collection[int], reads: Collection[int]) -> Report:
        """What they were told, and whether it is so.

        Args:
            writes: the statuses that a write may have.
            reads: the statuses that a read may have.
        """
        report = Report()
        report.lines += [f"  writes  {counted(self.written)}", f"  reads   {counted(self.read)}"]
        repeated = sum(writer.repeated for writer in self.writers)
        done = sum(writer.was_done for writer in self.writers)
        report.lines.append(f"  {repeated:,} repeats; {done:,} found the first carried out")
        self.delays = reconcile(report, self.app, self.customers, self.writers)
        strange = [each for each in self.written if each.status not in writes]
        strange += [each for each in self.read if each.status not in reads]
        report.check_none(strange, "responses are not as documented")
        silent = [each for each in refused(self.all) if "retry-after" not in each.headers]
        report.check_none(silent, "responses with 503 have no Retry-After")
        return report


@contextmanager
def traffic(instance: Instance, *, accounts: int = 2, rate: float = 10) -> Iterator[Traffic]:
    """Clients at work during the block, once all have had a good response."""
    made = Traffic(instance, accounts=accounts, rate=rate)
    try:
        wait_for_responses(made.callers, lambda response: 200 <= response.status < 300)
        yield made
    finally:
        made.end()


def _in_order(callers: Iterable[Caller]) -> list[Response]:
    every = itertools.chain.from_iterable(caller.responses for caller in callers)
    return sorted(every, key=lambda response: response.began)


def wait_for_responses(callers: Sequence[Caller], wanted: Callable[[Response], bool]) -> None:
    """Until each caller has got a wanted response that it asked for from now on."""
    since, deadline = time.time(), time.monotonic() + TIMEOUT
    for caller in callers:
        while not any(wanted(made) for made in caller.responses if made.began >= since):
            assert time.monotonic() < deadline, "nothing is answered"
            time.sleep(0.02)


def reconcile(
    report: Report, app: Flask, customers: Sequence[Customer], writers: Sequence[Writer]
) -> list[float]:
    """Check that all is there once and was delivered, that nothing else is, and that the log is
    true. Returns the seconds from each event to its delivery."""
    with app.app_context():
        close_all()  # the database may have been another process meanwhile
    is_settled = _wait_until_settled(app, customers)
    report.check(is_settled, f"something was still to be delivered after {SETTLED} s")
    delays: list[float] = []
    written = events = requests = entries = 0
    for customer, writer in zip(customers, writers, strict=True):
        rows = {model: _rows(app, customer, model) for model in (Project, Event, Delivery)}
        logs = _rows(app, customer, DeliveryLog)
        report.wrong += writer.wrong
        _check_projects(report, writer, rows[Project], rows[Event])
        delays += _check_arrivals(report, customer, rows[Event])
        _check_log(report, customer, rows[Delivery], logs)
        written, events = written + len(writer.acknowledged), events + len(rows[Event])
        requests, entries = requests + len(customer.inbox.arrivals), entries + len(logs)
    report.lines += [
        f"  {written:,} writes acknowledged, {events:,} events, {requests:,} requests, "
        f"{requests - len(delays):,} of them repeated; {entries:,} log entries",
        f"  to delivery  {described(delays, 'events')}",
    ]
    return delays


def _wait_until_settled(app: Flask, customers: Iterable[Customer]) -> bool:
    """Wait until nothing is to be delivered anymore. Returns whether it is so."""
    deadline = time.monotonic() + SETTLED
    while time.monotonic() < deadline:
        if not any(row.due_at for customer in customers for row in _rows(app, customer, Delivery)):
            return True
        time.sleep(0.25)
    return False


def _rows(app: Flask, customer: Customer, model: Any) -> list[Any]:
    """The rows of a customer's account; of events those that the webhook gets."""
    own = rows_of(customer.client.account_id, model)
    if model is Event:
        own = own.where(Event.type == "project.created")
    with app.app_context():
        found = list(db.session.scalars(own))
        db.session.expunge_all()  # before the end, with which they would expire
        db.session.rollback()
        return found


def _check_projects(
    report: Report, writer: Writer, projects: Sequence[Any], events: Sequence[Any]
) -> None:
    """Each project that was acknowledged is there once, with one event, and no other is."""
    names = Counter(row.name for row in projects)
    ids = {(row.name, row.id) for row in projects}
    created = Counter(event.subject_id for event in events)
    report.check_none([name for name in names if names[name] > 1], "projects are there twice")
    lost = writer.acknowledged.items() - ids
    report.check_none(lost, "projects were acknowledged, and are not there")
    more = names.keys() - writer.acknowledged - writer.unknown
    report.check_none(more, "projects are there, and were not asked for")
    wrong = [row.id for row in projects if created[row.id] != 1]
    report.check_none(wrong, "projects have no event, or several")


def _check_arrivals(report: Report, customer: Customer, rows: Sequence[Any]) -> list[float]:
    """All events came, each as it is in the database, and nothing else did. Returns the seconds
    that each took."""
    events = {row.id: row for row in rows}
    first: dict[str, float] = {}
    strange, changed = [], []
    for at, request in sorted(customer.inbox.arrivals, key=lambda arrival: arrival.at):
        event_id = request.headers["webhook-id"]
        if (event := events.get(event_id)) is None:
            strange.append(event_id)
            continue
        first.setdefault(event_id, at)
        moment = datetime.fromtimestamp(int(request.headers["webhook-timestamp"])).astimezone()
        signed = signature_headers([customer.webhook["secret"]], event_id, moment, request.body)
        if request.body != event.body.encode() or any(
            request.headers[name.lower()] != value for name, value in signed.items()
        ):
            changed.append(event_id)
    report.check_none(events.keys() - first.keys(), "events never came")
    report.check_none(strange, "requests were about events that are not in the database")
    report.check_none(changed, "requests had other bytes than the event, or a wrong signature")
    return [max(0.0, at - time_of(key).timestamp()) for key, at in first.items()]


def _check_log(
    report: Report, customer: Customer, deliveries: Sequence[Any], logs: Sequence[Any]
) -> None:
    """Each entry of a success tells of a request that came while the attempt lasted, and each
    delivery has as many entries as attempts."""
    came: defaultdict[str, list[float]] = defaultdict(list)
    for arrival in sorted(customer.inbox.arrivals, key=lambda arrival: arrival.at):
        came[arrival.delivery_id].append(arrival.at)
    attempts: defaultdict[str, list[int]] = defaultdict(list)
    untrue = []
    for row in sorted(logs, key=lambda row: row.sent_at):
        attempts[row.delivery_id].append(row.attempt)
        if row.status == "success" and not _take(came[row.delivery_id], row):
            untrue.append(row.id)
    report.check_none(untrue, "log entries tell of a request that did not come then")
    wrong = [row.id for row in deliveries if attempts[row.id] != [*range(1, row.attempts + 1)]]
    report.check_none(wrong, "deliveries have other entries than attempts")
    unknown = attempts.keys() - {row.id for row in deliveries}
    report.check_none(unknown, "deliveries have entries and do not exist")


def _take(left: list[float], row: Any) -> bool:
    """Take the request that an entry tells of."""
    begin, end = row.sent_at.timestamp() - SLACK, row.delivered_at.timestamp() + SLACK
    with suppress(StopIteration):
        left.remove(next(at for at in left if begin <= at <= end))
        return True
    return False

"""Clients that read, and write with keys, while something fails; and whether what they were told is
true afterwards."""

from __future__ import annotations

import http.client
import itertools
import json
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

from app.auth.tenant import rows_of
from app.db.extensions import db
from app.models import Event, Project
from tests.make import Client
from trials.faults.delivering import Instance
from trials.faults.reconciliation import Reconciliation, reconcile, wait_until_settled
from trials.faults.responses import LOST, Response, describe, refused
from trials.faults.trial_report import TrialReport

TIMEOUT = 30  # seconds that a client waits
KEPT = 3  # seconds that a connection is kept unused; the service closes it after 5
PAUSE = 0.05  # seconds until a failed request is repeated; clients of the service wait longer
PROVED = 5  # every so many writes, one that succeeded is repeated


class Caller:
    """Sends one request after the other on a connection that is kept, until its end."""

    def __init__(self, port: int, client: Client, rate: float) -> None:
        self.responses: list[Response] = []
        self._port, self._client, self._pause = port, client, 1 / rate
        self._connection = self._connect()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    @property
    def statuses(self) -> Counter[int]:
        return Counter(response.status for response in self.responses)

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

    def _connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self._port, timeout=TIMEOUT)

    def _send(self, method: str, path: str, body: Any = None, **headers: str) -> Response:
        began = time.time()
        if self.responses and began - self.responses[-1].ended > KEPT:
            self._connection.close()
        every = {**self._client.authorization, "Content-Type": "application/json", **headers}
        try:
            self._connection.request(
                method, path, None if body is None else json.dumps(body), every
            )
            answer = self._connection.getresponse()
            content, status = answer.read(), answer.status
            found = {name.lower(): value for name, value in answer.getheaders()}
        except (OSError, http.client.HTTPException) as error:
            self._connection.close()
            content, status, found = repr(error).encode(), LOST, {}
        made = Response(began, time.time(), status, found, content)
        self.responses.append(made)
        return made


class Reader(Caller):
    """Reads a list, a project and the account in turn."""

    def _run(self) -> None:
        self._paths = itertools.cycle(["/v1/projects?per_page=5", "/v1/account", "/v1/me"])
        super()._run()

    def _act(self) -> None:
        self._send("GET", next(self._paths))


class KeyedWriter(Caller):
    """Creates projects, each with an Idempotency-Key, and repeats a request that had no response
    or a 409 or 503 until it has another one. It also repeats some that succeeded."""

    def __init__(self, port: int, client: Client, rate: float) -> None:
        self.acknowledged: dict[str, float] = {}  # id of the project, seconds since the epoch
        self.ids: dict[str, str] = {}  # by name
        self.unknown: set[str] = set()  # names of those without a response until the end
        self.repeats = 0  # requests with the key of one before
        self.found_done = 0  # of these, after a lost response: what the lost one had carried out
        self.wrong: list[str] = []
        super().__init__(port, client, rate)

    def _act(self) -> None:
        name, key = f"Forest {len(self.ids) + len(self.unknown) + 1}", uuid.uuid4().hex
        while (made := self._post(name, key)).status in {LOST, 409, 503}:
            self.repeats += 1
            if self._over.wait(PAUSE):
                self.unknown.add(name)
                return
        if made.status != 201:
            self.unknown.add(name)
            return
        self.found_done += "idempotency-replayed" in made.headers
        self.ids[name] = _id(made)
        self.acknowledged[_id(made)] = made.ended
        if len(self.ids) % PROVED == 0:
            self._prove(name, key, _id(made))

    def _post(self, name: str, key: str) -> Response:
        return self._send("POST", "/v1/projects", {"name": name}, **{"Idempotency-Key": key})

    def _prove(self, name: str, key: str, expected: str) -> None:
        """A repeat changes nothing, and gets the same response."""
        self._connection.close()  # another process may respond
        self.repeats += 1
        again = self._post(name, key)
        if again.status != 201:
            return  # it met the fault
        if _id(again) != expected or "idempotency-replayed" not in again.headers:
            self.wrong.append(f"{name} is {expected}, and {_id(again)} for a repeat")


def _id(made: Response) -> str:
    return str(json.loads(made.body)["data"]["id"])


class Traffic:
    """Writers and readers in accounts of their own, each with a webhook, from now until ``end``."""

    def __init__(
        self,
        instance: Instance,
        *,
        accounts: int = 2,
        rate: float = 10,
        plan: str = "enterprise",
    ) -> None:
        self._instance = instance
        self.customers = [instance.customer(plan) for _ in range(accounts)]
        clients = [customer.client for customer in self.customers]
        self.writers = [KeyedWriter(instance.port, client, rate) for client in clients]
        self.readers = [Reader(instance.port, client, rate) for client in clients]

    def end(self) -> None:
        """Let all end. What is not settled is not repeated anymore."""
        for caller in self.callers:
            caller.ask_to_end()
        for caller in self.callers:
            caller.end()

    @property
    def callers(self) -> list[Caller]:
        return [*self.writers, *self.readers]

    @property
    def written(self) -> list[Response]:
        return _in_order(self.writers)

    @property
    def read(self) -> list[Response]:
        return _in_order(self.readers)

    def reconcile(
        self, *, writes: Collection[int], reads: Collection[int], is_timed: bool = True
    ) -> TrialReport:
        """What they were told, and whether it is in the database, has been delivered, and is
        there once.

        Args:
            writes: the statuses that a write may have.
            reads: the statuses that a read may have.
            is_timed: whether the times in the log are those of this process's clock.
        """
        wait_until_settled(self._instance.app, self.customers)
        self.reconciled = found = reconcile(
            self._instance.app, self.customers, self.writers, is_timed=is_timed
        )
        report = TrialReport(wrong=found.wrong)
        report.lines += self._lines(found)
        for writer, customer in zip(self.writers, self.customers, strict=True):
            report.wrong += writer.wrong + self._wrong_rows(writer, customer.client)
        for what, responses, allowed in (
            ("writes", self.written, writes),
            ("reads", self.read, reads),
        ):
            strange = [response for response in responses if response.status not in allowed]
            report.check(not strange, f"{what} were answered {[str(each) for each in strange[:5]]}")
        silent = sum("retry-after" not in made.headers for made in refused(self.all))
        report.check(not silent, f"{silent} responses with 503 have no Retry-After")
        return report

    @property
    def all(self) -> list[Response]:
        return self.written + self.read

    def _lines(self, found: Reconciliation) -> list[str]:
        repeats = sum(writer.repeats for writer in self.writers)
        done = sum(writer.found_done for writer in self.writers)
        return [
            f"  writes        {describe(self.written)}",
            f"  reads         {describe(self.read)}",
            f"  repeats       {repeats:,} with the key of an earlier request; {done:,} of those "
            "without a response had been carried out",
            found.line(),
        ]

    def _wrong_rows(self, writer: KeyedWriter, client: Client) -> list[str]:
        """What is missing, twice, or nobody's, among an account's projects and their events."""
        projects = self._rows(client, Project, Project.id, Project.name)
        created = [
            (subject,)
            for subject, kind in self._rows(client, Event, Event.subject_id, Event.type)
            if kind == "project.created"
        ]
        ids = {name: id_ for id_, name in projects}
        wrong = [
            f"{number} projects are called {name}"
            for name, number in Counter(name for _, name in projects).items()
            if number > 1
        ]
        for what, cases in (
            ("were acknowledged, and are not there", writer.ids.items() - ids.items()),
            ("are there, and were not asked for", ids.keys() - writer.ids - writer.unknown),
            ("have several events", [row for row, times in Counter(created).items() if times > 1]),
            ("have no event", set(ids.values()) - {subject for (subject,) in created}),
        ):
            if cases:
                wrong.append(f"{len(cases)} projects {what}, such as {next(iter(cases))}")
        return wrong

    def _rows(self, client: Client, model: Any, *columns: Any) -> list[Any]:
        statement = rows_of(client.account_id, model).with_only_columns(*columns)
        with self._instance.app.app_context():
            try:
                return [tuple(row) for row in db.session.execute(statement)]
            finally:
                db.session.rollback()


def _in_order(callers: Iterable[Caller]) -> list[Response]:
    every = itertools.chain.from_iterable(caller.responses for caller in callers)
    return sorted(every, key=lambda response: response.began)


def wait_for_responses(callers: Sequence[Caller], wanted: Callable[[Response], bool]) -> None:
    """Until each caller has got a wanted response that it asked for from now on."""
    since = time.time()
    deadline = time.monotonic() + TIMEOUT
    for caller in callers:
        while not any(wanted(made) for made in caller.responses if made.began >= since):
            assert time.monotonic() < deadline, "nothing is answered"
            time.sleep(0.02)

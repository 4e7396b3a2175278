"""Members that are changed by several processes at the same moment: what must hold each time."""

from __future__ import annotations

import dataclasses
import multiprocessing
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any, NamedTuple, Protocol, Self

from flask import Flask

from app.account.members.invitations import accept_invitation
from app.account.members.service import list_members
from app.db.connections import close_all
from app.db.extensions import db
from app.db.migrations import upgrade
from app.factory import create_app
from config import Settings, load_settings
from tests.make import (
    Client,
    event_types,
    invitation_token,
    make_account,
    make_invited,
    make_member,
    new_email,
    together,
)
from tests.make.apps import CHEAP_PASSWORDS
from tests.postgres import PostgresServer
from tests.templates import DATABASES
from trials.faults.valkey import valkey

PROCESSES = 4
AT_ONCE = 20  # who come for the last seat, and with one link
WAIT_SECONDS = 60
PATH = "/v1/account/members"


class Call(Protocol):
    """Something that a process does with its application."""

    def run(self, app: Flask) -> Any: ...


@dataclasses.dataclass(frozen=True)
class Request:
    """A request with a credential; its outcome is the status."""

    headers: dict[str, str]  # with the credential
    method: str
    path: str
    body: Any = None

    def run(self, app: Flask) -> int:
        options = {} if self.body is None else {"json": self.body}
        sent = app.test_client().open(
            self.path, method=self.method, headers=self.headers, **options
        )
        return sent.status_code


@dataclasses.dataclass(frozen=True)
class Acceptance:
    """Somebody follows the link of an invitation; the outcome is whether they joined."""

    token: str

    def run(self, app: Flask) -> bool:
        with app.app_context():
            joined = accept_invitation(self.token)
            db.session.commit()
            return joined is not None


class Crew:
    """Processes, each with an application of its own, that do things at the same moment."""

    def __init__(self, settings: Settings) -> None:
        context = multiprocessing.get_context("spawn")
        self._barrier = context.Barrier(PROCESSES)  # it goes when nobody holds it
        # What is refused for a credential that has ended would be limited by the address.
        settings = dataclasses.replace(settings, rate_limit_disabled=True)
        self._pipes, self._processes = [], []
        for _ in range(PROCESSES):
            mine, theirs = context.Pipe()
            arguments = (settings, self._barrier, theirs)
            process = context.Process(target=_work, args=arguments, daemon=True)
            process.start()
            theirs.close()
            self._pipes.append(mine)
            self._processes.append(process)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for pipe, process in zip(self._pipes, self._processes, strict=True):
            with suppress(OSError):  # it has failed, and said why
                pipe.send(None)
            process.join(WAIT_SECONDS)
            process.kill()
            pipe.close()

    def at_once(self, calls: Sequence[Call]) -> list[Any]:
        """The outcomes of calls that are dealt out to all processes, in some order."""
        for number, pipe in enumerate(self._pipes):
            pipe.send(calls[number::PROCESSES])
        return [outcome for pipe in self._pipes for outcome in pipe.recv()]


def _work(settings: Settings, barrier: Barrier, pipe: Connection) -> None:
    app = create_app(settings)
    while (calls := pipe.recv()) is not None:
        barrier.wait(WAIT_SECONDS)
        pipe.send(together(*[partial(call.run, app) for call in calls]))
    with app.app_context():
        close_all()


def _owners(app: Flask, crew: Crew) -> list[str]:
    """Two owners remove and demote each other, each from two processes."""
    one = make_account(app)
    other = make_member(one, "owner").client
    lower = {"role": "viewer"}
    outcomes = crew.at_once(
        [
            request
            for mine, theirs in ((one, other), (other, one))
            for request in (
                Request(mine.authorization, "DELETE", f"{PATH}/{theirs.owner_id}"),
                Request(mine.authorization, "PUT", f"{PATH}/{theirs.owner_id}", lower),
            )
        ]
    )
    members = _members(one)
    left = [member for member in members if member["role"] == "owner"]
    faults = [] if len(left) == 1 else [f"{len(left)} owners are left"]
    if strange := set(outcomes) - {200, 204, 401, 403, 404, 409}:
        faults.append(f"answers {strange}")
    if not {200, 204} & set(outcomes):
        faults.append("nobody succeeded")
    removals = Counter(event_types(one))["member.removed"]
    if removals != 2 - len(members):
        faults.append(f"{removals} removals have events, and {len(members)} members are left")
    return faults


def _seats(app: Flask, crew: Crew) -> list[str]:
    """Many are invited at once, and the plan has one seat left."""
    client = make_account(app, plan="free")
    make_invited(client)
    bodies = [{"email": new_email(), "role": "editor"} for _ in range(AT_ONCE)]
    outcomes = Counter(
        crew.at_once(
            [Request(client.authorization, "POST", f"{PATH}/invite", body) for body in bodies]
        )
    )
    faults = []
    if outcomes != {201: 1, 403: AT_ONCE - 1}:
        faults.append(f"answers {dict(outcomes)}")
    if len(_members(client)) != 3:
        faults.append(f"{len(_members(client))} members with 3 seats")
    if Counter(event_types(client))["member.invited"] != 2:
        faults.append("events of others than who got the seats")
    return faults


def _invitations(app: Flask, crew: Crew) -> list[str]:
    """The link of one invitation is followed many times at once."""
    client = make_account(app)
    invited = make_invited(client)
    token = invitation_token(client, invited["email"])
    outcomes = Counter(crew.at_once([Acceptance(token)] * AT_ONCE))
    faults = []
    if outcomes != {True: 1, False: AT_ONCE - 1}:
        faults.append(f"outcomes {dict(outcomes)}")
    if [member["joined_at"] is None for member in _members(client)] != [False, False]:
        faults.append("not one membership that is joined")
    if event_types(client) != ["member.invited", "member.joined"]:
        faults.append(f"events {event_types(client)}")
    return faults


def _members(client: Client) -> list[dict[str, Any]]:
    with client.app.app_context():
        return list_members(client.account_id)


class Race(NamedTuple):
    """Something that is done at once; ``run`` does it, and says what is wrong with its end."""

    name: str
    description: str
    run: Callable[[Flask, Crew], list[str]]


RACES = (
    Race("owners", "two owners remove and demote each other at once", _owners),
    Race("seats", f"{AT_ONCE} invitations at once for the last seat", _seats),
    Race("invitations", f"one invitation accepted {AT_ONCE} times at once", _invitations),
)


def race(app: Flask, crew: Crew, each: Race, rounds: int) -> list[str]:
    """What was wrong, a line for each round that went wrong."""
    found = ("; ".join(each.run(app, crew)) for _ in range(rounds))
    return [faults for faults in found if faults]


def report(names: Sequence[str], rounds: int) -> Iterator[tuple[bool, str]]:
    """For each race of these names and each database: whether all was right, and the figures."""
    wanted = [each for each in RACES if each.name in names]
    for database in DATABASES if wanted else ():
        with _instance(database) as app, Crew(app.config["SETTINGS"]) as crew:
            for each in wanted:
                began = time.monotonic()
                wrong = race(app, crew, each, rounds)
                seconds = time.monotonic() - began
                lines = [
                    f"{each.name}: {each.description}; {PROCESSES} processes, {database}",
                    f"  correct in {rounds - len(wrong)} of {rounds} rounds, {seconds:.0f} s",
                    *(f"  WRONG: {fault}" for fault in wrong),
                ]
                yield not wrong, "\n".join(lines)


@contextmanager
def _instance(database: str) -> Iterator[Flask]:
    """An application on an empty database."""
    with tempfile.TemporaryDirectory(prefix="canopy-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        with valkey(folder) as valkey_server, PostgresServer(folder / "pg") as postgres:
            environ = {
                "INSTANCE_PATH": str(folder / "instance"),
                "REDIS_URL": valkey_server.url,
                "LOG_LEVEL": "error",
                **CHEAP_PASSWORDS,
            }
            if database == "postgresql":
                environ["DATABASE_URL"] = postgres.create_database()
            app = create_app(load_settings(environ))
            with app.app_context():
                upgrade()
            yield app
            with app.app_context():
                close_all()

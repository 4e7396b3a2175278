"""What callers were told about each kind of change, and the rows that must be there then."""

from __future__ import annotations

import http.client
import itertools
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple
from urllib.parse import urlencode

from config import ROOT
from tests.instances.customers import Customer, Instance
from tests.make.browser import PASSWORD
from tests.make.features import collection, feature
from tests.make.geometry import square

KINDS: Final = (
    "a project", "its event", "its audit entry", "an asset", "a change", "a deletion", "an import",
    "a sign-up", "a key, by a command", "a delivered event",
)  # fmt: skip
_FEW: Final = 8  # imports of an account: it can have 10
_FORM: Final = {"Content-Type": "application/x-www-form-urlencoded"}
_BOUNDARY: Final = "part"  # of the parts of a form
_FILE: Final = (
    f'--{_BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="a.geojson"\r\n\r\n'
)


class Told(NamedTuple):
    """Something that somebody knew was done: a row with these values is there."""

    at: float  # seconds, as of ``time.monotonic``
    kind: str
    table: str
    row: dict[str, str]


class EverythingWriter:
    """Makes one change of each kind after the other, over HTTP, and notes when it was answered.

    From the beginning, a web process has the database open.
    """

    def __init__(self, instance: Instance, customer: Customer) -> None:
        self.told: list[Told] = []
        self.failure = ""
        self._client = client = customer.client
        self._numbers = itertools.count(1)
        self._imports = iter(range(1, _FEW))
        self._connection = http.client.HTTPConnection("127.0.0.1", instance.port, timeout=30)
        self._ask("GET", "/v1/account", None, client.authorization)
        self._connection.close()  # it opens again when it is used

    def run(self, until: float) -> None:
        """Write until a moment of ``time.monotonic``, or the first failure."""
        try:
            while time.monotonic() < until:
                self._write(f"{self._client.account_id}-{next(self._numbers)}")
        except (AssertionError, OSError, http.client.HTTPException) as error:
            self.failure = repr(error)
        finally:
            self._connection.close()

    def _write(self, name: str) -> None:
        at, made = self._send("POST", "/v1/projects", {"name": name, "geometry": square()})
        project, path = made["id"], f"/v1/projects/{made['id']}"
        self._note(at, "a project", "projects", id=project)
        self._note(at, "its event", "events", subject_id=project, type="project.created")
        self._note_entry(at, "its audit entry", project, "project.created")
        at, made = self._send("POST", f"{path}/assets", {"name": "Gate", "type": "gate"})
        self._note(at, "an asset", "assets", id=made["id"])
        at, _ = self._send("PUT", path, {"description": name})
        self._note_entry(at, "a change", project, "project.updated")
        _, made = self._send("POST", "/v1/projects", {"name": f"{name} too"})
        self._send("POST", f"/v1/projects/{made['id']}/archive")
        at, _ = self._send("DELETE", f"/v1/projects/{made['id']}")
        self._note_entry(at, "a deletion", made["id"], "project.deleted")
        self._sign_up(f"{name}@example.org".lower())
        if next(self._imports, None):
            at, made = self._send("POST", "/v1/imports", collection(feature(square(), name=name)))
            self._note(at, "an import", "imports", id=made["id"])

    def _sign_up(self, email: str) -> None:
        _, page, headers = self._ask("GET", "/register", None, {})
        tokens = re.findall(rb'name="csrf_token" value="([^"]+)"', page)
        cookies = [each.partition(";")[0] for each in headers.get_all("Set-Cookie", [])]
        fields = {"csrf_token": tokens[0].decode(), "name": "Jo", "email": email}
        fields |= {"password": PASSWORD, "account_name": email}
        sent = _FORM | {"Cookie": "; ".join(cookies)}
        at, _, _ = self._ask("POST", "/register", urlencode(fields).encode(), sent)
        self._note(at, "a sign-up", "sign_ups", email=email)

    def _note(self, at: float, kind: str, table: str, **row: str) -> None:
        self.told.append(Told(at, kind, table, row))

    def _note_entry(self, at: float, kind: str, target: str, action: str) -> None:
        self._note(at, kind, "audit_entries", target_id=target, action=action)

    def _send(self, method: str, path: str, body: Any = None) -> tuple[float, Any]:
        """When an operation of the API was answered, and with which data. Bytes are a file."""
        headers = self._client.authorization | {"Content-Type": "application/json"}
        if isinstance(body, bytes):
            headers["Content-Type"] = f"multipart/form-data; boundary={_BOUNDARY}"
            content = _FILE.encode() + body + f"\r\n--{_BOUNDARY}--\r\n".encode()
        else:
            content = b"" if body is None else json.dumps(body).encode()
        at, answer, _ = self._ask(method, path, content, headers)
        return at, json.loads(answer)["data"] if answer else None

    def _ask(
        self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]
    ) -> tuple[float, bytes, http.client.HTTPMessage]:
        """When a request was answered, the body and the headers."""
        self._connection.request(method, path, body, headers)
        answer = self._connection.getresponse()
        at, content = time.monotonic(), answer.read()
        assert answer.status < 400, f"{method} {path}: {answer.status} {content!r}"
        return at, content, answer.headers


def make_key(account_id: str, environ: Mapping[str, str]) -> Told:
    """A key that a command makes, and prints at its end."""
    command = [sys.executable, "-m", "app.cli", "key", "create", "--account", account_id]
    command += ["--name", "Made by a command", "--permission", "admin", "--json"]
    full = {"PATH": os.environ["PATH"], **environ}
    made = subprocess.run(command, cwd=ROOT, env=full, check=True, stdout=subprocess.PIPE)
    row = {"id": json.loads(made.stdout)["id"]}
    return Told(time.monotonic(), "a key, by a command", "credentials", row)


def delivered(customers: Iterable[Customer]) -> list[Told]:
    """The events that receivers have got so far."""
    offset = time.time() - time.monotonic()
    return [
        Told(at - offset, "a delivered event", "events", {"id": request.headers["webhook-id"]})
        for customer in customers
        for at, request in [*customer.inbox.arrivals]
    ]

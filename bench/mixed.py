"""Mixed traffic: the clients of some accounts, each of which sends one request after the other."""

from __future__ import annotations

import http.client
import itertools
import json
import random
import re
import threading
import time
from collections import Counter, deque
from collections.abc import Generator, Iterator
from typing import Any, Final, NamedTuple
from urllib.parse import urlencode

from bench.instance import polygon

TIMEOUT: Final = 120  # seconds that a client waits
NO_ANSWER: Final = 0  # the status of a request without one
_KEPT: Final = 3.0  # seconds that a connection is kept unused; the service closes it after 5
_PIECE: Final = 1024 * 1024
_READ_WHOLE: Final = 1024 * 1024  # bytes of an answer; of a longer one, such as a file, no more
_FORM: Final = {"Content-Type": "application/x-www-form-urlencoded"}
_BOUNDARY: Final = "part"  # of the parts of a form
_FILE: Final = (
    f'--{_BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="a.geojson"\r\n\r\n'
)
_POSITIONS: Final = 200  # of a feature of a file: 4.6 KB
_LARGEST: Final = 99_000  # positions, in a body of 16 MB
_EXPORTS: Final = tuple(
    f"{kind}?format={name}"
    for kind, names in (
        ("projects", ("geojson", "gpkg", "csv", "kml", "shp", "geojsonl")),
        ("assets", ("geojson", "gpx")),
    )
    for name in names
)
_OGC: Final = "/ogc/collections/projects/items"


class Answer(NamedTuple):
    """What a client was told. ``NO_ANSWER`` has the error as its body."""

    status: int
    headers: http.client.HTTPMessage
    body: bytes

    @property
    def data(self) -> Any:
        """What is in the envelope; empty if the request did not succeed."""
        return json.loads(self.body)["data"] if 200 <= self.status < 300 and self.body else {}

    @property
    def message(self) -> str:
        """Why the request did not succeed."""
        try:
            return str(json.loads(self.body)["error"]["message"])
        except ValueError:
            return self.body[:200].decode(errors="replace")


class Request(NamedTuple):
    """Headers are added to those of the client."""

    method: str
    path: str
    body: bytes = b""
    headers: dict[str, str] = {}  # noqa: RUF012 - never changed


# Requests of a client, which gets the answer to each before it makes the next one.
Script = Generator[Request, Answer]


class Account(NamedTuple):
    """Whom the clients speak for."""

    key: str
    email: str
    password: str


class Traffic:
    """The clients of each account, at work until ``end``: about 5 requests a second."""

    def __init__(
        self, port: int, accounts: list[Account], *, file_bytes: int, is_large: bool
    ) -> None:
        """
        Args:
            file_bytes: of the files that are imported.
            is_large: also bodies of 16 MB, four a minute.
        """
        self.statuses: Counter[int] = Counter()
        self.failures: Counter[str] = Counter()  # those of 5xx and without an answer, in words
        self._port, self._lock, self._over = port, threading.Lock(), threading.Event()
        self._threads = []
        for number, account in enumerate(accounts):
            shared = _Shared(number)
            per_second: list[tuple[Script, float]] = [
                (_read(shared), 1.5),
                (_write(shared), 1.0),
                (_use_gis(shared), 0.75),
                (_browse(shared, account), 1.0),
                (_export(), 0.1),
                (_import(shared, file_bytes), 1.0),
            ]
            if is_large:
                per_second.append((_send_large(shared), 1 / 15))
            for script, rate in per_second:
                arguments = (script, account.key, 1 / rate)
                self._threads.append(threading.Thread(target=self._run, args=arguments))
        for thread in self._threads:
            thread.start()

    def end(self) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join()

    def _run(self, script: Script, key: str, pause: float) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=TIMEOUT)
        due = time.monotonic() + pause * random.random()
        used, request = due, next(script)
        while not self._over.wait(max(0.0, due - time.monotonic())):
            due = max(due + pause, time.monotonic() - 1)
            if time.monotonic() - used > _KEPT:
                connection.close()
            answer = _send(connection, key, request)
            used = time.monotonic()
            self._note(request, answer)
            request = script.send(answer)
        connection.close()

    def _note(self, request: Request, answer: Answer) -> None:
        with self._lock:
            self.statuses[answer.status] += 1
            if answer.status == NO_ANSWER or answer.status >= 500:
                what = re.sub(r"[a-z]+_[0-9a-z]{26}", "…", request.path.partition("?")[0])
                self.failures[f"{request.method} {what}: {answer.status}, {answer.message}"] += 1


def _send(connection: http.client.HTTPConnection, key: str, request: Request) -> Answer:
    headers = {"Content-Type": "application/json", **request.headers}
    if "Cookie" not in headers:
        headers["Authorization"] = f"Bearer {key}"
    try:
        connection.request(request.method, request.path, request.body or None, headers)
        response = connection.getresponse()
        body = response.read(_READ_WHOLE)
        while response.read(_PIECE):
            pass
    except (OSError, http.client.HTTPException) as error:
        connection.close()
        return Answer(NO_ANSWER, http.client.HTTPMessage(), repr(error).encode())
    return Answer(response.status, response.headers, body)


class _Shared:
    """What the clients of an account know of each other's projects."""

    def __init__(self, number: int) -> None:
        self.random = random.Random(number)
        self.projects: deque[str] = deque(maxlen=200)  # ids, the newest last
        self.number = number
        self._places = itertools.count()

    def place(self) -> tuple[float, float]:
        """The center of a boundary, where none was for long."""
        number = next(self._places)
        return -170 + number * 0.5 % 340, -60 + number // 680 * 0.5 % 120

    def project(self) -> str:
        return self.random.choice(self.projects) if self.projects else "proj_none"

    def boundary(self) -> dict[str, object]:
        """A boundary of 50 to 2,000 positions, of which small ones are as likely as large ones."""
        return polygon(round(50 * 40 ** self.random.random()), *self.place())


def _get(path: str) -> Request:
    return Request("GET", path)


def _json(method: str, path: str, **body: Any) -> Request:
    return Request(method, path, json.dumps(body).encode())


def _read(shared: _Shared) -> Script:
    while True:
        for path in (
            "/v1/projects?per_page=20",
            "/v1/projects?per_page=100&fields=name,area_hectares",
            "/v1/projects?search=forest&per_page=20",
            "/v1/projects?bbox=-170,-60,-160,-50&per_page=50",
            "/v1/assets?per_page=50",
            "/v1/account/usage",
        ):
            yield _get(path)
            for _ in range(2):
                yield _get(f"/v1/projects/{shared.project()}")


def _write(shared: _Shared) -> Script:
    for number in itertools.count():
        positions = 20_000 if number % 10 == 9 else 0
        geometry = polygon(positions, *shared.place()) if positions else shared.boundary()
        name = f"Forest {shared.number}-{number}"
        made = yield _json("POST", "/v1/projects", name=name, geometry=geometry)
        if not made.data:
            continue
        path = f"/v1/projects/{made.data['id']}"
        shared.projects.append(made.data["id"])
        yield _json("POST", f"{path}/assets", name="Gate", type="gate")
        yield _json("PUT", path, description=name, metadata={"number": number})
        yield _json("PUT", path, geometry=shared.boundary())
        yield _json("POST", "/v1/geometry/validate", geometry=shared.boundary())
        if number % 4 == 3:
            yield Request("POST", f"{path}/archive")
            yield Request("DELETE", path)
            shared.projects.pop()


def _use_gis(shared: _Shared) -> Script:
    while True:
        yield _get(f"{_OGC}?limit=100")
        for step in range(5):
            west = -170 + shared.random.random() * 300
            yield _get(f"{_OGC}?limit=1000&bbox={west:.2f},-60,{west + 10 * step + 1:.2f},0")
        yield _get(f"{_OGC}/{shared.project()}")
        yield _get("/ogc/collections/assets/items?limit=100")


def _browse(shared: _Shared, account: Account) -> Script:
    """A person who signs in again after a while."""
    while True:
        page = yield Request("GET", "/login", headers={"Cookie": "none=1"})
        (token,) = re.findall(rb'name="csrf_token" value="([^"]+)"', page.body) or [b""]
        sent = {"Cookie": _cookies(page)} | _FORM
        fields = {"csrf_token": token, "email": account.email, "password": account.password}
        answer = yield Request("POST", "/login", urlencode(fields).encode(), sent)
        cookies = {"Cookie": _cookies(answer), "Sec-Fetch-Site": "same-origin"}
        for _ in range(6):
            for path in _pages(shared):
                yield Request("GET", path, headers=cookies)


def _cookies(answer: Answer) -> str:
    found = answer.headers.get_all("Set-Cookie", [])
    return "; ".join(each.partition(";")[0] for each in found) or "none=1"


def _pages(shared: _Shared) -> Iterator[str]:
    yield "/projects"
    yield "/projects/map?zoom=2"
    west, south = shared.random.randrange(-170, 160), shared.random.randrange(-60, 0)
    yield f"/projects/map?zoom=8&bbox={west},{south},{west + 5},{south + 5}"
    yield f"/projects/{shared.project()}"
    yield "/projects?search=forest"
    yield "/assets"
    yield "/imports"
    yield "/audit-log"
    yield "/webhooks"
    yield "/usage"
    yield "/docs/guides"


def _export() -> Script:
    while True:
        for query in _EXPORTS:
            yield _get(f"/v1/exports/{query}")


def _import(shared: _Shared, size: int) -> Script:
    """A file every three minutes or so; every second one is undone."""
    for number in itertools.count():
        started = time.monotonic()
        content = _FILE.encode() + _file(shared, size) + f"\r\n--{_BOUNDARY}--\r\n".encode()
        sent = {"Content-Type": f"multipart/form-data; boundary={_BOUNDARY}"}
        made = yield Request("POST", "/v1/imports", content, sent)
        if made.data:
            path = f"/v1/imports/{made.data['id']}"
            yield from _wait(path)
            yield _get(f"{path}/features?per_page=100")
            yield Request("POST", f"{path}/apply")
            yield from _wait(path)
            if number % 2:
                yield Request("POST", f"{path}/undo")
                yield from _wait(path)
        while time.monotonic() < started + 180:
            yield _get("/v1/imports")


def _wait(path: str) -> Script:
    for _ in range(TIMEOUT):
        found = yield _get(path)
        if found.data and found.data["status"] not in ("reading", "applying", "undoing"):
            return


def _file(shared: _Shared, size: int) -> bytes:
    """GeoJSON of so many bytes, a little less."""
    features = []
    while size > 0:
        features.append(
            json.dumps(
                {
                    "type": "Feature",
                    "properties": {"name": f"Stand {shared.random.getrandbits(48)}"},
                    "geometry": polygon(_POSITIONS, *shared.place()),
                }
            )
        )
        size -= len(features[-1])
    return f'{{"type":"FeatureCollection","features":[{",".join(features)}]}}'.encode()


def _send_large(shared: _Shared) -> Script:
    """Bodies of 16 MB with as many positions as a boundary may have."""
    separators = ("," + " " * 70, ":")
    body = json.dumps({"geometry": polygon(_LARGEST, 5, 75)}, separators=separators).encode()
    made = yield _json("POST", "/v1/projects", name=f"Large {shared.number}")
    while True:
        yield Request("PUT", f"/v1/projects/{made.data.get('id')}", body)
        made = made if made.data else (yield _json("POST", "/v1/projects", name="Large"))


def make_webhook(port: int, account: Account, url: str) -> None:
    """A webhook of all events."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT)
    answer = _send(connection, account.key, _json("POST", "/v1/webhooks", url=url, events=["*"]))
    connection.close()
    assert answer.status == 201, answer

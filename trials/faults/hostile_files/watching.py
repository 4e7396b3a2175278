"""What the processes of a service take, and how long others wait, while something is tried."""

from __future__ import annotations

import http.client
import json
import threading
import time
from contextlib import suppress
from pathlib import Path

from tests.make import Client
from trials.faults.reconciliation import percentile
from trials.faults.web_kills import children

_EVERY = 0.1  # seconds


class Memory:
    """The most memory that the worker with all below it, and a web process, had; in bytes.

    What processes share is divided among them.
    """

    def __init__(self, worker: int, web: int) -> None:
        self.worker = self.web = 0
        self._roots = worker, web
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()

    def begin(self) -> None:
        """Forget what was."""
        self.worker = self.web = 0

    def end(self) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        worker, web = self._roots
        while not self._over.wait(_EVERY):
            self.worker = max(self.worker, sum(map(_memory, [worker, *_below(worker)])))
            self.web = max(self.web, *map(_memory, _below(web)), 0)


class Others:
    """Somebody else, who lists and creates projects all the time."""

    def __init__(self, port: int, client: Client) -> None:
        self.seconds: list[float] = []
        self.wrong: list[int] = []
        self._port, self._client = port, client
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._ask)
        self._thread.start()

    def take(self) -> list[float]:
        """How long the requests took since the last time, in seconds."""
        seconds, self.seconds = self.seconds, []
        return seconds

    def end(self) -> None:
        self._over.set()
        self._thread.join()

    def _ask(self) -> None:
        number = 0
        while not self._over.wait(_EVERY):
            number += 1
            self._send("GET", "/v1/projects?per_page=5", None, 200)
            self._send("POST", "/v1/projects", {"name": f"Forest {number}"}, 201)

    def _send(self, method: str, path: str, body: object, expected: int) -> None:
        began = time.monotonic()
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=60)
        headers = {**self._client.authorization, "Content-Type": "application/json"}
        status = 0
        with suppress(OSError, http.client.HTTPException):
            connection.request(method, path, body and json.dumps(body), headers)
            answer = connection.getresponse()
            answer.read()
            status = answer.status
        connection.close()
        self.seconds.append(time.monotonic() - began)
        if status != expected:
            self.wrong.append(status)


def shown(seconds: list[float]) -> str:
    """How long requests took."""
    p50, p99 = (percentile(seconds, number) * 1000 for number in (50, 99))
    return (
        f"p50 {p50:,.0f} ms, p99 {p99:,.0f} ms, longest {max(seconds, default=0):.2f} s, "
        f"{len(seconds):,} requests"
    )


def _below(pid: int) -> list[int]:
    """The processes that a process has started, and those that they have."""
    with suppress(OSError):
        return [each for child in children(pid) for each in (child, *_below(child))]
    return []


def _memory(pid: int) -> int:
    """Bytes: what is its own, and its part of what it shares."""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    return 0

"""A client that writes while something fails."""

from __future__ import annotations

import http.client
import itertools
import json
import threading
import time
from collections import Counter

from tests.make import Client


class Writer:
    """Creates a project so many times a second, and notes what was acknowledged."""

    def __init__(self, port: int, client: Client, rate: float) -> None:
        self.acknowledged: dict[str, float] = {}  # id of the project, seconds since the epoch
        self.statuses: Counter[int] = Counter()  # 0: no answer
        self._port, self._client, self._pause = port, client, 1 / rate
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._write)
        self._thread.start()

    def end(self) -> None:
        self._over.set()
        self._thread.join()

    def _write(self) -> None:
        connection = self._connect()
        due, numbers = time.monotonic(), itertools.count(1)
        while not self._over.wait(max(0.0, due - time.monotonic())):
            due = max(due + self._pause, time.monotonic() - 1)
            self._create(connection, next(numbers))
        connection.close()

    def _connect(self) -> http.client.HTTPConnection:
        """A connection, which opens when it is used, and again after it was closed."""
        return http.client.HTTPConnection("127.0.0.1", self._port, timeout=30)

    def _create(self, connection: http.client.HTTPConnection, number: int, **headers: str) -> int:
        """The status of a request to create a project, or 0."""
        body = json.dumps({"name": f"Forest {number}"})
        headers |= {**self._client.authorization, "Content-Type": "application/json"}
        try:
            connection.request("POST", "/v1/projects", body=body, headers=headers)
            answer = connection.getresponse()
            body = answer.read().decode()
        except (OSError, http.client.HTTPException):
            self.statuses[0] += 1
            connection.close()
            return 0
        self.statuses[answer.status] += 1
        if answer.status == 201:
            self.acknowledged[json.loads(body)["data"]["id"]] = time.time()
        return answer.status

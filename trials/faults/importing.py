"""A client that imports files over HTTP, and says how far an import is."""

from __future__ import annotations

import http.client
import json
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

from tests.make import Client

TIMEOUT = 120  # seconds that the client waits
POLL = 0.05  # seconds between two looks at an import
ACTIONS = {"applying": "apply", "undoing": "undo"}  # what begins a step
ENDS = {"reading": "ready", "applying": "applied", "undoing": "undone"}  # how it ends
STEPS = tuple(ENDS)

Record = dict[str, Any]


class Answer(NamedTuple):
    """What came back; the status is 0 where the connection was closed before the answer."""

    status: int
    body: Any

    @property
    def data(self) -> Record:
        assert self.status in (200, 201, 202), self
        record: Record = self.body["data"]
        return record

    @property
    def message(self) -> str:
        """What an error says, with its details."""
        error = self.body["error"] if self.body else {"message": "no answer"}
        details = [each["message"] for each in error.get("details") or ()]
        return " ".join([error["message"], *details])


class Importer:
    """Speaks for one account."""

    def __init__(self, port: int, client: Client) -> None:
        self._port, self._client = port, client

    def send(self, method: str, path: str, json_body: Any = None) -> Answer:
        body = None if json_body is None else json.dumps(json_body).encode()
        return self._send(method, path, body, "application/json")

    def upload(self, content: bytes, name: str = "forests.geojson", **form: str) -> Answer:
        """POST /v1/imports."""
        boundary = uuid.uuid4().hex
        fields = "".join(
            f'--{boundary}\r\nContent-Disposition: form-data; name="{field}"\r\n\r\n{value}\r\n'
            for field, value in form.items()
        )
        head = (
            f'{fields}--{boundary}\r\nContent-Disposition: form-data; name="file"; '
            f'filename="{name}"\r\nContent-Type: application/octet-stream\r\n\r\n'
        )
        body = b"".join([head.encode(), content, f"\r\n--{boundary}--\r\n".encode()])
        return self._send("POST", "/v1/imports", body, f"multipart/form-data; boundary={boundary}")

    def read(self, import_id: str) -> Record | None:
        """The import as it is now; None: that cannot be answered now."""
        answer = self.send("GET", f"/v1/imports/{import_id}")
        return answer.data if answer.status == 200 else None

    def begin(self, import_id: str, step: str) -> None:
        """Begin to apply or undo an import."""
        assert self.send("POST", f"/v1/imports/{import_id}/{ACTIONS[step]}").data

    def wait(
        self, import_id: str, condition: Callable[[Record], bool], seconds: float = 120
    ) -> Record:
        """Read an import again and again until the condition holds."""
        end = time.monotonic() + seconds
        record = None
        while time.monotonic() < end:
            record = self.read(import_id)
            if record is not None and condition(record):
                return record
            time.sleep(POLL)
        raise AssertionError(f"not within {seconds} s: {record}")

    def _send(self, method: str, path: str, body: bytes | None, content_type: str) -> Answer:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=TIMEOUT)
        headers = {**self._client.authorization, "Content-Type": content_type}
        try:
            with suppress(BrokenPipeError, ConnectionResetError):  # refused before it is read
                connection.request(method, path, body, headers)
            answer = connection.getresponse()
            return Answer(answer.status, json.loads(answer.read()))
        except (OSError, http.client.HTTPException):
            return Answer(0, None)
        finally:
            connection.close()

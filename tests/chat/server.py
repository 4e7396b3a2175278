"""A server that speaks the chat-completions protocol, and breaks it in every way it is told to."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

from tests.waiting import PATIENCE

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


class Asked(NamedTuple):
    """A request as it arrived; the names of its headers are in lower case."""

    line: str
    headers: dict[str, str]
    raw: bytes

    @property
    def body(self) -> Any:
        return json.loads(self.raw)

    @property
    def messages(self) -> list[dict[str, Any]]:
        return self.body["messages"]

    @property
    def results(self) -> list[Any]:
        """What tools have given, in the order of the conversation."""
        tools = [message for message in self.messages if message["role"] == "tool"]
        return [json.loads(message["content"]) for message in tools]


class ModelServer:
    """A listening socket with a thread for each connection.

    ``script`` has a step for each request; the last one is for all that follow.
    """

    def __init__(self) -> None:
        self.script: list[Step] = []
        self.asked: list[Asked] = []
        self.over = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}/v1"

    def plays(self, *steps: Step) -> None:
        """Forget what was, and take these steps from now on."""
        self.over.set()
        self.over, self.script, self.asked = threading.Event(), list(steps), []

    def close(self) -> None:
        self.over.set()
        self._listener.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(5)
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self._threads.append(threading.Thread(target=self._serve, args=[connection]))
            self._threads[-1].daemon = True
            self._threads[-1].start()

    def _serve(self, connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            asked = _read(connection)
            if asked is None:
                return
            self.asked.append(asked)
            step = self.script.pop(0) if len(self.script) > 1 else self.script[0]
            step(connection, self.over)


Step = Callable[[socket.socket, threading.Event], None]


def _read(connection: socket.socket) -> Asked | None:
    received = b""
    while b"\r\n\r\n" not in received:
        piece = connection.recv(65536)
        if not piece:
            return None
        received += piece
    head, _, body = received.partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    pairs = (line.partition(": ") for line in lines)
    headers = {name.lower(): value for name, _, value in pairs}
    while len(body) < int(headers.get("content-length", 0)):
        body += connection.recv(65536)
    return Asked(first, headers, body)


def sends(raw: bytes) -> Step:
    """Send these bytes, whatever they are, and close."""
    return lambda connection, _: connection.sendall(raw)


def answers(body: bytes, status: str = "200 OK", *headers: str) -> Step:
    """A whole response of HTTP."""
    lines = [f"HTTP/1.1 {status}", "Content-Type: application/json", *headers]
    lines += [f"Content-Length: {len(body)}", "Connection: close", "", ""]
    return sends("\r\n".join(lines).encode() + body)


def gives(message: Any) -> Step:
    """The response of the protocol with this message of the model."""
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    completion = {"id": "c-1", "object": "chat.completion", "created": 1, "model": "forest-1"}
    return answers(json.dumps(completion | {"choices": [choice]}).encode())


def says(text: str) -> Step:
    """The model replies."""
    return gives({"role": "assistant", "content": text})


def wants(*calls: tuple[str, Any], text: str | None = None) -> Step:
    """The model wants tools called: each by its name, with arguments as JSON or as raw text."""
    listed = [
        {
            "id": f"call-{number}",
            "type": "function",
            "function": {"name": name, "arguments": _written(arguments)},
        }
        for number, (name, arguments) in enumerate(calls)
    ]
    return gives({"role": "assistant", "content": text, "tool_calls": listed})


def hangs(connection: socket.socket, over: threading.Event) -> None:
    """Accept, read, and never answer."""
    over.wait()


def closes(connection: socket.socket, over: threading.Event) -> None:
    """Close at once."""


def drips(head: bytes, drop: bytes, pause: float = 0.02) -> Step:
    """Send a head, and then the same few bytes again and again, with a pause between them."""

    def step(connection: socket.socket, over: threading.Event) -> None:
        connection.sendall(head)
        while not over.wait(pause):
            connection.sendall(drop)

    return step


def floods(head: bytes, piece: bytes) -> Step:
    """Likewise, as fast as the other side reads."""

    def step(connection: socket.socket, over: threading.Event) -> None:
        connection.sendall(head)
        while not over.is_set():
            connection.sendall(piece)

    return step


def waits_for(event: threading.Event, then: Step) -> Step:
    """Answer only when something has happened."""

    def step(connection: socket.socket, over: threading.Event) -> None:
        event.wait(2 * PATIENCE)
        then(connection, over)

    return step


def _written(arguments: Any) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments)

"""A small server whose connections are kept alive."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

from flask import Flask
from werkzeug.test import Client


@contextmanager
def served(app: Flask) -> Iterator[int]:
    """The application behind a port, which this gives; it is asked with GET only."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            answer = Client(app).get(self.path)
            self.send_response(answer.status_code)
            for name, value in answer.headers:
                self.send_header(name, value)
            self.end_headers()
            with suppress(ConnectionError):  # the client has seen enough
                self.wfile.write(answer.data)

        def log_message(self, *_: object) -> None:
            """Nothing: the tests read no log."""

    class Server(ThreadingHTTPServer):
        def handle_error(self, *_: object) -> None:
            """A client that has seen enough resets the connection."""

    server = Server(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        thread.join()
        server.server_close()

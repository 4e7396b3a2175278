"""A server of map tiles on this machine, which writes down what it is asked, and an instance whose
maps have its layers."""

from __future__ import annotations

import struct
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from werkzeug.serving import make_server

from app.db.connections import close_all
from app.factory import create_app
from config import Settings, load_settings
from tests.browser.conftest import Instance

LAYERS = """
[[layer]]
name = "Roads"
url = "{url}/roads/{{z}}/{{x}}/{{y}}.png"
attribution = 'The county <a href="https://example.org/">Example</a><img src="{url}/attack">'
[[layer]]
name = "Survey"
url = "{url}/survey?map=a"
wms_layers = "one,two"
attribution = "{sources}"
min_zoom = 2
[[layer]]
name = "Loss"
url = "{url}/loss/{{z}}/{{x}}/{{y}}.png"
overlay = true
opacity = 0.6
legend = "Pink: lost since 2001. A signal, not a finding."
"""


class TileServer(ThreadingHTTPServer):
    """Answers every GET with a tile in a color of its first word, such as ``/roads/3/1/2.png``."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        self.asked: list[tuple[str, str]] = []  # paths with their queries, and their Referer
        self.refused: set[str] = set()  # first words that are answered 503
        self.replies = threading.Event()  # while it is not set, nothing is answered
        self.replies.set()

    def take(self) -> set[str]:
        """The first words of what was asked since the last time."""
        asked, self.asked = self.asked, []
        return {_word(path) for path, _ in asked}


class _Handler(BaseHTTPRequestHandler):
    server: TileServer

    def do_GET(self) -> None:
        word = _word(self.path)
        self.server.asked.append((self.path, self.headers.get("Referer", "")))
        self.server.replies.wait(60)
        is_refused = word in self.server.refused
        body = b"" if is_refused else tile_of(word)
        self.send_response(503 if is_refused else 200)
        self.send_header("Content-Type", "image/png")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        with suppress(ConnectionError):  # the browser wants it no more
            self.end_headers()
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


def _word(path: str) -> str:
    return path.lstrip("/").partition("/")[0].partition("?")[0]


def tile_of(word: str) -> bytes:
    """A PNG of 256 × 256 pixels in one color."""
    hue = zlib.crc32(word.encode())
    color = bytes(128 + (hue >> shift) % 128 for shift in (0, 8, 16))
    rows = (b"\0" + color * 256) * 256
    chunks = (
        (b"IHDR", struct.pack(">IIBBBBB", 256, 256, 8, 2, 0, 0, 0)),
        (b"IDAT", zlib.compress(rows)),
        (b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks
    )


@contextmanager
def instance_with_layers(instance: Instance, folder: Path, tiles: TileServer) -> Iterator[Instance]:
    """The same instance, on another port with layers of its own: *Roads* as XYZ, *Survey* as a WMS,
    and *Loss* over them."""
    (path := folder / "layers.toml").write_text(
        LAYERS.format(url=tiles.url, sources="A source of it, " * 12)
    )
    settings = load_settings(instance.environment | {"MAP_LAYERS": str(path)})
    with instance_beside(instance, settings) as made:
        yield made


@contextmanager
def instance_beside(instance: Instance, settings: Settings) -> Iterator[Instance]:
    """The same instance, on another port with other settings."""
    app = create_app(settings)
    server = make_server("127.0.0.1", 0, app, threaded=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield replace(instance, url=f"http://127.0.0.1:{server.server_port}")
    server.shutdown()
    server.server_close()
    with app.app_context():
        close_all()


@contextmanager
def tile_server() -> Iterator[TileServer]:
    with TileServer() as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        yield server
        server.shutdown()
